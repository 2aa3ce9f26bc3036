"""XGBoost's exception, as gbrank's, and a check of what it would not return from."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from xgboost.core import XGBoostError

from gbrank.boosters.forks import check_fork
from gbrank.parallel.collective import WorkersLostError

# A source file of XGBoost that only fails when another worker has ended while it was waited for.
IN_COLLECTIVE = re.compile(r"[/\\]collective[/\\]")


def check_threads(n_jobs: int) -> None:
    """Refuse a fork of a process in which XGBoost has threads: even alone it waits for them."""
    check_fork("XGBoost", starts=n_jobs > 1, needs=True, instead="set n_jobs=1 before the fork")


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Raise what XGBoost says as a ValueError, after a message of ours."""
    try:
        yield
    except XGBoostError as error:
        reason = str(error).partition("Check failed: ")[2] or str(error)
        if IN_COLLECTIVE.search(str(error)):
            kind = WorkersLostError
        raise kind(f"{message}: {reason.splitlines()[0]}") from None
