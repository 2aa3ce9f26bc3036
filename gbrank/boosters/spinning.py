"""How long a waiting thread of OpenMP spins; read from the environment when a library is loaded."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# So many turns GNU's OpenMP takes itself where there are more threads than processors. Elsewhere it
# takes 300,000, in which a waiting thread keeps a processor from the one that it waits for.
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
