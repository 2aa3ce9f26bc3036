"""What the workers of a distributed fit tell each other; a fit on its own has nobody to ask.

Every worker runs the same fit on its own queries. Where a number depends on all of them, such as
a mean curvature or a measure, it comes from here, so that all workers use the same one. All of
them must ask for it, in the same order.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

__all__ = [
    "Workers",
    "anywhere",
    "gather",
    "joined",
    "largest",
    "n_workers",
    "total",
]

T = TypeVar("T")


class Workers(Protocol):
    """The workers of a fit, as one of them sees them.

    Attributes
    ----------
    size : int
        How many there are.
    """

    size: int

    def total(self, values: Any) -> Any:
        """Return the sum of each number over all workers."""
        ...

    def largest(self, values: Any) -> Any:
        """Return the largest of each number over all workers."""
        ...

    def gather(self, value: Any) -> list[Any]:
        """Return the values of all workers, by rank."""
        ...


_current: ContextVar[Workers | None] = ContextVar("workers", default=None)


@contextmanager
def joined(workers: Workers) -> Iterator[None]:
    """Make a thread one of several workers.

    Parameters
    ----------
    workers : Workers
    """
    before = _current.set(workers)
    try:
        yield
    finally:
        _current.reset(before)


def n_workers() -> int:
    """Return how many workers there are.

    Returns
    -------
    int

    Examples
    --------
    >>> n_workers()
    1
    """
    workers = _current.get()
    return 1 if workers is None else workers.size


def total(values: T) -> T:
    """Return the sum of each number over all workers; whole numbers exactly.

    Parameters
    ----------
    values : ndarray or number

    Returns
    -------
    ndarray or number

    Examples
    --------
    >>> total(3)
    3
    """
    workers = _current.get()
    return values if workers is None else workers.total(values)


def largest(values: T) -> T:
    """Return the largest of each number over all workers.

    Parameters
    ----------
    values : ndarray or number

    Returns
    -------
    ndarray or number

    Examples
    --------
    >>> largest(0.5)
    0.5
    """
    workers = _current.get()
    return values if workers is None else workers.largest(values)


def anywhere(holds: Any) -> bool:
    """Say whether something holds on any worker.

    Parameters
    ----------
    holds : bool

    Returns
    -------
    bool

    Examples
    --------
    >>> anywhere(False)
    False
    """
    return bool(largest(int(holds)))


def gather(value: T) -> list[T]:
    """Return the values of all workers.

    Parameters
    ----------
    value : object

    Returns
    -------
    list

    Examples
    --------
    >>> gather("mine")
    ['mine']
    """
    workers = _current.get()
    return [value] if workers is None else workers.gather(value)
