"""Forked processes, which would wait forever for OpenMP threads that only their parent has."""

import os

_started: set[str] = set()  # boosters that have threads in this process
_lost: set[str] = set()  # boosters that had threads in a process that this one was forked from

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _lost.update(_started))


def check_fork(booster: str, *, starts: bool, needs: bool, instead: str) -> None:
    """Record that a booster starts threads; refuse one that needs threads lost in a fork."""
    if needs and booster in _lost:
        raise RuntimeError(
            f"{booster} ran before this process was forked, and would wait forever for threads "
            "that the fork has left behind: start processes by 'spawn' or 'forkserver', as joblib "
            f"does by itself, or {instead}."
        )
    if starts:
        _started.add(booster)
