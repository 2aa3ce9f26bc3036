"""XGBoost itself, its exception and its threads: the first import of the other files here."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from gbrank.boosters.openmp import check_fork, short_spins
from gbrank.common.collective import WorkersLostError
from gbrank.common.runtime import import_optional

with short_spins():
    import_optional("xgboost")
    import xgboost as xgb

__all__ = ["check_threads", "translated", "xgb"]

# Source files of XGBoost that fail only if another worker ends while this one waits for it.
IN_COLLECTIVE = re.compile(r"[/\\]collective[/\\]")


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn an XGBoostError into a ValueError, whose text begins with `message`."""
    try:
        yield
    except xgb.core.XGBoostError as error:
        reason = str(error).partition("Check failed: ")[2] or str(error)
        if IN_COLLECTIVE.search(str(error)):
            kind = WorkersLostError
        raise kind(f"{message}: {reason.splitlines()[0]}") from None


def check_threads(n_jobs: int) -> None:
    """Refuse a process forked from one in which XGBoost has run on several threads."""
    # After a fork, even one thread waits for those that the parent had.
    check_fork("XGBoost", starts=n_jobs > 1, needs=True, instead="set n_jobs=1 before the fork")
