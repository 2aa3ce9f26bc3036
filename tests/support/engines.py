"""Engines that evaluate exported files, written from their sources and not from our writers.

Each evaluates a file as the engine does, down to the comparison and the precision; the docstring
says where that is written. ONNX is run by its runtime.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from gbrank.common.checks import Vector

DocumentRows: TypeAlias = NDArray[Any]  # numbers, or objects where some are texts
# Of a node and rows: a leaf's value, or which rows go left, and both children.
Step: TypeAlias = Callable[[Any, DocumentRows], Any]
F = np.float32
Read: TypeAlias = "ReadTrees | ReadOnnx"
Reader: TypeAlias = Callable[[bytes, list[str]], Read]  # of a file, and what it calls the columns


class ReadTrees:
    """Trees of nodes, and what they give rows; leaves are summed in single precision or double."""

    def __init__(self, trees: list[Any], step: Step, double: bool = False) -> None:
        self._trees, self._step, self.n_trees = trees, step, len(trees)
        self._sum: type[np.floating[Any]] = np.float64 if double else F

    def leaves(self, tree: int, X: DocumentRows) -> Vector:
        """Return the value of the leaf of each row in one tree, as the file has it."""
        values = np.empty(len(X))
        todo = [(self._trees[tree], np.arange(len(X)))]
        while todo:
            node, rows = todo.pop()
            found = self._step(node, X[rows])
            if isinstance(found, float):
                values[rows] = found
            else:
                left, *children = found
                todo += zip(children, (rows[left], rows[~left]), strict=True)
        return values

    def scores(self, X: DocumentRows) -> Vector:
        """Return the sum of the leaves of each row."""
        total = np.zeros(len(X), self._sum)
        for tree in range(self.n_trees):
            total = total + self.leaves(tree, X).astype(self._sum)
        return total.astype(float)


def demand(holds: bool, what: str) -> None:
    """Refuse a file that an engine would refuse."""
    if not holds:
        raise ValueError(f"expected {what}")


def read_plugin(content: bytes, names: list[str], missing: str = "own") -> Read:
    """XGBoostJsonParser and NaiveAdditiveDecisionTree of the LTR plugins, by how they treat NaN."""

    def step(node: Any, X: DocumentRows) -> Any:
        if "leaf" in node:
            return float(node["leaf"])
        ends = [child["nodeid"] for child in node["children"]]
        demand(ends == [node["yes"], node["no"]] and node["missing"] in ends, "children by number")
        values = X[:, names.index(node["split"])].astype(F)
        if missing == "zero":
            values = np.nan_to_num(values)
        missing_left = missing == "own" and node["missing"] == node["yes"]
        left = np.where(np.isnan(values), missing_left, values < F(node["split_condition"]))
        return left, *node["children"]

    return ReadTrees(json.loads(content), step)


def read_elasticsearch(content: bytes, names: list[str]) -> Read:
    """EnsembleInferenceModel, TreeInferenceModel and WeightedSum of Elasticsearch."""
    ensemble = json.loads(content)["definition"]["trained_model"]["ensemble"]
    demand(ensemble["aggregate_output"] == {"weighted_sum": {}}, "a sum")
    trees = [model["tree"] for model in ensemble["trained_models"]]

    def step(place: Any, X: DocumentRows) -> Any:
        tree, number = place
        node = tree["tree_structure"][number]
        demand(node["node_index"] == number, "nodes by number")
        if "left_child" not in node:
            return float(node["leaf_value"])
        feature, *children = (node[key] for key in ("split_feature", "left_child", "right_child"))
        demand(feature >= 0 and min(children) > number, "nodes before their children")
        values = X[:, names.index(tree["feature_names"][feature])].astype(float)
        demand(node["decision_type"] == "lte", "at most, in every node")
        left = np.where(np.isnan(values), node["default_left"], values <= node["threshold"])
        return left, *((tree, child) for child in children)

    return ReadTrees([(tree, 0) for tree in trees], step, double=True)


def read_solr(content: bytes, names: list[str]) -> Read:
    """MultipleAdditiveTreesModel of Solr; numbers are texts, and thresholds get 1e-6 more."""
    model = json.loads(content)
    kind = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    demand(model["class"] == kind, kind)
    asked = {feature["name"] for feature in model["features"]}
    nulls = not model["params"].get("isNullSameAsZero", True)

    def step(node: Any, X: DocumentRows) -> Any:
        if "feature" not in node:
            return float(node["value"])
        demand(node["feature"] in asked, f"{node['feature']} among the features")
        values = X[:, names.index(node["feature"])].astype(F)
        left = np.nan_to_num(values) <= F(node["threshold"]) + F(1e-6)
        if nulls:
            left = np.where(np.isnan(values), node["missing"] == "left", left)
        return left, node["left"], node["right"]

    trees = model["params"]["trees"]
    demand({tree["weight"] for tree in trees} == {"1"}, "weights of 1")
    return ReadTrees([tree["root"] for tree in trees], step)


def read_vespa(content: bytes, names: list[str]) -> Read:
    """LightGBMParser of Vespa; categories are texts, which no version looks up in empty lists."""
    model = json.loads(content)
    demand(model["objective"] == "regression", "an objective that changes nothing")
    demand(model["feature_names"] == names, f"the features {names}")
    demand(model["pandas_categorical"] == [], "no lists of categories")

    def step(node: Any, X: DocumentRows) -> Any:
        if "left_child" not in node:
            return float(node["leaf_value"])
        children = node["left_child"], node["right_child"]
        place, default_left = node["split_feature"], node["default_left"]
        demand(place >= 0, "a feature's place")
        values = X[:, place]
        if node["decision_type"] != "==":
            values, threshold = values.astype(float), float(node["threshold"])
            # A comparison with NaN is false.
            return ~(values >= threshold) if default_left else values < threshold, *children
        members = node["threshold"].split("||")
        absent = np.array([value is None or value != value for value in values], bool)
        return np.isin(values.astype(str), members) & ~absent | default_left & absent, *children

    trees = [tree["tree_structure"] for tree in model["tree_info"]]
    return ReadTrees(trees, step, double=True)


class ReadOnnx:
    """A graph of one TreeEnsemble, run by ONNX Runtime."""

    def __init__(self, content: bytes, names: list[str]) -> None:
        self._session = onnxruntime.InferenceSession(content)

    def scores(self, X: DocumentRows) -> Vector:
        """Return the output for each row."""
        (scores,) = self._session.run(None, {"features": X.astype(F)})
        return scores[:, 0].astype(float)


ENGINES: dict[str, Reader] = {
    "elasticsearch": read_elasticsearch,
    "opensearch": read_plugin,
    "solr": read_solr,
    "vespa-lightgbm": read_vespa,
    "onnx": ReadOnnx,
}
