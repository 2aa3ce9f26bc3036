"""Packages that gbrank needs for some things only."""

import importlib
from types import ModuleType


def needed(package: str, extra: str | None = None) -> ModuleType:
    """Return a package, or say what installs it: an extra of gbrank's, or its own name."""
    try:
        return importlib.import_module(package)
    except ImportError:
        install = package if extra is None else f"'gbrank[{extra}]'"
        raise ImportError(f"this needs {package}: pip install {install}.") from None
