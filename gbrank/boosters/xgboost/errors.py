"""XGBoost's exception as gbrank's, and a check for forks, in which it would wait forever."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from xgboost.core import XGBoostError

from gbrank.boosters.forks import check_fork
from gbrank.parallel.collective import WorkersLostError

# Source files of XGBoost that fail only if another worker ends while this one waits for it.
IN_COLLECTIVE = re.compile(r"[/\\]collective[/\\]")


def check_threads(n_jobs: int) -> None:
    """Refuse a process forked after XGBoost started threads: even one thread waits for them."""
    check_fork("XGBoost", starts=n_jobs > 1, needs=True, instead="set n_jobs=1 before the fork")


@contextmanager
def translated(message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn an XGBoostError into a ValueError, whose text begins with `message`."""
    try:
        yield
    except XGBoostError as error:
        reason = str(error).partition("Check failed: ")[2] or str(error)
        if IN_COLLECTIVE.search(str(error)):
            kind = WorkersLostError
        raise kind(f"{message}: {reason.splitlines()[0]}") from None
