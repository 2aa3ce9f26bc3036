"""LightGBM's exception, as gbrank's, and a check of what it would not return from."""

from collections.abc import Iterator
from contextlib import contextmanager

from lightgbm.basic import LightGBMError

from gbrank.boosters.forks import check_fork


def check_threads(n_jobs: int) -> None:
    """Refuse several threads in a fork of a process in which LightGBM has run, on any number."""
    check_fork("LightGBM", starts=True, needs=n_jobs > 1, instead="set n_jobs=1 here")


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Raise what LightGBM says as a ValueError, after a message of ours."""
    try:
        yield
    except LightGBMError as error:
        raise kind(f"{message}: {error}") from None
