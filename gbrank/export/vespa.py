"""LightGBM's dump of trees as JSON: the parts that Vespa reads, written for how it reads them.

Vespa tests x < threshold, where LightGBM tests x ≤ threshold, both in double precision. Categories
are strings, and stand in the splits: which columns Vespa gives the lists of "pandas_categorical"
depends on its version.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from gbrank.boosters.tree import Leaf, Membership, Tree
from gbrank.export.forest import Forest


def write_vespa(forest: Forest) -> bytes:
    """Return the content of the file."""
    categories = {column: [*map(str, known)] for column, known in forest.categories.items()}
    content = {
        "name": "tree",
        "objective": "regression",  # so that nothing is done to the sum
        "feature_names": forest.features,
        "tree_info": [
            {"tree_index": number, "tree_structure": _node(tree, categories)}
            for number, tree in enumerate(forest.trees)
        ],
        "pandas_categorical": [],
    }
    return json.dumps(content, allow_nan=False).encode()


def _node(tree: Tree, categories: Mapping[int, list[str]]) -> dict[str, Any]:
    if isinstance(tree, Leaf):
        return {"leaf_value": tree.value}
    decision: dict[str, Any]
    if isinstance(tree, Membership):
        known = categories.get(tree.feature)
        if tree.missing_left and known:
            # A text that is unknown is missing to the ranker, not to Vespa: it goes right in both.
            others = sorted(set(range(len(known))) - set(tree.categories))
            tree = Membership(tree.feature, False, tree.right, tree.left, tuple(others))
        if not (tree.categories or tree.missing_left):
            return _node(tree.right, categories)  # Vespa's list would hold the empty text
        # An empty text is first: Java drops it at the end of what it splits.
        texts = sorted(known[code] if known else str(code) for code in tree.categories)
        decision = {"decision_type": "==", "threshold": "||".join(texts)}
    else:
        threshold = math.nextafter(tree.threshold, math.inf)  # of −∞, the smallest number
        decision = {"decision_type": "<=", "threshold": threshold}
    return {
        "split_feature": tree.feature,
        **decision,
        "default_left": tree.missing_left,
        "missing_type": "NaN",
        "left_child": _node(tree.left, categories),
        "right_child": _node(tree.right, categories),
    }
