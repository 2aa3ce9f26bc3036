"""The trees of an XGBoost booster."""

import json
from typing import Any

import numpy as np
import xgboost as xgb

from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree


def xgboost_trees(booster: xgb.Booster) -> list[Tree]:
    """Return the trees of a booster whose base score is 0, as it is in gbrank."""
    found = json.loads(booster.save_raw("json"))["learner"]["gradient_booster"]
    trees = found.get("gbtree", found)["model"]["trees"]  # those of "dart" have weights
    weights = found.get("weight_drop", [1.0] * len(trees))
    return [
        _tree(tree, weight, _categories(tree)) for tree, weight in zip(trees, weights, strict=True)
    ]


def _categories(tree: dict[str, Any]) -> dict[int, tuple[int, ...]]:
    """Return the categories that go right, by node."""
    columns = (tree[f"categories_{name}"] for name in ("nodes", "segments", "sizes"))
    table = zip(*columns, strict=True)
    return {node: tuple(tree["categories"][start : start + size]) for node, start, size in table}


def _tree(
    tree: dict[str, Any], weight: float, categories: dict[int, tuple[int, ...]], node: int = 0
) -> Tree:
    condition = np.float32(tree["split_conditions"][node])
    children = [tree[f"{side}_children"][node] for side in ("left", "right")]
    if children == [-1, -1]:
        return Leaf(weight * float(condition))
    left, right = (_tree(tree, weight, categories, child) for child in children)
    feature, missing_left = int(tree["split_indices"][node]), bool(tree["default_left"][node])
    if node in categories:
        return Membership(feature, not missing_left, right, left, categories[node])
    return Threshold(feature, missing_left, left, right, _last_before(condition))


def _last_before(threshold: np.float32) -> float:
    """Return the largest number that is below the threshold once it is in single precision."""
    below = np.nextafter(threshold, np.float32(-np.inf))
    middle = (float(below) + float(threshold)) / 2
    return middle if np.float32(middle) < threshold else float(np.nextafter(middle, -np.inf))
