"""Checks of trees that come from a file, before a booster follows them.

Boosters read their own files without looking: a child or a feature out of range reads foreign
memory, and a cycle never ends.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGEST = 2.0**53  # up to which floats hold all integers


class DamagedTree(ValueError):
    """What a file says of a tree cannot be."""


def numbers(values: Any, name: str, size: int, *, integers: bool = False) -> NDArray[Any]:
    """Return so many finite numbers, or refuse them by name."""
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DamagedTree(f"{name} must hold numbers") from None
    if found.shape != (size,):
        raise DamagedTree(f"{name} must have {size} entries, got {found.size}")
    if not np.isfinite(found).all():
        raise DamagedTree(f"{name} must be finite")
    if not integers:
        return found
    if (found != np.floor(found)).any() or (np.abs(found) > LARGEST).any():
        raise DamagedTree(f"{name} must hold integers")
    return found.astype(np.int64)


def whole(value: Any, name: str = "a number") -> int:
    """Return an integer."""
    return int(numbers([value], name, 1, integers=True)[0])


def check_range(values: NDArray[Any], name: str, low: int, high: int) -> None:
    """Refuse integers that are not among low, ..., high − 1."""
    if ((values < low) | (values >= high)).any():
        raise DamagedTree(f"{name} must be from {low} to {high - 1}")


def check_tree(left: NDArray[np.int64], right: NDArray[np.int64], n_leaves: int) -> None:
    """Refuse a tree in which a node is not reached from the root 0 by exactly one way.

    Children are inner nodes if at least 0, and leaf −1 − child otherwise.
    """
    n = len(left)
    for children in (left, right):
        check_range(children, "children", -n_leaves, n)
    level, seen, leaves = np.zeros(min(n, 1), dtype=np.int64), 0, 0
    while level.size:
        seen += level.size
        if seen > n:
            break
        below = np.concatenate([left[level], right[level]])
        leaves += int((below < 0).sum())
        level = below[below >= 0]
    every = np.concatenate([left, right])
    if seen != n or len(np.unique(every)) != len(every) or (n > 0 and leaves != n_leaves):
        raise DamagedTree("every node of a tree must have one way from the root")
