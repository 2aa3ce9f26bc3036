"""How long a waiting thread of OpenMP spins; read from the environment when a library is loaded."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# What GNU's OpenMP takes where there are more threads than processors; else 300,000, in which a
# thread that waits for one without a processor takes its time from those that work.
SPINS = "1000"
SETTING = "GOMP_SPINCOUNT"


@contextmanager
def short_spins() -> Iterator[None]:
    """Have the libraries that are loaded meanwhile spin for a short time, then sleep."""
    if SETTING in os.environ or "OMP_WAIT_POLICY" in os.environ:  # the user's choice
        yield
        return
    os.environ[SETTING] = SPINS
    try:
        yield
    finally:
        del os.environ[SETTING]
