"""How many threads there are for the asking."""

import joblib


def usable_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for: None or −1 for all there are.

    There are as many as the process may use at once: a container's share of the processors counts.
    """
    if n_jobs is None or n_jobs == -1:
        return int(joblib.cpu_count(only_physical_cores=False))
    return n_jobs
