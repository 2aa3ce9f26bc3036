"""Readers of the formats that models are exported to, written from the engines' sources.

A reader evaluates a file as the engine does, down to the comparison and the precision; the
docstring says where that is written.
"""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[Any]
Reader = Callable[[Path, Matrix, list[str]], Vector]
F = np.float32


def total(trees: list[Any], step: Callable[[Any, Matrix], Any], X: Matrix) -> Vector:
    """Return the sum of the leaves, in single precision, of each row.

    For a node and rows, `step` gives a leaf's value, or which rows go left, and both children.
    """
    scores = np.zeros(len(X), dtype=F)
    for tree in trees:
        leaves = np.empty(len(X), dtype=F)
        todo = [(tree, np.arange(len(X)))]
        while todo:
            node, rows = todo.pop()
            found = step(node, X[rows])
            if isinstance(found, float):
                leaves[rows] = found
            else:
                left, *children = found
                todo += zip(children, (rows[left], rows[~left]), strict=True)
        scores += leaves
    return scores.astype(float)


def read_plugin(path: Path, X: Matrix, names: list[str]) -> Vector:
    """XGBoostJsonParser and NaiveAdditiveDecisionTree of the LTR plugins, since 2024."""

    def step(node: Any, X: Matrix) -> Any:
        if "leaf" in node:
            return float(node["leaf"])
        assert node.keys() == {"nodeid", "depth", "split", "split_condition", "yes", "no",
                               "missing", "children"}  # fmt: skip
        assert [child["nodeid"] for child in node["children"]] == [node["yes"], node["no"]]
        assert node["missing"] in (node["yes"], node["no"])
        values = X[:, names.index(node["split"])]
        left = F(node["split_condition"]) > values
        return np.where(np.isnan(values), node["missing"] == node["yes"], left), *node["children"]

    return total(json.loads(path.read_text()), step, X)


def read_ranklib(path: Path, X: Matrix, names: list[str]) -> Vector:
    """Ensemble, Split and DenseProgramaticDataPoint of RankLib; lines are stripped and joined."""
    lines = [line.strip() for line in path.read_text().split("\n")]
    assert lines[0] == "## LambdaMART"
    ensemble = ET.fromstring("".join(line for line in lines if not line.startswith("##")))
    assert {tree.attrib["weight"] for tree in ensemble} == {"1.0"}

    def step(node: Any, X: Matrix) -> Any:
        if node[0].tag == "output":
            return float(node[0].text)
        feature, threshold, left, right = node
        assert (left.attrib["pos"], right.attrib["pos"]) == ("left", "right")
        values = np.nan_to_num(X[:, int(feature.text) - 1])
        return values <= F(threshold.text), left, right

    return total([tree[0] for tree in ensemble], step, X)


def read_solr(path: Path, X: Matrix, names: list[str]) -> Vector:
    """MultipleAdditiveTreesModel of Solr 9.2; numbers are texts, and thresholds get 1e-6 more."""
    content = json.loads(path.read_text())
    assert content["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    assert content["name"] == path.stem
    asked = {feature["name"] for feature in content["features"]}
    nulls = not content["params"].get("isNullSameAsZero", True)

    def step(node: Any, X: Matrix) -> Any:
        if "feature" not in node:
            return float(node["value"])
        assert node["feature"] in asked
        values = X[:, names.index(node["feature"])]
        left = np.nan_to_num(values) <= F(node["threshold"]) + F(1e-6)
        if nulls:
            left = np.where(np.isnan(values), node["missing"] == "left", left)
        return left, node["left"], node["right"]

    trees = content["params"]["trees"]
    assert {tree["weight"] for tree in trees} == {"1"}
    return total([tree["root"] for tree in trees], step, X)


def compare(values: Matrix, default_left: bool, threshold: float) -> NDArray[np.bool_]:
    """Return what Vespa makes of a split: !(f >= t) where missing values go left, f < t if not.

    A comparison with NaN is false.
    """
    values = values.astype(float)
    return ~(values >= threshold) if default_left else values < threshold


def read_vespa_xgboost(path: Path, X: Matrix, names: list[str]) -> Vector:
    """XGBoostParser of Vespa."""

    def step(node: Any, X: Matrix) -> Any:
        if "leaf" in node:
            return float(node["leaf"])
        values, threshold = X[:, names.index(node["split"])], float(F(node["split_condition"]))
        return compare(values, node["missing"] == node["yes"], threshold), *node["children"]

    return total(json.loads(path.read_text()), step, X)


def read_vespa_lightgbm(path: Path, X: Any, names: list[str]) -> Vector:
    """LightGBMParser of Vespa; categories are texts, found by their place among all columns'."""
    content = json.loads(path.read_text())
    assert content["objective"] == "regression"
    assert content["feature_names"] == names
    infos = content["feature_infos"]
    categorical = [place for place, name in enumerate(names) if infos[name]["values"]]
    texts = dict(zip(categorical, content["pandas_categorical"], strict=True))

    def step(node: Any, X: Matrix) -> Any:
        if "left_child" not in node:
            return float(node["leaf_value"])
        children = node["left_child"], node["right_child"]
        place, default_left = node["split_feature"], node["default_left"]
        values = X[:, place]
        if node["decision_type"] != "==":
            return compare(values, default_left, float(node["threshold"])), *children
        members = node["threshold"].split("||")
        if place in texts:
            members = [texts[place][int(code)] for code in members]
        return np.isin(values.astype(str), members) | (default_left & pd.isna(values)), *children

    return total([tree["tree_structure"] for tree in content["tree_info"]], step, X)


def read_onnx(path: Path, X: Matrix, names: list[str]) -> Vector:
    """ONNX Runtime."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(["score"], {"features": X.astype(F)})[0][:, 0]


READERS: dict[str, Reader] = {
    "elasticsearch": read_plugin,
    "ranklib": read_ranklib,
    "solr": read_solr,
    "vespa-lightgbm": read_vespa_lightgbm,
    "vespa-xgboost": read_vespa_xgboost,
    "onnx": read_onnx,
}
