"""The trees of a LightGBM booster."""

from typing import Any

import lightgbm as lgb

from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree


def lightgbm_trees(booster: lgb.Booster) -> list[Tree]:
    """Return the trees of a booster."""
    return [_tree(item["tree_structure"]) for item in booster.dump_model()["tree_info"]]


def _tree(node: dict[str, Any]) -> Tree:
    if "leaf_coeff" in node:
        raise ValueError(
            "the model must have constants in its leaves, got the linear functions of linear_tree."
        )
    if "split_feature" not in node:
        return Leaf(float(node["leaf_value"]))
    feature = int(node["split_feature"])
    left, right = _tree(node["left_child"]), _tree(node["right_child"])
    if node["decision_type"] == "==":
        categories = tuple(map(int, node["threshold"].split("||")))
        return Membership(feature, False, left, right, categories)  # missing values go right
    threshold = float(node["threshold"])
    # Without missing values in training, a missing one is read as zero.
    kind, default_left, zero_left = node["missing_type"], bool(node["default_left"]), threshold >= 0
    if kind == "Zero" and default_left != zero_left:
        raise ValueError(
            "the model must treat zeros as numbers, but with zero_as_missing it sends those of "
            f"column {feature} to the other side than the numbers next to them."
        )
    missing_left = zero_left if kind == "None" else default_left
    return Threshold(feature, missing_left, left, right, threshold)
