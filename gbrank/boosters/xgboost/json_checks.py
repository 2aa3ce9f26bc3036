"""Checks of a model in XGBoost's JSON format, whose trees XGBoost itself does not check."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.boosters.tree_checks import DamagedTree, check_tree, integers, numbers, whole

REAL = ("base_weights", "loss_changes", "sum_hessian")
CATEGORIES = ("categories_nodes", "categories_segments", "categories_sizes")
NO_PARENT = 2**31 - 1
MOST_CATEGORIES = 2**24  # XGBoost's own limit


def check_json(content: bytes) -> None:
    """Refuse a model that XGBoost cannot read, or that would lead it out of its memory."""
    try:
        learner = json.loads(content)["learner"]
        booster = learner["gradient_booster"]
        model, weights = forest_of(booster)
        trees, n_features = model["trees"], whole(learner["learner_model_param"]["num_feature"])
        _check_forest(model, learner["learner_model_param"], len(trees))
        if weights is not None:
            numbers(weights, "weight_drop", len(trees))
        for i, tree in enumerate(trees):
            if tree["id"] != i:
                raise DamagedTree(f"id must be {i}")
            _check_one(tree, n_features)
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError) as error:
        raise DamagedTree(f"it must have all that a model has: {error!r}") from None


def forest_of(booster: dict[str, Any]) -> tuple[dict[str, Any], list[float] | None]:
    """Return the model that holds a booster's trees, and their weights if DART has given them some.

    They are in the model since XGBoost 3.4, and beside the one of "gbtree" before.
    """
    model = booster.get("gbtree", booster)["model"]
    return model, model.get("weight_drop", booster.get("weight_drop"))


def _check_forest(model: dict[str, Any], param: dict[str, Any], n_trees: int) -> None:
    if whole(param["num_class"]) != 0 or whole(param.get("num_target", 1)) != 1:
        raise DamagedTree("there must be one score")
    if whole(model["gbtree_model_param"]["num_trees"]) != n_trees:
        raise DamagedTree("num_trees must be the number of trees")
    integers(model["tree_info"], "tree_info", n_trees, 0, 1)
    if "iteration_indptr" in model:
        rounds = model["iteration_indptr"]
        bounds = integers(rounds, "iteration_indptr", len(rounds))
        if bounds[0] != 0 or bounds[-1] != n_trees or (np.diff(bounds) < 0).any():
            raise DamagedTree("iteration_indptr must rise from 0 to the number of trees")


def _check_one(tree: dict[str, Any], n_features: int) -> None:
    param = tree["tree_param"]
    n = whole(param["num_nodes"])
    if n < 1 or n != len(tree["left_children"]):
        raise DamagedTree("num_nodes must be the number of nodes")
    kind = whole(param["num_feature"]), whole(param["size_leaf_vector"])
    if kind not in ((n_features, 0), (n_features, 1)):
        raise DamagedTree("tree_param must be that of a tree of this model")
    for name in REAL:
        numbers(tree[name], name, n)
    left, right = (
        integers(tree[name], name, n, -1, n) for name in ("left_children", "right_children")
    )
    inner = left != -1
    if ((right == -1) == inner).any():
        raise DamagedTree("a node must have two children or none")
    split_type = integers(tree["split_type"], "split_type", n, 0, 2)
    # A split of categories has no threshold, in XGBoost 3.0 not even a number in its place.
    numbers(tree["split_conditions"], "split_conditions", n, inner & (split_type == 1))
    # `check_tree` numbers inner nodes and leaves separately.
    numbering = np.where(inner, np.cumsum(inner) - 1, -np.cumsum(~inner))
    if inner[0]:
        leaves = int((~inner).sum()) - whole(param.get("num_deleted", 0))
        check_tree(numbering[left[inner]], numbering[right[inner]], leaves)
    parents = integers(tree["parents"], "parents", n)
    if parents[0] != NO_PARENT or any(
        (parents[children[inner]] != np.flatnonzero(inner)).any() for children in (left, right)
    ):
        raise DamagedTree("parents must be those of the children")
    integers(tree["split_indices"], "split_indices", n, 0, max(n_features, 1))
    integers(tree["default_left"], "default_left", n, 0, 2)
    _check_categories(tree, split_type)


def _check_categories(tree: dict[str, Any], split_type: NDArray[np.int64]) -> None:
    codes, count = tree["categories"], len(tree["categories_nodes"])
    integers(codes, "categories", len(codes), 0, MOST_CATEGORIES)
    nodes, starts, sizes = (integers(tree[name], name, count) for name in CATEGORIES)
    if (starts < 0).any() or (sizes < 1).any() or (starts + sizes > len(codes)).any():
        raise DamagedTree("categories_segments must be within categories")
    if not np.array_equal(np.sort(nodes), np.flatnonzero(split_type)):
        raise DamagedTree("categories_nodes must be the splits of categories")
