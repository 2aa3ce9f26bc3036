"""Checks of a model in LightGBM's text format, which LightGBM itself reads as it stands."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.boosters.tree_checks import DamagedTree, check_range, check_tree, numbers, whole

# Numbers of a tree: one for each split, and one for each leaf.
OF_SPLITS = (
    "split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child",
    "internal_value", "internal_weight", "internal_count",
)  # fmt: skip
OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count", "leaf_const", "num_features")
WHOLE = {"split_feature", "decision_type", "left_child", "right_child", "num_features"}
NEEDED = ("split_feature", "threshold", "decision_type", "left_child", "right_child", "leaf_value")
MOST_FEATURES = 2**24
DECISIONS = 16  # 1: of a category, 2: missing values go left, 4 and 8: which these are
END = "\nend of trees\n"


def split_model(text: str) -> tuple[str, list[str], str]:
    """Split a model's text into what stands before the trees, the trees, and what follows."""
    end = text.index(END) + 1
    head, *trees = re.split(r"(?=^Tree=\d+$)", text[:end], flags=re.MULTILINE)
    return head, trees, text[end:]


def check_text(text: str) -> None:
    """Refuse a model that LightGBM could not read, or would follow out of its memory."""
    if "\0" in text or END not in text:
        raise DamagedTree("it must have an end of trees")
    head, blocks, _ = split_model(text)
    header = _fields(head)
    for name in ("num_class", "num_tree_per_iteration"):
        if header.get(name) != "1":
            raise DamagedTree(f"{name} must be 1")
    last = whole(header.get("max_feature_idx"), "max_feature_idx")
    check_range(np.array(last), "max_feature_idx", 0, MOST_FEATURES)
    if "tree_sizes" in header:
        sizes = numbers(header["tree_sizes"].split(), "tree_sizes", len(blocks), integers=True)
        if sizes.tolist() != [len(block.encode()) for block in blocks]:
            raise DamagedTree("tree_sizes must be those of the trees")
    for block in blocks:
        _check_block(_fields(block), last + 1)


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.splitlines() if "=" in line)


def _listed(tree: dict[str, str], name: str, size: int, *, integers: bool = False) -> NDArray[Any]:
    return numbers(tree.get(name, "").split(), name, size, integers=integers)


def _check_block(tree: dict[str, str], n_features: int) -> None:
    leaves, cats = (whole(tree.get(name), name) for name in ("num_leaves", "num_cat"))
    if cats < 0:
        raise DamagedTree("num_cat must be at least 0")
    if not 1 <= leaves <= len(tree.get("leaf_value", "")):
        raise DamagedTree("num_leaves must be the number of leaves")
    found = {
        name: _listed(tree, name, size, integers=name in WHOLE)
        for names, size in ((OF_SPLITS, leaves - 1), (OF_LEAVES, leaves))
        for name in names
        if name in NEEDED or tree.get(name)
    }
    if whole(tree.get("is_linear", 0), "is_linear"):
        _check_linear(tree, found.get("num_features"), n_features)
    if leaves == 1:
        return
    check_range(found["split_feature"], "split_feature", 0, n_features)
    check_range(found["decision_type"], "decision_type", 0, DECISIONS)
    check_tree(found["left_child"], found["right_child"], leaves)
    if cats:
        _check_categories(tree, cats)
    by_category = found["threshold"][found["decision_type"] % 2 == 1]
    name = "threshold of a category"
    check_range(numbers(by_category, name, len(by_category), integers=True), name, 0, cats)


def _check_categories(tree: dict[str, str], cats: int) -> None:
    bounds = _listed(tree, "cat_boundaries", cats + 1, integers=True)
    if bounds[0] != 0 or (np.diff(bounds) < 1).any():
        raise DamagedTree("cat_boundaries must rise from 0")
    words = _listed(tree, "cat_threshold", int(bounds[-1]), integers=True)
    check_range(words, "cat_threshold", 0, 2**32)


def _check_linear(tree: dict[str, str], counts: NDArray[Any] | None, n_features: int) -> None:
    if counts is None or (counts < 0).any():
        raise DamagedTree("num_features must count the features of each leaf")
    total = int(counts.sum())
    used = _listed(tree, "leaf_features", total, integers=True)
    check_range(used, "leaf_features", 0, n_features)
    _listed(tree, "leaf_coeff", total)
