"""Packages that only some formats need."""

import importlib
from types import ModuleType

__all__ = ["needed"]


def needed(package: str) -> ModuleType:
    """Return a package, or say how to install it.

    Parameters
    ----------
    package : str

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(
            f"this format needs {package}; install it with: pip install gbrank[export]"
        ) from None
