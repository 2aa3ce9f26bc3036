"""How many threads a fit may use."""

import os


def usable_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for: None or −1 for all there are."""
    if n_jobs is None or n_jobs == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    return n_jobs
