"""Work arrays that are kept from call to call, each lent to one borrower at a time."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Pool(Generic[T]):
    """A thread-safe pool of as many items as were ever in use at once.

    A copy or a pickle starts empty.

    Parameters
    ----------
    make : callable
        Makes an item.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._free: deque[T] = deque()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle how to make items, but no item."""
        return Pool, (self._make,)

    @contextmanager
    def borrow(self) -> Iterator[T]:
        """Lend an item, in the state in which it was given back."""
        try:
            lent = self._free.pop()
        except IndexError:
            lent = self._make()
        try:
            yield lent
        finally:
            self._free.append(lent)
