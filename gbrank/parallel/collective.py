"""What the workers of a distributed fit tell each other; a fit on its own has nobody to ask.

Every worker runs the same fit on its own queries. Where a number depends on all of them, such as
a mean curvature or a measure, it comes from here, so that all workers use the same one. All of
them must ask for it, in the same order: so checks of arguments never do.

Before they tell each other anything, workers say whether one of them has failed: then all of them
end with its error.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class BoosterError(ValueError):
    """What a booster, or its connection to other workers, could not do."""


class WorkersLostError(BoosterError):
    """What one worker sees of another one's end: never the reason why a fit failed."""


class Workers(Protocol):
    """The workers of a fit, as one of them sees them: how many, and its own machine's address."""

    size: int
    host: str

    def all_sum(self, values: Any) -> Any:
        """Return the sum of each number over all workers."""

    def all_max(self, values: Any) -> Any:
        """Return the largest of each number over all workers."""

    def all_gather(self, value: Any) -> list[Any]:
        """Return the values of all workers, by rank."""


_current: ContextVar[Workers | None] = ContextVar("workers", default=None)


class _Failed(Exception):
    """What takes an error that all workers know of out of their fits."""

    def __init__(self, error: Exception) -> None:
        self.error = error


@contextmanager
def joined(workers: Workers) -> Iterator[None]:
    """Make a thread one of several workers, which all end with the error of any."""
    before = _current.set(workers)
    try:
        yield
        _end_with_others(workers)
    except _Failed as failed:
        raise failed.error from None
    except BoosterError:  # the others may be waiting inside the booster: they hear nothing
        raise
    except Exception as error:
        first = _first_error(workers, error)
        if first is None or first is error:
            raise
        raise first from error
    finally:
        _current.reset(before)


def _first_error(workers: Workers, error: Exception | None) -> Exception | None:
    """Tell the others of an error, and return that of the first worker that has one."""
    if not workers.all_max(int(error is not None)):
        return None
    errors = workers.all_gather(None if error is None else _portable(error))
    return next(other for other in errors if other is not None)


def _end_with_others(workers: Workers) -> None:
    """End this worker's fit, if another one has failed."""
    if (error := _first_error(workers, None)) is not None:
        raise _Failed(error)


def _portable(error: Exception) -> Exception:
    """Return an error that other processes can read."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # whatever the class of a user's error does
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _others() -> Workers | None:
    """Return the workers to ask, none of which has failed, or None."""
    workers = _current.get()
    if workers is not None:
        _end_with_others(workers)
    return workers


def n_workers() -> int:
    """Return how many workers there are."""
    workers = _current.get()
    return 1 if workers is None else workers.size


def own_host() -> str:
    """Return the address of this worker's machine."""
    workers = _current.get()
    return "localhost" if workers is None else workers.host


def all_sum(values: T) -> T:
    """Return the sum of each number over all workers; whole numbers exactly."""
    workers = _others()
    return values if workers is None else workers.all_sum(values)


def all_max(values: T) -> T:
    """Return the largest of each number over all workers."""
    workers = _others()
    return values if workers is None else workers.all_max(values)


def all_any(holds: Any) -> bool:
    """Say whether something holds on any worker."""
    return bool(all_max(int(holds)))


def all_gather(value: T) -> list[T]:
    """Return the values of all workers, by rank."""
    workers = _others()
    return [value] if workers is None else workers.all_gather(value)
