"""A checkpoint of Treelite."""

from itertools import count
from typing import Any

from gbrank.boosters.tree import Leaf, Membership, Tree
from gbrank.common.extras import needed
from gbrank.export.forest import Forest


def write_treelite(forest: Forest) -> bytes:
    """Return the content of the file."""
    building = needed("treelite.model_builder", "export")
    n_trees = len(forest.trees)
    builder = building.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=building.Metadata(
            num_feature=len(forest.features),
            task_type="kLearningToRank",
            average_tree_output=False,
            num_target=1,
            num_class=[1],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=building.TreeAnnotation(
            num_tree=n_trees, target_id=[0] * n_trees, class_id=[0] * n_trees
        ),
        postprocessor=building.PostProcessorFunc(name="identity"),
        base_scores=[0.0],
    )
    for tree in forest.trees:
        builder.start_tree()
        _add(builder, tree, 0, count(1))
        builder.end_tree()
    return bytes(builder.commit().serialize_bytes())


def _add(builder: Any, tree: Tree, number: int, unused: "count[int]") -> None:
    builder.start_node(number)
    if isinstance(tree, Leaf):
        builder.leaf(tree.value)
        builder.end_node()
        return
    left, right = next(unused), next(unused)
    branches = {"default_left": tree.missing_left, "left_child_key": left, "right_child_key": right}
    if isinstance(tree, Membership):
        builder.categorical_test(
            tree.feature,
            category_list=list(tree.categories),
            category_list_right_child=False,
            **branches,
        )
    else:
        builder.numerical_test(tree.feature, tree.threshold, opname="<=", **branches)
    builder.end_node()
    _add(builder, tree.left, left, unused)
    _add(builder, tree.right, right, unused)
