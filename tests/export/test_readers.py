"""Trees that are read from files, by tiny files whose scores are worked out by hand.

Two trees of two features "a" and "b": the first is 1 where a goes left of 0.5, else 2 or 4 by b at
-1; the second is 0.25 for all.
"""

import json
from typing import Any

import numpy as np
import onnx
import pytest
from engines import ENGINES, F
from onnx import helper

from gbrank.boosters.tree import Threshold
from gbrank.export.forest import Forest
from gbrank.export.formats import FORMATS, format_of
from gbrank.export.trees import leaves

NAMES = ["a", "b"]
ROWS = np.array([
    [0.25, 9.0], [0.5, -1.0], [0.75, -1.0], [0.75, -2.0], [0.75, 5.0], [np.nan, 5.0],
    [0.75, np.nan], [0.0, 0.0],
])  # fmt: skip
# With missing values of a to the right, and of b to the left.
LESS = [1.25, 4.25, 4.25, 2.25, 4.25, 4.25, 2.25, 1.25]  # left: x < threshold
AT_MOST = [1.25, 1.25, 2.25, 2.25, 4.25, 4.25, 2.25, 1.25]  # left: x <= threshold


def dump(text: bool = False) -> list[dict[str, Any]]:
    """Return XGBoost's dump of the trees."""
    ends = [{"nodeid": 3, "leaf": 2.0}, {"nodeid": 4, "leaf": 4.0}]
    inner = {"nodeid": 2, "depth": 1, "split": "b", "split_condition": -1.0, "yes": 3, "no": 4}
    inner |= {"missing": 3, "children": ends}
    root = {"nodeid": 0, "depth": 0, "split": "a", "split_condition": 0.5, "yes": 1, "no": 2}
    root |= {"missing": 2, "children": [{"nodeid": 1, "leaf": 1.0}, inner]}
    return [root, {"nodeid": 0, "leaf": 0.25}]


def lightgbm() -> dict[str, Any]:
    """Return LightGBM's dump of the trees."""

    def split(feature: int, threshold: float, left: Any, right: Any) -> dict[str, Any]:
        sides = {"left_child": left, "right_child": right, "missing_type": "NaN"}
        decision = {"decision_type": "<=", "threshold": threshold, "default_left": feature == 1}
        return {"split_feature": feature, **decision, **sides}

    two, four = {"leaf_value": 2.0}, {"leaf_value": 4.0}
    root = split(0, 0.5, {"leaf_value": 1.0}, split(1, -1.0, two, four))
    trees = [{"tree_structure": tree} for tree in (root, {"leaf_value": 0.25})]
    head = {"objective": "regression", "feature_names": NAMES}
    return {**head, "pandas_categorical": [], "tree_info": trees}


def elasticsearch() -> dict[str, Any]:
    """Return a trained model."""
    inner = {"decision_type": "lte", "left_child": 1, "right_child": 2}
    root = {"node_index": 0, "split_feature": 0, "threshold": 0.5, "default_left": False, **inner}
    inner |= {"left_child": 3, "right_child": 4, "split_feature": 1, "threshold": -1.0}
    leaves = [{"node_index": n, "leaf_value": v} for n, v in ((1, 1.0), (3, 2.0), (4, 4.0))]
    nodes = [root, leaves[0], {"node_index": 2, "default_left": True, **inner}, *leaves[1:]]
    trees = [nodes, [{"node_index": 0, "leaf_value": 0.25}]]
    models = [{"tree": {"feature_names": NAMES, "tree_structure": tree}} for tree in trees]
    ensemble = {"trained_models": models, "aggregate_output": {"weighted_sum": {}}}
    return {"definition": {"trained_model": {"ensemble": ensemble}}}


def solr(nulls: bool) -> dict[str, Any]:
    """Return Solr's model; 1e-6 is added to its thresholds."""
    inner: dict[str, Any] = {"feature": "b", "threshold": "-1.000001", "missing": "left"}
    inner |= {"left": {"value": "2"}, "right": {"value": "4"}}
    root = {"feature": "a", "threshold": "0.499999", "missing": "right"}
    root |= {"left": {"value": "1"}, "right": inner}
    trees = [{"weight": "1", "root": tree} for tree in (root, {"value": "0.25"})]
    params = {"trees": trees, **({"isNullSameAsZero": False} if nulls else {})}
    features = [{"name": name} for name in NAMES]
    kind = "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    return {"class": kind, "name": "m", "features": features, "params": params}


def graph() -> bytes:
    """Return an ONNX graph of the trees; the second has a split with equal leaves."""

    def tensor(name: str, values: list[float], kind: int = onnx.TensorProto.FLOAT) -> Any:
        return helper.make_tensor(name, kind, [len(values)], values)

    node = helper.make_node(
        "TreeEnsemble", ["features"], ["score"], domain="ai.onnx.ml", n_targets=1,
        tree_roots=[0, 2], nodes_featureids=[0, 1, 0],
        nodes_modes=tensor("m", [0, 0, 0], onnx.TensorProto.UINT8),
        nodes_splits=tensor("s", [0.5, -1.0, 0.0]), nodes_missing_value_tracks_true=[0, 1, 0],
        nodes_truenodeids=[0, 1, 3], nodes_trueleafs=[1, 1, 1],
        nodes_falsenodeids=[1, 2, 4], nodes_falseleafs=[0, 1, 1],
        leaf_targetids=[0] * 5, leaf_weights=tensor("l", [1.0, 2.0, 4.0, 0.25, 0.25]),
    )  # fmt: skip
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["documents", width])
        for name, width in (("features", 2), ("score", 1))
    ]
    versions = [helper.make_opsetid("ai.onnx.ml", 5), helper.make_opsetid("", 21)]
    whole = helper.make_graph([node], "m", ends[:1], ends[1:])
    model = helper.make_model(whole, ir_version=10, opset_imports=versions)
    return bytes(model.SerializeToString())


def changed(scores: list[float], **rows: float) -> list[float]:
    """Return scores of which some rows have others."""
    places = {int(row.removeprefix("row")): score for row, score in rows.items()}
    return [places.get(row, score) for row, score in enumerate(scores)]


ZERO_A, ZERO_B = 1.25, 4.25  # of the rows in which they are missing
CASES: list[tuple[str, Any, list[float]]] = [
    ("elasticsearch", elasticsearch(), AT_MOST),
    ("opensearch", dump(), LESS),
    ("opensearch:3.8", dump(), LESS),
    ("opensearch:3.7", dump(), changed(LESS, row6=4.25)),
    ("opensearch:3.3.1", dump(), changed(LESS, row6=4.25)),
    ("opensearch:3.1", dump(), changed(LESS, row5=ZERO_A, row6=ZERO_B)),
    ("opensearch:2.19", dump(), changed(LESS, row5=ZERO_A, row6=ZERO_B)),
    ("solr", solr(True), AT_MOST),
    ("solr", solr(False), changed(AT_MOST, row5=ZERO_A, row6=ZERO_B)),
    ("vespa-lightgbm", lightgbm(), LESS),
    ("onnx", graph(), AT_MOST),
]


def test_every_format_is_here() -> None:
    """None is left out."""
    assert {name.partition(":")[0] for name, *_ in CASES} == set(FORMATS)


FOREST = Forest("m", NAMES, [], {})


@pytest.mark.parametrize(("format", "file", "expected"), CASES)
def test_scores(format: str, file: Any, expected: list[float]) -> None:
    """On both sides of thresholds, on them, and where values are missing; as the engine does."""
    content = file if isinstance(file, bytes) else json.dumps(file).encode()
    first, second = format_of(format).trees(content, FOREST)
    assert (leaves(first, ROWS) + 0.25).tolist() == expected
    assert leaves(second, ROWS).tolist() == [0.25] * len(ROWS)
    if ":" not in format:
        assert ENGINES[format](content, NAMES).scores(ROWS).tolist() == expected


def test_precision() -> None:
    """Thresholds are those of the engine's precision."""
    for number, single, double in ((0.5 + 1e-12, 0.5, 0.5 + 1e-12), (0.1, F(0.1), 0.1)):
        file = dump()
        file[0]["split_condition"] = number
        (root, _) = FORMATS["opensearch"].trees(json.dumps(file).encode(), FOREST)
        assert isinstance(root, Threshold)
        assert np.nextafter(F(root.threshold), F(np.inf)) == F(single)
        model = lightgbm()
        model["tree_info"][0]["tree_structure"]["threshold"] = number
        (root, _) = FORMATS["vespa-lightgbm"].trees(json.dumps(model).encode(), FOREST)
        assert isinstance(root, Threshold)
        assert np.nextafter(root.threshold, np.inf) == double


def test_categories_of_vespa() -> None:
    """Texts, one that is unknown, and a missing one, which goes where the split says."""
    model = lightgbm()
    split = model["tree_info"][0]["tree_structure"]["right_child"]
    split |= {"decision_type": "==", "threshold": "w||u"}
    rows = np.array([[1.0, word] for word in ("u", "v", "w", "x", None)], object)
    codes = np.array([[1.0, code] for code in (0, 1, 2, 3, np.nan)])
    forest = Forest("m", NAMES, [], {1: ["u", "v", "w"]})
    for default_left, last in ((True, 2.25), (False, 4.25)):
        split["default_left"] = default_left
        content, expected = json.dumps(model).encode(), [2.25, 4.25, 2.25, 4.25, last]
        assert ENGINES["vespa-lightgbm"](content, NAMES).scores(rows).tolist() == expected
        (tree, _) = FORMATS["vespa-lightgbm"].trees(content, forest)
        assert (leaves(tree, codes) + 0.25).tolist() == expected


@pytest.mark.parametrize(
    ("format", "message"),
    [
        ("opensearch:1.3", "format must be of version 2 or later, got 'opensearch:1.3'"),
        ("elasticsearch:8.12", "format must be of version 8.13 or later"),
        ("opensearch:3.x", "format must be of version 2 or later"),
        ("opensearch:", "format must be of version 2 or later"),
        ("onnx:1.21", "format must be 'onnx', without a version, got 'onnx:1.21'"),
        ("opensaerch:3", "unknown format 'opensaerch'. Did you mean 'opensearch'"),
    ],
)
def test_versions_that_are_none(format: str, message: str) -> None:
    """What it was, and what it should be."""
    with pytest.raises(ValueError, match=message):
        format_of(format)


@pytest.mark.parametrize(
    ("format", "since"),
    [(name, since) for name, format in FORMATS.items() for since in format.versions],
)
def test_a_change_begins_with_its_version(format: str, since: tuple[int, ...]) -> None:
    """Not with the one after it."""
    version = ".".join(map(str, since))
    assert format_of(f"{format}:{version}") == format_of(f"{format}:{version}.1")
