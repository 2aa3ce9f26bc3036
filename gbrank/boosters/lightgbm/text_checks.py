"""Checks of a model in LightGBM's text format, which LightGBM itself does not check."""

import re

import numpy as np
from numpy.typing import NDArray

from gbrank.boosters.tree_checks import DamagedTree, check_tree, integers, numbers, whole

# Fields of a tree that may hold any finite numbers: one for each split, or one for each leaf.
OF_SPLITS = ("split_gain", "threshold", "internal_value", "internal_weight", "internal_count")
OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count", "leaf_const")
NEEDED = ("threshold", "leaf_value")
MOST_FEATURES = 2**24
DECISIONS = 16  # bits: 1 by category, 2 missing goes left, 4 and 8 what is missing
END = "\nend of trees\n"


def split_model(text: str) -> tuple[str, list[str], str]:
    """Split a model's text into what stands before the trees, the trees, and what follows."""
    end = text.index(END) + 1
    head, *trees = re.split(r"(?=^Tree=\d+$)", text[:end], flags=re.MULTILINE)
    return head, trees, text[end:]


def check_text(text: str) -> None:
    """Refuse a model that LightGBM cannot read, or that would lead it out of its memory."""
    if "\0" in text or END not in text:
        raise DamagedTree("it must have an end of trees")
    head, blocks, _ = split_model(text)
    header = _fields(head)
    for name in ("num_class", "num_tree_per_iteration"):
        if header.get(name) != "1":
            raise DamagedTree(f"{name} must be 1")
    last = whole(header.get("max_feature_idx"), "max_feature_idx", 0, MOST_FEATURES)
    if "tree_sizes" in header:
        sizes = _integers(header, "tree_sizes", len(blocks))
        if sizes.tolist() != [len(block.encode()) for block in blocks]:
            raise DamagedTree("tree_sizes must be those of the trees")
    for block in blocks:
        _check_block(_fields(block), last + 1)


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.splitlines() if "=" in line)


def _integers(tree: dict[str, str], name: str, size: int, *bounds: int) -> NDArray[np.int64]:
    return integers(tree.get(name, "").split(), name, size, *bounds)


def _check_block(tree: dict[str, str], n_features: int) -> None:
    leaves, cats = (whole(tree.get(name), name) for name in ("num_leaves", "num_cat"))
    if cats < 0:
        raise DamagedTree("num_cat must be at least 0")
    if not 1 <= leaves <= len(tree.get("leaf_value", "")):
        raise DamagedTree("num_leaves must be the number of leaves")
    n = leaves - 1
    values = {
        name: numbers(tree.get(name, "").split(), name, size)
        for names, size in ((OF_SPLITS, n), (OF_LEAVES, leaves))
        for name in names
        if name in NEEDED or tree.get(name)
    }
    if whole(tree.get("is_linear", 0), "is_linear"):
        _check_linear(tree, leaves, n_features)
    _integers(tree, "split_feature", n, 0, n_features)
    kinds = _integers(tree, "decision_type", n, 0, DECISIONS)
    check_tree(_integers(tree, "left_child", n), _integers(tree, "right_child", n), leaves)
    if cats:
        _check_categories(tree, cats)
    by_category = values["threshold"][kinds % 2 == 1]
    integers(by_category, "threshold of a category", len(by_category), 0, cats)


def _check_categories(tree: dict[str, str], cats: int) -> None:
    bounds = _integers(tree, "cat_boundaries", cats + 1)
    if bounds[0] != 0 or (np.diff(bounds) < 1).any():
        raise DamagedTree("cat_boundaries must rise from 0")
    _integers(tree, "cat_threshold", int(bounds[-1]), 0, 2**32)


def _check_linear(tree: dict[str, str], leaves: int, n_features: int) -> None:
    counts = _integers(tree, "num_features", leaves) if tree.get("num_features") else None
    if counts is None or (counts < 0).any():
        raise DamagedTree("num_features must count the features of each leaf")
    total = int(counts.sum())
    _integers(tree, "leaf_features", total, 0, n_features)
    numbers(tree.get("leaf_coeff", "").split(), "leaf_coeff", total)
