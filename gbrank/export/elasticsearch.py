"""Elasticsearch's own learning to rank: the body of a request that creates a trained model.

Elasticsearch compares in double precision; all features are scores of queries, in single. The
classes that read the body are EnsembleInferenceModel, TreeInferenceModel and WeightedSum.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from gbrank.boosters.tree import LARGEST, Leaf, Node, Split, Threshold, Tree, at_most, read_tree
from gbrank.common.checks import ArgumentError, ArgumentTypeError, quoted

from .forest import Forest, expect

Extractors: TypeAlias = Sequence[Mapping[str, Any]]


def write_elasticsearch(
    forest: Forest, extractors: Extractors | None = None, with_input: bool = False
) -> bytes:
    """Write the body; the names of the features are its `input` before Elasticsearch 8.15."""
    config = {} if extractors is None else {"feature_extractors": _checked(extractors, forest)}
    shared = {"target_type": "regression", "feature_names": forest.features}
    ensemble = {
        **shared,
        "trained_models": [
            {"tree": {**shared, "tree_structure": _nodes(tree)}} for tree in forest.trees
        ],
        "aggregate_output": {"weighted_sum": {}},
    }
    content = {
        **({"input": {"field_names": forest.features}} if with_input else {}),
        "inference_config": {"learning_to_rank": config},
        "definition": {"trained_model": {"ensemble": ensemble}},
    }
    return json.dumps(content, allow_nan=False).encode()


def read_elasticsearch(content: bytes, forest: Forest) -> list[Tree]:
    """Read the trees of a body."""
    ensemble = json.loads(content)["definition"]["trained_model"]["ensemble"]
    expect(ensemble["aggregate_output"] == {"weighted_sum": {}}, "a sum")
    return [_read(model["tree"], forest.features) for model in ensemble["trained_models"]]


def _read(tree: Node, features: list[str]) -> Tree:
    nodes = tree["tree_structure"]
    expect([node["node_index"] for node in nodes] == [*range(len(nodes))], "nodes by number")

    def split(node: Any) -> Split:
        feature, *children = (node[key] for key in ("split_feature", "left_child", "right_child"))
        expect(feature >= 0 and min(children) > node["node_index"], "nodes before their children")
        expect(node["decision_type"] == "lte", "at most, in every node")
        column = features.index(tree["feature_names"][feature])
        left, right = (nodes[child] for child in children)
        threshold = at_most(node["threshold"])
        return Threshold(column, node["default_left"], left, right, threshold)

    return read_tree(nodes[0], "leaf_value", split)


def _nodes(tree: Tree) -> list[Node]:
    """List the nodes by number."""
    nodes: list[Node] = []

    def add(tree: Tree) -> int:
        node: Node = {"node_index": len(nodes)}
        nodes.append(node)
        if isinstance(tree, Leaf):
            node["leaf_value"] = tree
        else:
            assert isinstance(tree, Threshold)
            node |= {
                "decision_type": "lte",
                "threshold": min(tree.threshold, LARGEST),
                "split_feature": tree.feature,
                "default_left": tree.missing_left,
                "left_child": add(tree.left),
                "right_child": add(tree.right),
            }
        return int(node["node_index"])

    add(tree)
    return nodes


def _checked(extractors: Extractors, forest: Forest) -> Extractors:
    extractors = [*extractors]
    try:
        queries = [extractor["query_extractor"] for extractor in extractors]
        names = sorted(query["feature_name"] for query in queries if query["query"])
    except (KeyError, TypeError) as error:
        form = '[{"query_extractor": {"feature_name": ..., "query": {...}}}, ...]'
        raise ArgumentTypeError("extractors", f"must be {form}", repr(error)) from None
    if names != sorted(forest.features):
        raise ArgumentError(
            "extractors",
            f"must have one query for each feature of {sorted(forest.features)}",
            quoted(names),
        )
    return extractors
