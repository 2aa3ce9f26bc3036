"""An ONNX graph: the operator TreeEnsemble of ai.onnx.ml 5, on single-precision features."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree, at_most
from gbrank.common.extras import needed
from gbrank.export.forest import Forest

AT_MOST, MEMBER = 0, 6  # the operator's codes of comparisons
ML_OPSET, OPSET, IR_VERSION = 5, 21, 10  # ONNX 1.16, ONNX Runtime 1.21


@dataclass
class _Table:
    """The operator's attributes, column by column."""

    roots: list[int] = field(default_factory=list)
    features: list[int] = field(default_factory=list)
    modes: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    missing_true: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)  # of the true and the false side
    are_leaves: list[list[int]] = field(default_factory=list)
    members: list[float] = field(default_factory=list)
    leaves: list[float] = field(default_factory=list)

    def add_tree(self, tree: Tree) -> None:
        """Add a tree; one without splits gets a split with the same leaf on both sides."""
        # ONNX Runtime (at least 1.21 and 1.23) misreads any tree but the first whose root has a
        # leaf on the true side only: such trees get a new root that sends all to the true side.
        self.roots.append(len(self.features))
        if isinstance(tree, Leaf):
            tree = Threshold(0, True, tree, tree, threshold=0.0)
        elif isinstance(tree.left, Leaf) and not isinstance(tree.right, Leaf):
            tree = Threshold(0, True, tree, Leaf(0.0), threshold=np.inf)
        self._add(tree)

    def _add(self, tree: Tree) -> int:
        if isinstance(tree, Leaf):
            self.leaves.append(tree.value)
            return len(self.leaves) - 1
        place = len(self.features)
        self.features.append(tree.feature)
        self.missing_true.append(int(tree.missing_left))
        if isinstance(tree, Membership):
            self.modes.append(MEMBER)
            self.thresholds.append(0.0)
            self.members += [*map(float, tree.categories), np.nan]
        else:
            self.modes.append(AT_MOST)
            self.thresholds.append(at_most(tree.threshold))
        sides = (tree.left, tree.right)
        self.are_leaves.append([int(isinstance(side, Leaf)) for side in sides])
        self.children.append([])
        self.children[place] = [self._add(side) for side in sides]
        return place


def write_onnx(forest: Forest) -> bytes:
    """Return the content of the file."""
    helper, types = needed("onnx.helper", "export"), needed("onnx", "export").TensorProto
    table = _Table()
    for tree in forest.trees:
        table.add_tree(tree)

    def tensor(name: str, values: Sequence[float], kind: int = types.FLOAT) -> object:
        return helper.make_tensor(name, kind, [len(values)], values)

    on_true, on_false = zip(*table.children, strict=True)
    true_leaves, false_leaves = zip(*table.are_leaves, strict=True)
    members = {"membership_values": tensor("members", table.members)} if table.members else {}
    node = helper.make_node(
        "TreeEnsemble",
        ["features"],
        ["score"],
        domain="ai.onnx.ml",
        n_targets=1,
        tree_roots=table.roots,
        nodes_featureids=table.features,
        nodes_modes=tensor("modes", table.modes, types.UINT8),
        nodes_splits=tensor("thresholds", table.thresholds),
        nodes_missing_value_tracks_true=table.missing_true,
        nodes_truenodeids=on_true,
        nodes_trueleafs=true_leaves,
        nodes_falsenodeids=on_false,
        nodes_falseleafs=false_leaves,
        leaf_targetids=[0] * len(table.leaves),
        leaf_weights=tensor("leaves", table.leaves),
        **members,
    )
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
    needed("onnx.checker", "export").check_model(model)
    return bytes(model.SerializeToString())
