"""Values and modules that are imported when they are asked for."""

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")


class LoadedOnUse(Mapping[str, T]):
    """A mapping that imports a value when it is asked for; its keys are known before."""

    def __init__(self, **load: Callable[[], T]) -> None:
        self._load = load

    def __getitem__(self, name: str) -> T:
        return self._load[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._load

    def __iter__(self) -> Iterator[str]:
        return iter(self._load)

    def __len__(self) -> int:
        return len(self._load)


class ModuleOnUse:
    """A module that is imported when one of its names is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


if TYPE_CHECKING:
    import narwhals as nw
else:
    nw = ModuleOnUse("narwhals")
