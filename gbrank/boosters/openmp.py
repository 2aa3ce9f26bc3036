"""OpenMP, which the boosters' threads come from: lost in a fork, and how long they spin."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# So many turns GNU's OpenMP takes itself where there are more threads than processors. Elsewhere it
# takes 300,000, in which a waiting thread keeps a processor from the one that it waits for.
SPINS = "1000"
SETTING = "GOMP_SPINCOUNT"

_started: dict[str, int] = {}  # the first process in which a booster had threads


def check_fork(booster: str, *, starts: bool, needs: bool, instead: str) -> None:
    """Record that a booster starts threads; refuse one that needs threads lost in a fork."""
    if needs and _started.get(booster, os.getpid()) != os.getpid():
        raise RuntimeError(
            f"{booster} ran before this process was forked, and would wait forever for threads "
            "that the fork has left behind: start processes by 'spawn' or 'forkserver', as joblib "
            f"does by itself, or {instead}."
        )
    if starts:
        _started.setdefault(booster, os.getpid())


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
