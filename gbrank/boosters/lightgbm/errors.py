"""LightGBM's exception as gbrank's, and a check for forks, in which it would wait forever."""

from collections.abc import Iterator
from contextlib import contextmanager

from lightgbm.basic import LightGBMError

from gbrank.boosters.forks import check_fork


def check_threads(n_jobs: int) -> None:
    """Refuse several threads in a process forked from one in which LightGBM has run."""
    check_fork("LightGBM", starts=True, needs=n_jobs > 1, instead="set n_jobs=1 here")


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn a LightGBMError into a ValueError, whose text begins with `message`."""
    try:
        yield
    except LightGBMError as error:
        raise kind(f"{message}: {error}") from None
