"""Packages that are installed by an extra of gbrank's."""

import importlib
from types import ModuleType

__all__ = ["needed"]


def needed(package: str, extra: str) -> ModuleType:
    """Return a package, or say which extra installs it."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(f"this needs {package}: pip install 'gbrank[{extra}]'.") from None
