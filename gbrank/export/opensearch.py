"""XGBoost's dump of trees as JSON, which the LTR plugins of OpenSearch and Elasticsearch read.

A document goes to "yes" if its value, in single precision, is less than the "split_condition". The
classes that read it are XGBoostJsonParser and NaiveAdditiveDecisionTree.
"""

import json
from itertools import count
from typing import Any

import numpy as np

from gbrank.boosters.tree import Leaf, Node, Split, Threshold, Tree, above, read_tree

from .forest import Forest, expect


def write_opensearch(forest: Forest) -> bytes:
    """Write trees without categories."""

    def node(tree: Tree, number: int, depth: int, unused: "count[int]") -> Node:
        if isinstance(tree, Leaf):
            return {"nodeid": number, "leaf": tree}
        assert isinstance(tree, Threshold)
        left = next(unused)
        right = next(unused)
        below = ((tree.left, left), (tree.right, right))
        return {
            "nodeid": number,
            "depth": depth,
            "split": forest.features[tree.feature],
            "split_condition": above(tree.threshold),
            "yes": left,
            "no": right,
            "missing": left if tree.missing_left else right,
            "children": [node(child, place, depth + 1, unused) for child, place in below],
        }

    trees = [node(tree, 0, 0, count(1)) for tree in forest.trees]
    return json.dumps(trees, allow_nan=False).encode()


def read_opensearch(content: bytes, forest: Forest) -> list[Tree]:
    """Read the trees of a file."""

    def split(node: Any) -> Split:
        left, right = node["children"]
        ends = [left["nodeid"], right["nodeid"]]
        expect(ends == [node["yes"], node["no"]] and node["missing"] in ends, "children by number")
        below = np.nextafter(np.float32(node["split_condition"]), np.float32(-np.inf))
        column = forest.features.index(node["split"])
        missing_left = node["missing"] == node["yes"]
        return Threshold(column, missing_left, left, right, threshold=float(below))

    return [read_tree(root, "leaf", split) for root in json.loads(content)]
