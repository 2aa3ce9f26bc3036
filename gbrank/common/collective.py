"""Communication of the workers of a distributed fit; in a fit on one machine nothing is sent.

Every worker runs the same fit on its own queries. A number that depends on all queries, such as a
mean curvature or a measure, is computed here, so that all workers use the same one. All workers
must make the same calls in the same order, so code that only some of them run must make none.

Before every exchange workers tell each other whether one of them has failed: if so, all of them end
with its error.
"""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")


class BoosterError(ValueError):
    """A failure of a booster, or of its connection to other workers."""


class WorkersLostError(BoosterError):
    """Another worker has ended: a consequence of a failed fit, never its cause."""


class Workers:
    """The workers of a fit, as one of them sees them: here the only one, of a fit on one machine.

    `size` says how many there are, `host` is the address of this worker's own machine.
    """

    size = 1
    host = "localhost"

    def all_sum(self, values: T) -> T:
        """Sum each number over all workers; whole numbers exactly."""
        return values

    def all_max(self, values: T) -> T:
        """Find the largest of each number over all workers."""
        return values

    def all_gather(self, value: T) -> list[T]:
        """Gather the values of all workers, by rank."""
        return [value]


ALONE = Workers()

_current: ContextVar[Workers] = ContextVar("workers", default=ALONE)


class _Failed(Exception):
    """Carries an error that all workers know of out of the fit."""

    def __init__(self, error: Exception) -> None:
        self.error = error


@contextmanager
def joined(workers: Workers) -> Iterator[None]:
    """Make this thread one of several workers; an error in any of them ends all."""
    token = _current.set(workers)
    try:
        yield
        _live_workers()
    except _Failed as failed:
        raise failed.error from None
    except BoosterError:  # the others may wait inside the booster, where no message reaches them
        raise
    except Exception as error:
        first = _first_error(workers, error)
        if first is None or first is error:
            raise
        raise first from error
    finally:
        _current.reset(token)


def _first_error(workers: Workers, error: Exception | None) -> Exception | None:
    """Send this worker's error, if any, to all; return that of the first worker that has one."""
    if not workers.all_max(int(error is not None)):
        return None
    errors = workers.all_gather(None if error is None else _portable(error))
    return next(shared for shared in errors if shared is not None)


def _portable(error: Exception) -> Exception:
    """Replace an error that cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # an error of a user's class may raise anything
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _live_workers() -> Workers:
    """End this worker's fit if another one has failed."""
    workers = _current.get()
    if (error := _first_error(workers, None)) is not None:
        raise _Failed(error)
    return workers


def n_workers() -> int:
    """Count the workers."""
    return _current.get().size


def own_host() -> str:
    """Return the address of this worker's machine."""
    return _current.get().host


def all_sum(values: T) -> T:
    """Sum each number over all workers; whole numbers exactly."""
    return _live_workers().all_sum(values)


def all_max(values: T) -> T:
    """Find the largest of each number over all workers."""
    return _live_workers().all_max(values)


def all_any(holds: Any) -> bool:
    """Whether something holds on any worker."""
    return bool(all_max(int(holds)))


def all_gather(value: T) -> list[T]:
    """Gather the values of all workers, by rank."""
    return _live_workers().all_gather(value)
