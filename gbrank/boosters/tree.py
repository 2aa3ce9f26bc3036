"""Trees of any booster in one form, from which other formats are written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class _Inner:
    feature: int
    missing_left: bool
    left: "Tree"
    right: "Tree"


@dataclass(frozen=True)
class Threshold(_Inner):
    """A split of numbers: left if x ≤ threshold, else right."""

    threshold: float

    @property
    def zero_left(self) -> bool:
        """Whether zeros go left."""
        return self.threshold >= 0


@dataclass(frozen=True)
class Membership(_Inner):
    """A split of categories: left if the code is one of these, else right."""

    categories: tuple[int, ...]

    @property
    def zero_left(self) -> bool:
        """Whether zeros go left."""
        return 0 in self.categories


Node: TypeAlias = dict[str, Any]  # of a tree in JSON
Leaf: TypeAlias = float  # what a tree adds to the scores of the documents that reach it
Split: TypeAlias = Threshold | Membership
Tree: TypeAlias = Leaf | Split


def splits(tree: Tree) -> Iterator[Split]:
    """Yield all splits of a tree."""
    if not isinstance(tree, Leaf):
        yield tree
        yield from splits(tree.left)
        yield from splits(tree.right)


def with_splits(tree: Tree, change: Callable[[Split], Tree]) -> Tree:
    """Change every split of a tree."""
    if isinstance(tree, Leaf):
        return tree
    left, right = (with_splits(child, change) for child in (tree.left, tree.right))
    return change(replace(tree, left=left, right=right))


def read_tree(node: Any, leaf: str, split: Callable[[Any], Split]) -> Tree:
    """Read a tree of JSON; `split` makes the split of a node, with nodes as its sides."""
    if leaf in node:
        return float(node[leaf])
    top: Any = split(node)
    left = read_tree(top.left, leaf, split)
    right = read_tree(top.right, leaf, split)
    return replace(top, left=left, right=right)


def at_most(threshold: float) -> float:
    """Find the t for which x ≤ t if and only if x ≤ threshold, for single-precision x.

    Rounding the threshold to the nearest number could move it past an x.
    """
    clipped = min(max(threshold, -LARGEST), LARGEST)
    nearest = np.float32(clipped)
    if float(nearest) > clipped:
        nearest = np.nextafter(nearest, np.float32(-np.inf))
    return float(nearest)


def above(threshold: float) -> float:
    """Find the t for which x < t if and only if x ≤ threshold, for single-precision x."""
    if threshold < -LARGEST:
        return -LARGEST
    below = at_most(threshold)
    if below == LARGEST:
        return LARGEST
    return float(np.nextafter(np.float32(below), np.float32(np.inf)))


def check_nodes(
    splits: NDArray[Any], children: NDArray[Any], n_nodes: int, features: NDArray[Any], width: int
) -> None:
    """Refuse children, of shape (2, n_splits), that do not follow splits; features not there."""
    if not ((children > splits) & (children < n_nodes)).all():
        raise ValueError("a split leads to a node that is not there, or before it")
    if not ((features >= 0) & (features < width)).all():
        raise ValueError(f"a split is of a feature beyond the model's {width}")
