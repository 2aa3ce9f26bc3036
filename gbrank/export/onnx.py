"""An ONNX graph: the operator TreeEnsemble of ai.onnx.ml 5, on single-precision features."""

import json
from collections import defaultdict
from dataclasses import replace
from itertools import takewhile
from math import isfinite
from typing import Any

import numpy as np

from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree, at_most
from gbrank.common.runtime import import_optional

from .forest import Forest, expect

AT_MOST = 0
MEMBER = 6  # the operator's codes of comparisons
TENSORS = {"nodes_modes", "nodes_splits", "leaf_weights", "membership_values"}
ML_OPSET = 5
OPSET = 21
IR_VERSION = 10  # ONNX 1.16, ONNX Runtime 1.21


def prepare_onnx(forest: Forest) -> Forest:
    """Make an equal forest, with leaves in single precision, that ONNX Runtime reads right.

    ONNX Runtime (at least 1.21 and 1.23) misreads any tree but the first whose root has a leaf on
    the true side only: such trees get a new root that sends all to the true side. A leaf alone gets
    a split with the same leaf on both sides.
    """

    def single(tree: Tree) -> Tree:
        return float(np.float32(tree)) if isinstance(tree, Leaf) else tree

    def rooted(tree: Tree) -> Tree:
        if isinstance(tree, Leaf):
            return Threshold(0, True, single(tree), single(tree), threshold=0.0)
        if isinstance(tree.left, Leaf) and not isinstance(tree.right, Leaf):
            return Threshold(0, True, tree, 0.0, threshold=np.inf)
        return tree

    forest = forest.changed(lambda s: replace(s, left=single(s.left), right=single(s.right)))
    return forest._replace(trees=[*map(rooted, forest.trees)])


def _add(table: dict[str, Any], tree: Tree) -> int:
    """Add a node with those below it to the operator's attributes; return its place.

    The place is that among nodes, or among leaves.
    """
    if isinstance(tree, Leaf):
        table["leaf_weights"].append(tree)
        return len(table["leaf_weights"]) - 1
    place = len(table["nodes_featureids"])
    if isinstance(tree, Membership):
        mode = MEMBER
        threshold = 0.0
        table["membership_values"] += [*map(float, tree.categories), np.nan]
    else:
        mode = AT_MOST
        threshold = at_most(tree.threshold)
    table["nodes_modes"].append(mode)
    table["nodes_splits"].append(threshold)
    table["nodes_featureids"].append(tree.feature)
    table["nodes_missing_value_tracks_true"].append(int(tree.missing_left))
    sides = {"true": tree.left, "false": tree.right}
    for side, child in sides.items():
        table[f"nodes_{side}leafs"].append(int(isinstance(child, Leaf)))
        table[f"nodes_{side}nodeids"].append(0)
    for side, child in sides.items():
        table[f"nodes_{side}nodeids"][place] = _add(table, child)
    return place


def write_onnx(forest: Forest) -> bytes:
    """Write the content of the file."""
    onnx = import_optional("onnx", "export")
    helper = onnx.helper
    types = onnx.TensorProto
    table: dict[str, Any] = defaultdict(list)
    for tree in forest.trees:
        table["tree_roots"].append(_add(table, tree))
    table |= {"leaf_targetids": [0] * len(table["leaf_weights"]), "n_targets": 1}
    for name in {*table} & TENSORS:
        kind = types.UINT8 if name == "nodes_modes" else types.FLOAT
        table[name] = helper.make_tensor(name, kind, [len(table[name])], table[name])
    node = helper.make_node("TreeEnsemble", ["features"], ["score"], domain="ai.onnx.ml", **table)
    features, score = (
        helper.make_tensor_value_info(name, types.FLOAT, ["documents", width])
        for name, width in (("features", len(forest.features)), ("score", 1))
    )
    model = helper.make_model(
        helper.make_graph([node], forest.name or "ranker", [features], [score]),
        producer_name="gbrank",
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("ai.onnx.ml", ML_OPSET), helper.make_opsetid("", OPSET)],
    )
    codes = {forest.features[column]: known for column, known in forest.categories.items()}
    texts = {"features": forest.features, "categories": codes}
    helper.set_model_props(model, {name: json.dumps(value) for name, value in texts.items()})
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def read_onnx(content: bytes, forest: Forest) -> list[Tree]:
    """Read the trees of a file."""
    onnx = import_optional("onnx", "export")
    (node,) = onnx.load_from_string(content).graph.node
    expect(node.op_type == "TreeEnsemble", "a TreeEnsemble")
    table = {field.name: onnx.helper.get_attribute_value(field) for field in node.attribute}
    for name in {*table} & TENSORS:
        table[name] = onnx.numpy_helper.to_array(table[name]).tolist()
    categories = iter(table.get("membership_values", []))
    members = [
        tuple(map(int, takewhile(isfinite, categories))) if mode == MEMBER else ()
        for mode in table["nodes_modes"]
    ]

    def tree(is_leaf: bool, place: int) -> Tree:
        expect(place >= 0, "nodes by number")
        if is_leaf:
            return float(table["leaf_weights"][place])
        left = tree(table["nodes_trueleafs"][place], table["nodes_truenodeids"][place])
        right = tree(table["nodes_falseleafs"][place], table["nodes_falsenodeids"][place])
        column = table["nodes_featureids"][place]
        missing_left = bool(table["nodes_missing_value_tracks_true"][place])
        if table["nodes_modes"][place] == MEMBER:
            return Membership(column, missing_left, left, right, members[place])
        return Threshold(column, missing_left, left, right, table["nodes_splits"][place])

    return [tree(False, root) for root in table["tree_roots"]]
