"""How many threads there are for the asking."""

import math

# Of features: with fewer, threads wait for one another longer than they work.
VALUES_PER_THREAD = 1_000_000


def usable_threads(n_jobs: int | None, values: float = math.inf) -> int:
    """Return the number of threads that `n_jobs` stands for: −1 for all there are.

    None stands for as many of these as the number of `values` to work on is worth. There are as
    many as the process may use at once: a container's share of the processors counts.
    """
    if n_jobs is not None and n_jobs != -1:
        return n_jobs
    import joblib  # takes long, and who says how many needs none of it

    threads = int(joblib.cpu_count(only_physical_cores=False))
    return threads if n_jobs == -1 else int(min(threads, 1 + values / VALUES_PER_THREAD))
