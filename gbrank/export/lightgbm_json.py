"""LightGBM's dump of trees as JSON: the parts that Vespa reads, written for how it reads them.

Vespa tests x < threshold, where LightGBM tests x ≤ threshold, both in double precision. Categories
are strings.
"""

import json
import math
from typing import Any

from gbrank.boosters.tree import Leaf, Membership, Tree
from gbrank.export.forest import Forest


def write_lightgbm_json(forest: Forest) -> bytes:
    """Return the content of the file."""
    categories = {column: known for column, known in forest.categories.items() if known}
    content = {
        "name": "tree",
        "objective": "regression",  # so that nothing is done to the sum
        "feature_names": forest.features,
        "feature_infos": {
            name: {"values": list(range(len(categories.get(column, []))))}
            for column, name in enumerate(forest.features)
        },
        "tree_info": [
            {"tree_index": number, "tree_structure": _node(tree)}
            for number, tree in enumerate(forest.trees)
        ],
        "pandas_categorical": [list(map(str, known)) for _, known in sorted(categories.items())],
    }
    return json.dumps(content, allow_nan=False).encode()


def _node(tree: Tree) -> dict[str, Any]:
    if isinstance(tree, Leaf):
        return {"leaf_value": tree.value}
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
        "left_child": _node(tree.left),
        "right_child": _node(tree.right),
    }
