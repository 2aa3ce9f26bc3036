"""Checks of trees that come from a file, before a booster follows them.

Boosters read their own files without looking: a child or a feature out of range reads foreign
memory, and a cycle never ends.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 2**53  # up to which floats hold all integers


class DamagedTree(ValueError):
    """What a file says of a tree cannot be."""


def numbers(values: Any, name: str, size: int) -> NDArray[np.float64]:
    """Return so many finite numbers, or refuse them by name."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DamagedTree(f"{name} must hold numbers") from None
    if found.shape != (size,):
        raise DamagedTree(f"{name} must have {size} entries, got {found.size}")
    if not np.isfinite(found).all():
        raise DamagedTree(f"{name} must be finite")
    return found


def integers(
    values: Any, name: str, size: int, low: int = -LARGEST, high: int = LARGEST
) -> NDArray[np.int64]:
    """Return so many integers of low, ..., high − 1, or refuse them by name."""
    found = numbers(values, name, size)
    if (found != np.floor(found)).any():
        raise DamagedTree(f"{name} must hold integers")
    if ((found < low) | (found >= high)).any():
        raise DamagedTree(f"{name} must be from {low} to {high - 1}")
    return found.astype(np.int64)


def whole(value: Any, name: str = "a number", low: int = -LARGEST, high: int = LARGEST) -> int:
    """Return an integer."""
    return int(integers([value], name, 1, low, high)[0])


def check_tree(left: NDArray[np.int64], right: NDArray[np.int64], n_leaves: int) -> None:
    """Refuse a tree in which a node is not reached from the root 0 by exactly one way.

    Children are inner nodes if at least 0, and leaf −1 − child otherwise.
    """
    n = len(left)
    every = integers(np.concatenate([left, right]), "children", 2 * n, -n_leaves, n)
    level, seen, leaves = np.zeros(min(n, 1), dtype=np.int64), 0, 0
    while level.size:
        seen += level.size
        if seen > n:
            break
        below = np.concatenate([left[level], right[level]])
        leaves += int((below < 0).sum())
        level = below[below >= 0]
    if seen != n or len(np.unique(every)) != len(every) or (n > 0 and leaves != n_leaves):
        raise DamagedTree("every node of a tree must have one way from the root")
