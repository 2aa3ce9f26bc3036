"""Checks of trees that come from a file, before a booster follows them.

Boosters do not check their own files: a child or a feature out of range would read foreign memory,
and a cycle would never end.
"""

import numpy as np
from numpy.typing import NDArray

LARGEST = 2**53  # up to which floats hold all integers


class DamagedTree(ValueError):
    """A file describes a tree that cannot be."""


def numbers(
    values: object, name: str, size: int, unread: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return `size` numbers, finite but where they are `unread`, or refuse them by name."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DamagedTree(f"{name} must hold numbers") from None
    if array.shape != (size,):
        raise DamagedTree(f"{name} must have {size} entries, got {array.size}")
    if not np.isfinite(array if unread is None else array[~unread]).all():
        raise DamagedTree(f"{name} must be finite")
    return array


def integers(
    values: object, name: str, size: int, low: int = -LARGEST, high: int = LARGEST
) -> NDArray[np.int64]:
    """Return `size` integers of low, ..., high − 1, or refuse them by name."""
    array = numbers(values, name, size)
    if (array != np.floor(array)).any():
        raise DamagedTree(f"{name} must hold integers")
    if ((array < low) | (array >= high)).any():
        raise DamagedTree(f"{name} must be from {low} to {high - 1}")
    return array.astype(np.int64)


def whole(value: object, name: str = "a number", low: int = -LARGEST, high: int = LARGEST) -> int:
    """Return one integer of low, ..., high − 1, or refuse it by name."""
    return int(integers([value], name, 1, low, high)[0])


def check_tree(left: NDArray[np.int64], right: NDArray[np.int64], n_leaves: int) -> None:
    """Refuse a tree unless just one path leads from its root, node 0, to each node.

    A child c is the inner node c if c ≥ 0, and leaf −1 − c otherwise.
    """
    n = len(left)
    children = integers(np.concatenate([left, right]), "children", 2 * n, -n_leaves, n)
    level, seen, leaves = np.zeros(min(n, 1), dtype=np.int64), 0, 0
    while level.size:
        seen += level.size
        if seen > n:
            break
        next_level = np.concatenate([left[level], right[level]])
        leaves += int((next_level < 0).sum())
        level = next_level[next_level >= 0]
    if seen != n or len(np.unique(children)) != len(children) or (n > 0 and leaves != n_leaves):
        raise DamagedTree("every node of a tree must have one way from the root")
