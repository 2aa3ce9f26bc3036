"""Solr's MultipleAdditiveTreesModel as JSON.

A document goes left if its value is at most the threshold plus 1e-6, all in single precision. A
missing value is zero, unless "isNullSameAsZero" is false, which Solr knows since 9.2.
"""

import json
from typing import Any

import numpy as np

from gbrank.boosters.tree import Leaf, Node, Split, Threshold, Tree, at_most, read_tree

from .forest import Forest, expect

CLASS = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
SLACK = np.float32(1e-6)


def write_solr(forest: Forest) -> bytes:
    """Write trees without categories."""
    missing_is_zero = all(split.missing_left == split.zero_left for split in forest.splits())
    used = {split.feature for split in forest.splits()}

    def node(tree: Tree) -> Node:
        if isinstance(tree, Leaf):
            return {"value": repr(tree)}
        assert isinstance(tree, Threshold)
        missing = {"missing": "left" if tree.missing_left else "right"}
        return {
            "feature": forest.features[tree.feature],
            "threshold": repr(_before_slack(tree.threshold)),
            **({} if missing_is_zero else missing),
            "left": node(tree.left),
            "right": node(tree.right),
        }

    content = {
        "class": CLASS,
        "name": forest.name,
        "features": [{"name": forest.features[column]} for column in sorted(used)],
        "params": {
            **({} if missing_is_zero else {"isNullSameAsZero": False}),
            "trees": [{"weight": "1", "root": node(tree)} for tree in forest.trees],
        },
    }
    return json.dumps(content, indent=1).encode()


def read_solr(content: bytes, forest: Forest) -> list[Tree]:
    """Read the trees of a file, in which numbers are texts."""
    model = json.loads(content)
    expect(model["class"] == CLASS, CLASS)
    trees = model["params"]["trees"]
    requested = {feature["name"] for feature in model["features"]}
    expect({tree["weight"] for tree in trees} == {"1"}, "weights of 1")
    columns = {name: column for column, name in enumerate(forest.features) if name in requested}
    missing_is_zero = model["params"].get("isNullSameAsZero", True)

    def split(node: Any) -> Split:
        threshold = float(np.float32(node["threshold"]) + SLACK)
        missing_left = threshold >= 0 if missing_is_zero else node["missing"] == "left"
        sides = node["left"], node["right"]
        return Threshold(columns[node["feature"]], missing_left, *sides, threshold=threshold)

    return [read_tree(tree["root"], "value", split) for tree in trees]


def reached_by_solr(threshold: float) -> float:
    """Find the largest number that Solr sends left of a threshold."""
    return float(np.float32(_before_slack(threshold)) + SLACK)


def _before_slack(threshold: float) -> float:
    """Find the t for which t + SLACK, in single precision, is largest but not above threshold."""
    wanted = np.float32(at_most(threshold))
    near = wanted - SLACK
    lower = np.nextafter(near, np.float32(-np.inf))
    higher = np.nextafter(near, wanted)
    return float(next(x for x in (higher, near, lower) if x + SLACK <= wanted))
