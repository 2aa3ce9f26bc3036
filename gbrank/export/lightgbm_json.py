"""LightGBM's dump of trees as JSON: the parts that Vespa reads, written for how it reads them.

Vespa tests x < threshold, where LightGBM tests x ≤ threshold, both in double precision. Categories
are strings.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from gbrank.boosters.tree import Leaf, Membership, Tree
from gbrank.export.forest import Forest


def write_lightgbm_json(forest: Forest) -> bytes:
    """Return the content of the file."""
    categories = {column: known for column, known in forest.categories.items() if known}
    places = {column: frozenset(range(len(known))) for column, known in categories.items()}
    content = {
        "name": "tree",
        "objective": "regression",  # so that nothing is done to the sum
        "feature_names": forest.features,
        "feature_infos": {
            name: {"values": list(range(len(categories.get(column, []))))}
            for column, name in enumerate(forest.features)
        },
        "tree_info": [
            {"tree_index": number, "tree_structure": _node(tree, places)}
            for number, tree in enumerate(forest.trees)
        ],
        "pandas_categorical": [list(map(str, known)) for _, known in sorted(categories.items())],
    }
    return json.dumps(content, allow_nan=False).encode()


def _node(tree: Tree, places: Mapping[int, frozenset[int]]) -> dict[str, Any]:
    if isinstance(tree, Leaf):
        return {"leaf_value": tree.value}
    if isinstance(tree, Membership) and tree.missing_left and tree.feature in places:
        # A text that is unknown is missing to the ranker, not to Vespa: it goes right in both.
        others = tuple(sorted(places[tree.feature] - set(tree.categories)))
        tree = Membership(tree.feature, False, tree.right, tree.left, others)
    decision: dict[str, Any]
    if isinstance(tree, Membership):
        decision = {"decision_type": "==", "threshold": "||".join(map(str, tree.categories))}
    else:
        threshold = math.nextafter(tree.threshold, math.inf)  # of −∞, the smallest number
        decision = {"decision_type": "<=", "threshold": threshold}
    return {
        "split_feature": tree.feature,
        **decision,
        "default_left": tree.missing_left,
        "missing_type": "NaN",
        "left_child": _node(tree.left, places),
        "right_child": _node(tree.right, places),
    }
