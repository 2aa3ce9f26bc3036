"""The threads that XGBoost can count on: with fewer than it asks for, it leaves its memory."""

import ctypes
from functools import cache

from xgboost.libpath import find_lib_path

from gbrank.boosters.forks import check_fork
from gbrank.common.warnings import warn_user


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
