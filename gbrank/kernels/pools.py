"""What is kept from call to call and lent to one borrower at a time."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Pool(Generic[T]):
    """As many things of a kind as were ever in use at once, for any number of threads.

    A copy or a pickle starts without any.

    Parameters
    ----------
    make : callable
        Makes one.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._free: deque[T] = deque()

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep how to make them."""
        return Pool, (self._make,)

    @contextmanager
    def borrow(self) -> Iterator[T]:
        """Lend one, in the state in which it was given back."""
        try:
            lent = self._free.pop()
        except IndexError:
            lent = self._make()
        try:
            yield lent
        finally:
            self._free.append(lent)
