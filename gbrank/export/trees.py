"""Trees: read from a file, walked by rows, and rows that try their splits."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.boosters.tree import LARGEST, Leaf, Membership, Split, Tree
from gbrank.common.arrays import Matrix, Vector
from gbrank.export.forest import Forest

MISSING = 0.1  # share of values, in rows that try splits


def expect(holds: bool, demand: str) -> None:
    """Refuse a file that an engine would refuse."""
    if not holds:
        raise ValueError(f"expected {demand}")


def read_tree(node: Any, leaf: str, split: Callable[[Any], Split]) -> Tree:
    """Return a tree of JSON; `split` makes the split of a node, with nodes as its sides."""
    if leaf in node:
        return Leaf(float(node[leaf]))
    top: Any = split(node)
    left, right = read_tree(top.left, leaf, split), read_tree(top.right, leaf, split)
    tree: Tree = replace(top, left=left, right=right)
    return tree


def leaves(tree: Tree, X: Matrix) -> Vector:
    """Return the value of the leaf that each row reaches."""
    values = np.empty(len(X))
    todo = [(tree, np.arange(len(X)))]
    while todo:
        node, rows = todo.pop()
        if isinstance(node, Leaf):
            values[rows] = node.value
        else:
            left = goes_left(node, X[rows, node.feature])
            todo += [(node.left, rows[left]), (node.right, rows[~left])]
    return values


def goes_left(split: Split, values: Vector) -> NDArray[np.bool_]:
    """Return which values go to the left side of a split."""
    if isinstance(split, Membership):
        left = np.isin(values, split.categories)
    else:
        left = values <= split.threshold
    return np.where(np.isnan(values), split.missing_left, left)


def rows_beside(forest: Forest, precision: Any, n_rows: int) -> Matrix:
    """Return rows of values on which the sides of splits could be confused, taken at random.

    These are thresholds, the next numbers, zero, missing, and all categories with an unknown one.
    """
    values: dict[int, set[float]] = defaultdict(set)
    for split in forest.splits():
        if isinstance(split, Membership):
            n_known = len(forest.categories.get(split.feature, ()))
            n_codes = n_known or 1 + max(split.categories, default=0)
            values[split.feature].update(range(n_codes + 1))
        else:
            at, most = precision(split.threshold), max(LARGEST, abs(split.threshold))
            near = (at, *(np.nextafter(at, precision(end)) for end in (-LARGEST, LARGEST)))
            values[split.feature].update(float(x) for x in near if abs(x) <= most < np.inf)
    rng, rows = np.random.default_rng(0), np.zeros((n_rows, len(forest.features)))
    for column, tried in values.items():
        rows[:, column] = rng.choice([*sorted(tried), 0.0], n_rows)
    rows[rng.random(rows.shape) < MISSING] = np.nan
    return rows
