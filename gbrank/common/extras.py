"""Optional packages."""

import importlib
from types import ModuleType


def needed(package: str, extra: str | None = None) -> ModuleType:
    """Import an optional package, or say how to install it: by an extra of gbrank, or by itself."""
    try:
        return importlib.import_module(package)
    except ImportError:
        install = package if extra is None else f"'gbrank[{extra}]'"
        raise ImportError(f"this needs {package}: pip install {install}.") from None
