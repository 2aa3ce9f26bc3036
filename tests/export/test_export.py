"""Exported models: read back by other libraries, or by the readers of gbrank.export.

Documents hold single-precision numbers, as engines keep them.
"""

import itertools
import json
import re
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import treelite
import xgboost as xgb
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from gbrank import GBRanker, LinearRanker, export_model
from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree, above, at_most
from gbrank.boosters.xgboost.trained_model import trees_and_weights
from gbrank.commands.cli import main
from gbrank.export.forest import Forest
from gbrank.export.formats import FORMATS
from gbrank.export.lightgbm_json import write_lightgbm_json
from gbrank.export.onnx import write_onnx
from gbrank.export.readers import F
from gbrank.export.solr import _before_slack

Vector = NDArray[np.float64]
N, D = 1000, 5
RNG = np.random.default_rng(0)
WHOLE = RNG.normal(size=(N, D)).astype(F)
WHOLE[:, 3] = RNG.integers(0, 4, N)  # values that are thresholds too
WHOLE[:, 4] = np.maximum(WHOLE[:, 4], 0)  # with zeros
HOLES = np.where(RNG.random((N, D)) < 0.2, F(np.nan), WHOLE)
CODES = RNG.integers(0, 9, N)
Y = (WHOLE[:, 0] > 0) + (WHOLE[:, 1] * WHOLE[:, 4] > 0.1) + 1.0 * (WHOLE[:, 3] > 1) + CODES % 2
Y = Y + np.isnan(HOLES[:, 0])  # so that missing values matter
QID = np.arange(N) // 20
NAMES = ["attribute(a)", "b", "c & <d>", "e", 'f"g']
OF_VESPA = ["attribute(a)", "b", "matches(c, 1.5).d", "e", "f(g(h))"]
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


@cache
def fitted_to(data: str, booster: str = "lightgbm") -> GBRanker:
    """Return a small ranker of documents with or without missing values."""
    return fitted({"whole": WHOLE, "holes": HOLES}[data], booster)


def fitted(X: Any, booster: str = "lightgbm", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {
        "n_estimators": 25,
        "monotone": "free",
        "num_leaves": 12,
        "random_state": 0,
        "n_jobs": 1,
    }
    fit = {"categorical_feature": params.pop("categorical_feature", None)}
    return GBRanker(booster=booster, **{**defaults, **params}).fit(X, Y, qid=QID, **fit)


formats = pytest.mark.parametrize("format", FORMATS)
expresses_missing = pytest.mark.parametrize(
    "format", [name for name, format in FORMATS.items() if format.missing == "own"]
)
expresses_categories = pytest.mark.parametrize(
    "format", [name for name, format in FORMATS.items() if format.categories]
)


def exported(ranker: GBRanker, format: str, X: Any, path: Path, **options: Any) -> Vector:
    """Return the scores that the reader of a format gives."""
    if FORMATS[format].named:
        options.setdefault("feature_names", names_in(format))
    export_model(ranker, path, format, **options)
    return scores_in(path, format, X, names_in(format))


def names_in(format: str) -> list[str]:
    """Return names that a format can hold."""
    return OF_VESPA if FORMATS[format].expressions else NAMES


def scores_in(path: Path, format: str, X: Any, names: list[str]) -> Vector:
    """Return the scores of a file."""
    return FORMATS[format].read(path.read_bytes(), names).scores(X)


def assert_same(
    ranker: GBRanker, format: str, X: Any, path: Path, read_as: Any = None, **options: Any
) -> None:
    """Assert that the reader of a format gives the ranker's scores."""
    read = exported(ranker, format, X if read_as is None else read_as, path, **options)
    assert_allclose(read, ranker.predict(X), atol=1e-5, rtol=0)


# --- The same scores --------------------------------------------------------------------------


@boosters
@expresses_missing
def test_missing_values(booster: str, format: str, tmp_path: Path) -> None:
    """They go where training has sent them; and there are other scores where it matters."""
    ranker = fitted_to("holes", booster)
    assert np.ptp(ranker.predict(HOLES)) > 1
    assert_same(ranker, format, HOLES, tmp_path / "model")
    assert np.abs(ranker.predict(HOLES) - ranker.predict(np.nan_to_num(HOLES))).max() > 0.1


@boosters
@formats
def test_no_missing_values(booster: str, format: str, tmp_path: Path) -> None:
    """Every format has models without them, and reads missing values as zeros then."""
    ranker = fitted_to("whole", booster)
    path = tmp_path / "model"
    read = exported(ranker, format, HOLES, path, missing_as_zero=True)
    assert_allclose(read, ranker.predict(np.nan_to_num(HOLES)), atol=1e-5, rtol=0)
    assert_same(ranker, format, WHOLE, path, missing_as_zero=True)


@formats
def test_lightgbm_without_missing_values_reads_them_as_zeros(format: str, tmp_path: Path) -> None:
    """So that no declaration is needed, in formats that can do nothing else."""
    assert_same(fitted_to("whole"), format, HOLES, tmp_path / "model")


KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "LightGBM's dart": ("lightgbm", {"booster_params": {"boosting": "dart"}}),
    "XGBoost's dart": ("xgboost", {"booster_params": {"booster": "dart", "rate_drop": 0.5}}),
    "LightGBM's objective": ("lightgbm", {"objective": "lightgbm:lambdarank"}),
    "XGBoost's objective": ("xgboost", {"objective": "xgboost:rank:ndcg"}),
    "forests": ("xgboost", {"booster_params": {"num_parallel_tree": 3}, "colsample": 0.5}),
    "all thresholds": ("lightgbm", {"extra_trees": False}),
    "a start": ("lightgbm", {"objective": "smooth:ndcg", "init": "regression"}),
    "another start": ("xgboost", {"objective": "smooth:ndcg", "init": "regression"}),
    "two boosters": ("xgboost", {"init": fitted(WHOLE)}),
    "deep trees": ("xgboost", {"num_leaves": 60, "min_child_samples": 1}),
    "stumps": ("lightgbm", {"num_leaves": 2}),
}


@formats
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model(format: str, kind: str, tmp_path: Path) -> None:
    """Weights of trees, and the trees of the start."""
    booster, params = KINDS[kind]
    ranker = fitted(WHOLE, booster, **params)
    assert (ranker.init_ is not None) == ("start" in kind or kind == "two boosters")
    assert_same(ranker, format, WHOLE, tmp_path / "model", missing_as_zero=True)


def test_trees_of_a_leaf_and_a_split() -> None:
    """ONNX Runtime reads them in any order: see write_onnx."""
    leaves, places = map(Leaf, itertools.count(1.0)), itertools.count(-1.0, 0.25)

    def split(left: Tree | None = None, right: Tree | None = None) -> Tree:
        sides = left or next(leaves), right or next(leaves)
        return Threshold(0, True, *sides, threshold=next(places))

    def value(tree: Tree, x: float) -> float:
        while isinstance(tree, Threshold):
            tree = tree.left if x <= tree.threshold else tree.right
        assert isinstance(tree, Leaf)
        return tree.value

    kinds = [split(), split(right=split()), split(left=split()), split(split(), split())]
    rows = np.random.default_rng(1).normal(size=(100, 1)).astype(np.float32)
    for trees in itertools.product(kinds, repeat=2):
        session = onnxruntime.InferenceSession(write_onnx(Forest("", ["a"], list(trees), {})))
        (scores,) = session.run(["score"], {"features": rows})
        expected = [sum(value(tree, x) for tree in trees) for (x,) in rows.tolist()]
        assert_array_equal(scores[:, 0], expected)


@boosters
@formats
def test_the_best_round(booster: str, format: str, tmp_path: Path) -> None:
    """There are no trees of later ones."""
    params = {"validation_fraction": 0.3, "early_stopping_rounds": 2, "learning_rate": 1.0}
    ranker = fitted(WHOLE, booster, **params)
    assert ranker.best_iteration_ < len(ranker.evals_result_["valid_0"]["ndcg@10"])
    assert_same(ranker, format, WHOLE, tmp_path / "model", missing_as_zero=True)


@boosters
@expresses_categories
def test_categories(booster: str, format: str, tmp_path: Path) -> None:
    """Those of text, with missing and unknown ones; Vespa's are texts, others take codes."""
    texts = np.array(list("uvwxyzabc"))[CODES]
    frame = pd.DataFrame(HOLES, columns=list("abcde"))
    frame["e"] = pd.Categorical(np.where(CODES == 5, None, texts))
    ranker = fitted(frame, booster)
    unknown = frame.assign(e=pd.Categorical(np.where(CODES == 2, "new", texts)))
    codes = ranker._schema.transform(unknown)
    read_as = unknown.to_numpy() if format == "vespa-lightgbm" else codes
    assert ranker.feature_importances_[4] > 0.02
    assert_same(ranker, format, unknown, tmp_path / "model", read_as)


@boosters
@expresses_categories
def test_categories_that_are_numbers(booster: str, format: str, tmp_path: Path) -> None:
    """Which may not have been seen in training."""
    X = HOLES.copy()
    X[:, 4] = CODES
    ranker = fitted(X, booster, categorical_feature=[4])
    new = X.copy()
    new[CODES == 2, 4] = 77
    new[CODES == 3, 4] = np.nan
    read_as: Any = new
    if format == "vespa-lightgbm":
        read_as = new.astype(object)
        read_as[:, 4] = [None if np.isnan(code) else str(int(code)) for code in new[:, 4]]
    assert_same(ranker, format, new, tmp_path / "model", read_as)


@boosters
def test_texts_of_vespa(booster: str, tmp_path: Path) -> None:
    """They stand in the splits: versions differ in whose categories a list beside them would be."""
    unused, used = np.full(N, "a"), np.array(["u", "v", "w", "x", "y", ""])[CODES % 6]
    frame = pd.DataFrame({"b": pd.Categorical(unused), "c": pd.Categorical(used)})
    y = 2.0 * np.isin(used, ["v", "x", ""])
    ranker = GBRanker(booster=booster, n_estimators=3, random_state=0).fit(frame, y, qid=QID)
    export_model(ranker, tmp_path / "model", "vespa-lightgbm")
    content = (tmp_path / "model").read_text()
    assert json.loads(content)["pandas_categorical"] == []
    splits = re.findall(r'"==", "threshold": "([^"]*)"', content)
    assert splits
    assert {word for words in splits for word in words.split("||")} <= set(used)
    assert not any(words.endswith("||") for words in splits)


def test_no_text_of_vespa_is_in_an_empty_list() -> None:
    """XGBoost has splits of all categories and missing values from none; "" is what no value is."""
    rows = np.array([["u"], ["v"], ["new"], [""], [None]], object)
    for missing_left, categories, expected in (
        (True, (0, 1), [1.0, 1.0, 1.0, 1.0, 1.0]),
        (True, (), [2.0, 2.0, 1.0, 1.0, 1.0]),
        (False, (), [2.0, 2.0, 2.0, 2.0, 2.0]),
        (False, (0, 1), [1.0, 1.0, 2.0, 2.0, 2.0]),
    ):
        tree = Membership(0, missing_left, Leaf(1.0), Leaf(2.0), categories)
        content = write_lightgbm_json(Forest("m", ["a"], [tree], {0: ["u", "v"]}))
        read = FORMATS["vespa-lightgbm"].read(content, ["a"])
        assert read.scores(rows).tolist() == expected


@pytest.mark.parametrize("wrong", ['a"b', "a\\b", "a|b", "1"])
def test_texts_that_vespa_cannot_hold(wrong: str, tmp_path: Path) -> None:
    """They would end, or split, a text of its expression; 1 and "1" would be one."""
    used = np.array([wrong, 1 if wrong == "1" else "u", "v"], object)[CODES % 3]
    frame = pd.DataFrame({"a": pd.Categorical(used)})
    y = 1.0 * (CODES % 3)
    ranker = GBRanker(n_estimators=2, random_state=0).fit(frame, y, qid=QID)
    with pytest.raises(ValueError, match="must hold the model's categories, as"):
        export_model(ranker, tmp_path / "model", "vespa-lightgbm")


@boosters
def test_double_precision(booster: str, tmp_path: Path) -> None:
    """Formats that keep it send every number where the ranker does, however close to a threshold.

    XGBoost rounds to single precision first, and LightGBM reads what is within 1e-35 of 0 as 0.
    """
    ranker = fitted_to("whole", booster)
    thresholds = [split.threshold for tree in ranker._model.trees() for split in walk(tree)]
    columns = [split.feature for tree in ranker._model.trees() for split in walk(tree)]
    near = []
    for towards in (-np.inf, 0.0, np.inf):
        X = np.zeros((len(thresholds), D))
        values = np.array(thresholds)
        X[np.arange(len(X)), columns] = np.nextafter(values, towards) if towards else values
        near.append(X)
    X = np.concatenate(near)
    X[np.abs(X) <= np.float32(1e-35)] = 0
    path = tmp_path / "model"
    assert_allclose(exported(ranker, "vespa-lightgbm", X, path), ranker.predict(X), atol=1e-5)


LARGEST = float(np.finfo(F).max)
OFTEN = RNG.random(N) < np.array([0.6, 0.4, 0.1, 0.05, 0.0, 0.0])[Y.astype(int)]
VALUES = RNG.normal(size=N) + Y
EXTREME: dict[str, Any] = {
    "missing or a number": np.where(OFTEN, np.nan, VALUES),
    "missing or the largest": np.where(OFTEN, np.nan, LARGEST),
    "missing or the smallest": np.where(OFTEN, np.nan, -LARGEST),
    "largest": np.where(OFTEN, LARGEST, VALUES),
    "smallest": np.where(OFTEN, -LARGEST, VALUES),
    "largest or smallest": np.where(OFTEN, -LARGEST, LARGEST),
    "signs": np.sign(VALUES - 1).round(),
    "times": 1.7e9 + (VALUES * 30).round(),
    "beside 1": 1 + VALUES * 1e-9,
    "1e300": VALUES * 1e300,
    "1e307": VALUES * 1e307,
    "1e-8": VALUES * 1e-8,
    "1e-10": VALUES * 1e-10,
    "1e-20": VALUES * 1e-20,
    "1e-40": VALUES * 1e-40,
    "denormal": (VALUES * 2).round() * 2.0**-149,
}
SINGLE = set(FORMATS) - {"vespa-lightgbm"}
# Formats that refuse a column, of LightGBM's and of XGBoost's models.
TOO_FINE: dict[str, tuple[set[str], set[str]]] = {
    "times": (SINGLE, set()),  # XGBoost itself has single precision
    "beside 1": (SINGLE, set()),
    "1e300": (SINGLE, set()),
    "1e307": (SINGLE, set()),
    "1e-8": ({"solr"}, {"solr"}),
    "1e-10": ({"solr"}, {"solr"}),
    "1e-20": ({"solr"}, {"solr"}),
    "1e-40": (set(), {"solr"}),  # to LightGBM these are zeros
    "denormal": (set(), {"solr"}),
}


@boosters
@pytest.mark.parametrize("column", EXTREME)
def test_numbers_that_formats_cannot_hold(booster: str, column: str, tmp_path: Path) -> None:
    """They are refused by name; all others are written, and decide alike."""
    X = np.c_[RNG.permutation(VALUES), EXTREME[column]]
    params = {"n_estimators": 6, "learning_rate": 0.3, "extra_trees": False, "colsample": 1.0}
    if booster == "xgboost" and column in ("1e300", "1e307"):
        return  # it takes no such numbers
    ranker = fitted(X, booster, min_child_samples=2, **params)
    refused = TOO_FINE.get(column, (set(), set()))[booster == "xgboost"]
    for format, known in FORMATS.items():
        names = {"feature_names": ["a", "b"]} if known.named else {}
        path = tmp_path / "model"
        if format in refused:
            with pytest.raises(ValueError, match=r"hold the model's thresholds, .*'(b|f1)'"):
                export_model(ranker, path, format, **names)
        elif known.missing == "own" or not np.isnan(X).any():
            export_model(ranker, path, format, missing_as_zero=known.missing == "zero", **names)
            rows = X if format == "vespa-lightgbm" else X.astype(F)
            scores = scores_in(path, format, rows, ["a", "b"])
            assert_allclose(scores, ranker.predict(rows), atol=1e-5, err_msg=format)


@boosters
def test_thresholds_beyond_all_numbers(booster: str, tmp_path: Path) -> None:
    """Where a split is by missing or not alone; no number of JSON is infinite."""
    noise = np.where(OFTEN, np.nan, np.random.default_rng(0).permutation(VALUES))
    X = np.column_stack([noise, EXTREME["missing or the largest"]])
    X = X[:, :1] if booster == "lightgbm" else X
    ranker = fitted(X, booster, min_child_samples=2, num_leaves=40, extra_trees=False)
    assert np.inf in {split.threshold for tree in ranker._model.trees() for split in walk(tree)}

    def no_number(text: str) -> None:
        raise AssertionError(text)

    for format in ("elasticsearch", "opensearch", "vespa-lightgbm", "vespa-xgboost", "solr"):
        export_model(ranker, tmp_path / "model", format)
        text = (tmp_path / "model").read_text()
        json.loads(text, parse_constant=no_number)
        assert '"inf"' not in text


@boosters
def test_treelite_loads_the_boosters_own_file(booster: str, tmp_path: Path) -> None:
    """So that gbrank needs no writer for it."""
    ranker = fitted_to("holes", booster)
    file = tmp_path / ("model.txt" if booster == "lightgbm" else "model.json")
    ranker.booster_.save_model(file)
    model = getattr(treelite.frontend, f"load_{booster}_model")(file)
    scores = treelite.gtil.predict(model, HOLES, pred_margin=True).ravel()
    assert_allclose(scores, ranker.predict(HOLES), atol=1e-5)


def walk(tree: Any) -> list[Any]:
    """Return the splits of a tree."""
    return [tree, *walk(tree.left), *walk(tree.right)] if hasattr(tree, "left") else []


@boosters
@formats
def test_neighbours_in_single_precision(booster: str, format: str, tmp_path: Path) -> None:
    """Values with no room for a threshold between them that is rounded the wrong way."""
    X = WHOLE.copy()
    start = F(0.3)
    ladder = [start]
    for _ in range(7):
        ladder.append(np.nextafter(ladder[-1], F(1)))
    X[:, 0] = np.array(ladder)[CODES % 8]
    X[:, 1:] = 0
    X[:, 1] = CODES > 3
    ranker = fitted(X, booster)
    assert len(np.unique(ranker.predict(X))) > 2
    assert_same(ranker, format, X, tmp_path / "model", missing_as_zero=True)


@given(st.floats(-1e30, 1e30) | st.floats(-1, 1) | st.floats(-1e-5, 1e-5))
def test_thresholds_in_single_precision(threshold: float) -> None:
    """The neighbours of a threshold go the same way."""
    low, high = F(at_most(threshold)), F(above(threshold))
    assert float(low) <= threshold < float(high)
    assert high == np.nextafter(low, F(np.inf))


@pytest.mark.parametrize("threshold", [1e300, 3.5e38, -1e300, float(np.finfo(F).max)])
def test_thresholds_beyond_single_precision(threshold: float) -> None:
    """They stay finite, as JSON has no infinity."""
    assert np.isfinite(F(at_most(threshold)))
    assert np.isfinite(F(above(threshold)))


@given(st.floats(-1e30, 1e30) | st.floats(-1, 1) | st.floats(-1e-4, 1e-4))
def test_thresholds_of_solr(threshold: float) -> None:
    """With its slack they are exact, or the next number that single precision reaches."""
    wanted = F(at_most(threshold))
    given = F(_before_slack(threshold))
    reached, next_one = given + F(1e-6), np.nextafter(given, F(np.inf)) + F(1e-6)
    assert reached == wanted or reached < wanted < next_one


def test_zero_is_no_positive_number_to_solr(tmp_path: Path) -> None:
    """LightGBM's threshold between them is 1e-35."""
    assert F(_before_slack(1.0000000180025095e-35)) + F(1e-6) == 0


@boosters
def test_numbers_beside_zero_in_solr(booster: str, tmp_path: Path) -> None:
    """It adds 1e-6 in single precision: no number goes another way but those that are nearly 0."""
    X = np.column_stack([np.sign(Y - 2) * RNG.integers(0, 2, N), RNG.normal(size=N)])
    ranker = fitted(X, booster, n_estimators=4, extra_trees=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for format in FORMATS:
            export_model(ranker, tmp_path / "model", format, missing_as_zero=True)
    export_model(ranker, tmp_path / "model", "solr", feature_names=["a", "b"])
    sizes = 10.0 ** np.arange(-44, 1, 0.25)
    rows = np.zeros((2 * len(sizes) + 1, 2), F)
    rows[1:, 0] = np.concatenate([-sizes, sizes])
    wrong = (
        np.abs(scores_in(tmp_path / "model", "solr", rows, ["a", "b"]) - ranker.predict(rows))
        > 1e-5
    )
    assert wrong.any()
    assert not wrong[0]
    assert -FORMATS["solr"].nearest < rows[wrong, 0].min() <= rows[wrong, 0].max() <= F(1e-35)


@formats
def test_a_model_without_splits(format: str, tmp_path: Path) -> None:
    """All documents have the same score."""
    ranker = fitted(WHOLE, "xgboost", min_child_samples=N, n_estimators=2)
    assert_same(ranker, format, WHOLE, tmp_path / "model")


@formats
def test_saved_and_loaded(format: str, tmp_path: Path) -> None:
    """The same file; and on the command line."""
    ranker = fitted_to("whole")
    ranker.save(tmp_path / "ranker")
    paths = [tmp_path / name / "model.json" for name in ("first", "second", "third")]
    for path in paths:
        path.parent.mkdir()
    names = tmp_path / "names.txt"
    names.write_text("\n".join(names_in(format)) + "\n")
    options = {"feature_names": names_in(format)} if FORMATS[format].named else {}
    export_model(ranker, paths[0], format, **options)
    export_model(GBRanker.load(tmp_path / "ranker"), paths[1], format, **options)
    arguments = ["--features", str(names)] if options else []
    command = ["export", "--model", str(tmp_path / "ranker"), "--format", format, "--out"]
    assert main([*command, str(paths[2]), *arguments]) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()


# --- Names ------------------------------------------------------------------------------------


def used_names(path: Path) -> set[str]:
    """Return the names in a file for the LTR plugins."""

    def names(node: Any) -> set[str]:
        if "leaf" in node:
            return set()
        return {node["split"]}.union(*map(names, node["children"]))

    return set().union(*map(names, json.loads(path.read_text())))


def test_names_of_features(tmp_path: Path) -> None:
    """The frame's, new ones for some, or for all; numbered without a frame."""
    path = tmp_path / "model.json"
    framed = fitted(pd.DataFrame(WHOLE, columns=list("abcde")))
    export_model(framed, path, "opensearch")
    assert used_names(path) == set("abcde")
    export_model(framed, path, "opensearch", feature_names={"b": "body", "c": "b"})
    assert used_names(path) == {"a", "body", "b", "d", "e"}
    export_model(fitted_to("whole"), path, "opensearch")
    assert used_names(path) == {"f0", "f1", "f2", "f3", "f4"}


def test_solr_asks_for_the_features_that_it_needs(tmp_path: Path) -> None:
    """Others would be computed for nothing."""
    X = WHOLE.copy()
    X[:, 1:3] = 0
    export_model(fitted(X), tmp_path / "model", "solr", feature_names=NAMES)
    content = json.loads((tmp_path / "model").read_text())
    assert [feature["name"] for feature in content["features"]] == [NAMES[i] for i in (0, 3, 4)]


def test_older_solr_loads_a_model_without_missing_values(tmp_path: Path) -> None:
    """It knows no other parameters, and reads missing values as zeros."""
    export_model(fitted_to("whole"), tmp_path / "model", "solr")
    text = (tmp_path / "model").read_text()
    assert "missing" not in text
    assert "isNullSameAsZero" not in text


# --- What is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ranker": Ridge()}, "ranker must be a GBRanker, got Ridge"),
        ({"ranker": LinearRanker()}, "ranker must be a GBRanker, got LinearRanker"),
        ({"format": "solar"}, "unknown format 'solar'. Did you mean 'solr'"),
        ({"feature_names": ["a"]}, "feature_names must have 5 entries, got 1"),
        ({"feature_names": ["a", "b", "a", "d", "e"]}, "feature_names must not hold 'a' twice"),
        ({"feature_names": ["a", "b", "", "d", "e"]}, "not empty ones, got ''"),
        ({"feature_names": [1, 2, 3, 4, 5]}, "feature_names must hold texts"),
        ({"feature_names": "abcde"}, "feature_names must be a list"),
        ({"feature_names": set("abcde")}, "feature_names must be a list of names, got {"),
        ({"feature_names": iter("abcde")}, "feature_names must be a list"),
        ({"feature_names": 5}, "feature_names must be a list of names, got 5"),
        ({"feature_names": {1: "a", "z": "y"}}, "feature_names must rename columns .*, got 1"),
        ({"format": None}, "unknown format 'None'"),
        ({"missing_as_zero": "no"}, r"missing_as_zero must be one of \[False, True\], got 'no'"),
        ({"feature_names": {"z": "y"}}, "feature_names must rename columns of X .*, got 'z'"),
        ({"feature_names": {"f0": "f1"}}, "feature_names must not hold 'f1' twice"),
        (
            {"format": "onnx", "feature_names": NAMES},
            "feature_names must be None for onnx, which goes by the order",
        ),
    ],
)
def test_bad_arguments(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    """The argument, what it was, and what it should be; no file is written."""
    arguments = {"ranker": MODEL, "path": tmp_path / "model", "format": "solr"} | change
    with pytest.raises((ValueError, TypeError), match=message):
        export_model(**arguments)
    assert not list(tmp_path.iterdir())


MODEL = fitted(WHOLE, n_estimators=2)
EXPRESSIONS = [
    *("a - b", "price usd", "c & <d>", "2nd", "1e5", "log(price)", "max(a, b)", "if(a < b, 1, 2)"),
    *("foo(log(x))", "size[0]", "a.", "foo()", "f(x)y", "true", "größe", " a", "f(x", "(x)"),
]


@pytest.mark.parametrize("format", [n for n, format in FORMATS.items() if format.expressions])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_are_no_names(name: str, format: str, tmp_path: Path) -> None:
    """Vespa would compute them, or could not read the file."""
    with pytest.raises(ValueError, match=f"features to {format}.* got {re.escape(repr(name))}"):
        export_model(MODEL, tmp_path / "model", format, feature_names=[name, *"bcde"])
    assert not list(tmp_path.iterdir())


def deep(booster: str, depth: int) -> GBRanker:
    """Return a ranker of one tree that is a chain of splits, x <= 1, x <= 2, and so on."""
    ranker = fitted(WHOLE[:, [0]], booster, n_estimators=1, num_leaves=2)
    numbers = [*range(depth)]
    if booster == "lightgbm":
        head, tree = ranker._model.native.model_to_string().split("Tree=0\n")
        lines = {
            "num_leaves": [depth + 1],
            "num_cat": [0],
            "split_feature": [0] * depth,
            "threshold": numbers,
            "decision_type": [2] * depth,
            "left_child": [~number for number in numbers],
            "right_child": [*numbers[1:], ~depth],
            "leaf_value": [*numbers, depth],
        }
        text = "".join(f"{name}={' '.join(map(str, line))}\n" for name, line in lines.items())
        _, end = tree.split("\nend of trees")
        head = re.sub("tree_sizes=.*\n", "", head)
        native = lgb.Booster(model_str=f"{head}Tree=0\n{text}shrinkage=1\n\n\nend of trees{end}")
    else:
        content = json.loads(ranker._model.dump())
        (tree,), n = trees_and_weights(content)[0], 2 * depth + 1
        inner = range(0, n - 1, 2)
        for name, own in tree.items():
            if isinstance(own, list) and len(own) == 3:
                tree[name] = [own[0], own[1]] * depth + own[1:2]
        tree["tree_param"]["num_nodes"] = str(n)
        tree["left_children"] = [number + 1 if number in inner else -1 for number in range(n)]
        tree["right_children"] = [number + 2 if number in inner else -1 for number in range(n)]
        tree["parents"] = [2147483647, *((number - 1) // 2 * 2 for number in range(1, n))]
        tree["split_conditions"] = [*np.repeat(numbers, 2).astype(float).tolist(), float(depth)]
        native = xgb.Booster()
        native.load_model(bytearray(json.dumps(content).encode()))
    ranker._model.native = native
    return ranker


@boosters
def test_deep_trees(booster: str, tmp_path: Path) -> None:
    """They are exported, but for those of hundreds of levels, which readers cannot read."""
    rows = np.arange(-0.5, 310)[:, None]
    ranker = deep(booster, 300)
    assert_array_equal(ranker.predict(rows), np.minimum(np.arange(311), 300))
    for format in FORMATS:
        export_model(ranker, tmp_path / format, format, missing_as_zero=True)
        assert_array_equal(scores_in(tmp_path / format, format, rows, ["f0"]), ranker.predict(rows))
    for depth in (301, 2000):
        with pytest.raises(ValueError, match=f"max_depth must be at most 300 .* of {depth} levels"):
            export_model(deep(booster, depth), tmp_path / "model", "onnx")


@boosters
@pytest.mark.parametrize("format", [n for n, format in FORMATS.items() if format.missing == "zero"])
def test_missing_values_are_refused(booster: str, format: str, tmp_path: Path) -> None:
    """Where they are read as zeros."""
    with pytest.raises(ValueError, match=f"{format} reads missing values as zeros. If there are"):
        export_model(fitted_to("holes", booster), tmp_path / "model", format)


@boosters
@pytest.mark.parametrize("format", [n for n, format in FORMATS.items() if not format.categories])
def test_categories_are_refused(booster: str, format: str, tmp_path: Path) -> None:
    """Where splits are by threshold."""
    X = WHOLE.copy()
    X[:, 4] = CODES
    ranker = fitted(X, booster, categorical_feature=[4])
    with pytest.raises(ValueError, match=rf"splits by category, .*'f4'; {format} has none"):
        export_model(ranker, tmp_path / "model", format, missing_as_zero=True)


@formats
def test_other_starts_are_refused(format: str, tmp_path: Path) -> None:
    """Their scores are no sum of trees."""
    ranker = fitted(WHOLE, init=Ridge().fit(WHOLE, Y))
    with pytest.raises(ValueError, match="init must be a GBRanker for the model to be exported"):
        export_model(ranker, tmp_path / "model", format)


def test_a_start_with_other_categories_is_refused(tmp_path: Path) -> None:
    """The same code would stand for different ones."""
    texts = np.array(list("uvwxyzabc"))[CODES]
    frame = pd.DataFrame(WHOLE, columns=list("abcde")).assign(e=pd.Categorical(texts))
    start = fitted(frame.assign(e=pd.Categorical(np.where(CODES == 0, "v", texts))))
    with pytest.raises(ValueError, match="init must know the same categories"):
        export_model(fitted(frame, init=start), tmp_path / "model", "onnx")


@formats
def test_zeros_as_missing_values_are_refused(format: str, tmp_path: Path) -> None:
    """Where they are sent past the numbers next to them; elsewhere the scores are the same."""
    y = Y + 2 * (WHOLE[:, 4] == 0)
    params = {"booster_params": {"zero_as_missing": True}, "n_estimators": 10, "n_jobs": 1}
    ranker = GBRanker(**params).fit(WHOLE[:, 3:], y, qid=QID)
    with pytest.raises(ValueError, match=r"zero_as_missing it sends those of column [01] to"):
        export_model(ranker, tmp_path / "model", format)


def test_linear_leaves_are_refused(tmp_path: Path) -> None:
    """No format has them."""
    ranker = fitted(WHOLE, booster_params={"linear_tree": True}, n_estimators=3)
    with pytest.raises(ValueError, match="constants in its leaves, got the linear functions"):
        export_model(ranker, tmp_path / "model", "onnx")


def test_packages_that_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """What to install; on the command line it is one line."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "onnx"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"needs onnx.*pip install 'gbrank\[export\]'"):
        export_model(MODEL, tmp_path / "model", "onnx")
    MODEL.save(tmp_path / "ranker")
    command = ["export", "--model", str(tmp_path / "ranker"), "--output", str(tmp_path / "model")]
    assert main([*command, "--format", "onnx"]) == 1
    assert "pip install" in capsys.readouterr().err


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    """A model that is refused leaves what was there."""
    path = tmp_path / "model"
    export_model(MODEL, path, "ranklib")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="reads missing values as zeros"):
        export_model(fitted_to("holes"), path, "ranklib")
    assert path.read_bytes() == before
    assert_array_equal(sorted(tmp_path.iterdir()), [path])


# --- The page ---------------------------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "deploy.md"


@pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not beside the tests")
def test_the_page_has_all_formats() -> None:
    """With what they express."""
    text = PAGE.read_text(encoding="utf-8").partition("## The formats")[2]
    table = re.findall(r"^\| `([\w-]+)` \| (.*)$", text, re.MULTILINE)
    assert [name for name, _ in table] == list(FORMATS)
    for name, row in table:
        _, features, missing, categories, *_ = row.split(" | ")
        format = FORMATS[name]
        assert features.startswith("by name") == format.named
        assert missing.startswith("yes") == (format.missing == "own")
        assert (categories == "yes") == bool(format.categories)
