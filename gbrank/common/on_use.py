"""Values by name that are imported when they are asked for."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

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
