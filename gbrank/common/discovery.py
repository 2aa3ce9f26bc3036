"""Import of all modules of a package, so that what they register is known."""

import importlib
import pkgutil
from collections.abc import Iterable


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, in the order of their names."""
    for module in pkgutil.iter_modules(path, f"{package}."):
        importlib.import_module(module.name)
