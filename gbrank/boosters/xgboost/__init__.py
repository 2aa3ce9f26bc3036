"""XGBoost: the library itself, its exception and its threads; trainer, model and hook."""

import ctypes
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from gbrank.boosters.openmp import check_fork, short_spins
from gbrank.common.warnings import warn_user
from gbrank.parallel.collective import WorkersLostError

with short_spins():
    from xgboost.core import XGBoostError
    from xgboost.libpath import find_lib_path

# Source files of XGBoost that fail only if another worker ends while this one waits for it.
IN_COLLECTIVE = re.compile(r"[/\\]collective[/\\]")


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


def granted_threads(n_jobs: int) -> int:
    """Return how many threads XGBoost may ask OpenMP for; refuse a fork that has lost them."""
    granted = 1 if n_jobs > 1 and _may_give_fewer() else n_jobs
    # After a fork, even one thread waits for those that the parent had.
    check_fork("XGBoost", starts=granted > 1, needs=True, instead="set n_jobs=1 before the fork")
    if granted < n_jobs:
        warn_user(
            f"XGBoost works on one thread, not on n_jobs={n_jobs}: OpenMP may give it fewer than "
            "it asks for, which would end the process. Unset OMP_DYNAMIC and "
            "OMP_MAX_ACTIVE_LEVELS, or set n_jobs=1."
        )
    return granted


def _may_give_fewer() -> bool:
    """Say whether this thread's OpenMP may start fewer threads than it is asked for."""
    library = _library()
    try:
        return bool(library.omp_get_dynamic()) or library.omp_get_max_active_levels() < 1
    except AttributeError:  # on Windows, a library does not pass on what it was linked with
        return False


@cache
def _library() -> ctypes.CDLL:
    """Return XGBoost's own library, and with it the OpenMP that it was linked with."""
    return ctypes.CDLL(find_lib_path()[0])
