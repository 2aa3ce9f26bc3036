"""Imports: values and modules on use, optional packages, all modules of a folder."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class LoadedOnUse(dict[str, Callable[[], T]]):
    """A mapping whose values are made, by the functions that it holds, when they are asked for."""

    def __getitem__(self, name: str) -> T:  # type: ignore[override]
        return super().__getitem__(name)()


class ModuleOnUse:
    """A module that is imported when one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, in the order of their names."""
    for module in pkgutil.iter_modules(path, f"{package}."):
        importlib.import_module(module.name)


def needed(package: str, extra: str | None = None) -> ModuleType:
    """Import an optional package, or say how to install it: by an extra of gbrank, or by itself."""
    try:
        return importlib.import_module(package)
    except ImportError:
        install = package if extra is None else f"'gbrank[{extra}]'"
        raise ImportError(f"this needs {package}: pip install {install}.") from None


if TYPE_CHECKING:
    import narwhals as nw
else:
    nw = ModuleOnUse("narwhals")
