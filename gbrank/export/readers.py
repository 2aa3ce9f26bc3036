"""Readers of the formats, written from the engines' sources and not from our writers.

A reader evaluates a file as the engine does, down to the comparison and the precision; the
docstring says where that is written.
"""

import json
import operator
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Vector
from gbrank.common.extras import needed

DocumentRows: TypeAlias = NDArray[Any]  # numbers, or objects where some are texts
# Of a node and rows: a leaf's value, or which rows go left, and both children.
Step: TypeAlias = Callable[[Any, DocumentRows], Any]
F = np.float32
OPERATORS = {name: getattr(operator, name) for name in ("lt", "gt", "eq")}
OPERATORS |= {"lte": operator.le, "gte": operator.ge}


class Read(Protocol):
    """A file that was read: what its trees, and all of them together, give rows."""

    n_trees: int

    def leaves(self, tree: int, X: DocumentRows) -> Vector:
        """Return the value of the leaf of each row in one tree, as the file has it."""
        ...

    def scores(self, X: DocumentRows) -> Vector:
        """Return the engine's score of each row."""
        ...


Reader: TypeAlias = Callable[[bytes, list[str]], Read]  # of a file, and what it calls the columns


class ReadTrees:
    """Trees of nodes; leaves are summed in single precision, or in double."""

    def __init__(self, trees: list[Any], step: Step, double: bool = False) -> None:
        self._trees, self._step, self.n_trees = trees, step, len(trees)
        self._sum: type[np.floating[Any]] = np.float64 if double else F

    def leaves(self, tree: int, X: DocumentRows) -> Vector:
        """Return the value of the leaf of each row in one tree."""
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
        fields = "nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"
        demand(node.keys() == set(fields), f"the fields {fields}")
        ends = [child["nodeid"] for child in node["children"]]
        demand(ends == [node["yes"], node["no"]] and node["missing"] in ends, "children by number")
        values = X[:, names.index(node["split"])].astype(F)
        if missing == "zero":
            values = np.nan_to_num(values)
        left, missing_left = F(node["split_condition"]) > values, node["missing"] == node["yes"]
        goes_left = missing_left and missing == "own"
        return np.where(np.isnan(values), goes_left, left), *node["children"]

    return ReadTrees(json.loads(content), step)


def read_elasticsearch(content: bytes, names: list[str]) -> Read:
    """EnsembleInferenceModel, TreeInferenceModel and WeightedSum of Elasticsearch."""
    ensemble = json.loads(content)["definition"]["trained_model"]["ensemble"]
    demand(ensemble["aggregate_output"] == {"weighted_sum": {}}, "a sum")
    trees = [model["tree"] for model in ensemble["trained_models"]]
    for tree in trees:
        numbers = [node["node_index"] for node in tree["tree_structure"]]
        demand(numbers == [*range(len(numbers))], "nodes in the order of their numbers")

    def step(place: Any, X: DocumentRows) -> Any:
        tree, number = place
        node = tree["tree_structure"][number]
        if "left_child" not in node:
            return float(node["leaf_value"])
        values = X[:, names.index(tree["feature_names"][node["split_feature"]])].astype(float)
        left = OPERATORS[node["decision_type"]](values, node["threshold"])
        children = ((tree, node[f"{side}_child"]) for side in ("left", "right"))
        return np.where(np.isnan(values), node["default_left"], left), *children

    return ReadTrees([(tree, 0) for tree in trees], step, double=True)


def read_ranklib(content: bytes, names: list[str]) -> Read:
    """Ensemble, Split and DenseProgramaticDataPoint of RankLib; lines are stripped and joined."""
    lines = [line.strip() for line in content.decode().split("\n")]
    demand(lines[0] == "## LambdaMART", "## LambdaMART")
    ensemble = ET.fromstring("".join(line for line in lines if not line.startswith("##")))
    demand({tree.attrib["weight"] for tree in ensemble} == {"1.0"}, "weights of 1")

    def step(node: Any, X: DocumentRows) -> Any:
        if node[0].tag == "output":
            return float(node[0].text)
        feature, threshold, left, right = node
        demand((left.attrib["pos"], right.attrib["pos"]) == ("left", "right"), "left and right")
        values = np.nan_to_num(X[:, int(feature.text) - 1].astype(F))
        return values <= F(threshold.text), left, right

    return ReadTrees([tree[0] for tree in ensemble], step)


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


def _compare(values: DocumentRows, default_left: bool, threshold: float) -> NDArray[np.bool_]:
    """Return what Vespa makes of a split: !(f >= t) where missing values go left, f < t if not.

    A comparison with NaN is false.
    """
    values = values.astype(float)
    return ~(values >= threshold) if default_left else values < threshold


def read_vespa_xgboost(content: bytes, names: list[str]) -> Read:
    """XGBoostParser of Vespa."""

    def step(node: Any, X: DocumentRows) -> Any:
        if "leaf" in node:
            return float(node["leaf"])
        values, threshold = X[:, names.index(node["split"])], float(F(node["split_condition"]))
        return _compare(values, node["missing"] == node["yes"], threshold), *node["children"]

    return ReadTrees(json.loads(content), step, double=True)


def read_vespa_lightgbm(content: bytes, names: list[str]) -> Read:
    """LightGBMParser of Vespa; categories are texts, found by their place among all columns'."""
    model = json.loads(content)
    demand(model["objective"] == "regression", "an objective that changes nothing")
    demand(model["feature_names"] == names, f"the features {names}")
    infos = model["feature_infos"]
    categorical = [place for place, name in enumerate(names) if infos[name]["values"]]
    texts = dict(zip(categorical, model["pandas_categorical"], strict=True))

    def step(node: Any, X: DocumentRows) -> Any:
        if "left_child" not in node:
            return float(node["leaf_value"])
        children = node["left_child"], node["right_child"]
        place, default_left = node["split_feature"], node["default_left"]
        values = X[:, place]
        if node["decision_type"] != "==":
            return _compare(values, default_left, float(node["threshold"])), *children
        members = node["threshold"].split("||")
        if place in texts:
            members = [texts[place][int(code)] for code in members]
        absent = np.array([value is None or value != value for value in values], bool)
        return np.isin(values.astype(str), members) & ~absent | default_left & absent, *children

    trees = [tree["tree_structure"] for tree in model["tree_info"]]
    return ReadTrees(trees, step, double=True)


class ReadOnnx:
    """A graph of one TreeEnsemble, run as it is, and with an output for each tree."""

    def __init__(self, content: bytes) -> None:
        onnx = needed("onnx", "export")
        try:
            model = onnx.load_from_string(content)
            self._whole = _run(model)
        except Exception as error:
            raise ValueError(f"expected an ONNX graph, got {error}") from None
        (node,) = model.graph.node
        fields = {field.name: field for field in node.attribute}
        ids = {name.removeprefix("nodes_"): field.ints for name, field in fields.items()}
        roots, targets = ids["tree_roots"], ids["leaf_targetids"]
        for tree, root in enumerate(roots):
            todo = [root]
            while todo:
                place = todo.pop()
                for side in ("true", "false"):
                    child = ids[f"{side}nodeids"][place]
                    if ids[f"{side}leafs"][place]:
                        targets[child] = tree
                    else:
                        todo.append(child)
        fields["n_targets"].i = self.n_trees = len(roots)
        model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = len(roots)
        self._apart = _run(model)

    def leaves(self, tree: int, X: DocumentRows) -> Vector:
        """Return the value of the leaf of each row in one tree."""
        return self._apart(X)[:, tree]

    def scores(self, X: DocumentRows) -> Vector:
        """Return the output for each row."""
        return self._whole(X)[:, 0]


def _run(model: Any) -> Callable[[DocumentRows], NDArray[np.float64]]:
    """Return a graph as a function: by ONNX Runtime, or without it by the reference of ONNX."""
    session: Any
    try:
        import onnxruntime
    except ImportError:
        session = needed("onnx.reference", "export").ReferenceEvaluator(model)
    else:
        providers = ["CPUExecutionProvider"]
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=providers)
    return lambda X: session.run(None, {"features": X.astype(F)})[0].astype(float)


def read_onnx(content: bytes, names: list[str]) -> Read:
    """ONNX's own evaluators."""
    return ReadOnnx(content)
