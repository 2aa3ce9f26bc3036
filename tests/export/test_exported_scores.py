"""Exported models: read back by other libraries, or by engines as their sources say."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import treelite
from numpy.testing import assert_allclose, assert_array_equal

from engines import ENGINES
from exported_models import (
    CODES,
    HOLES,
    QID,
    WHOLE,
    N,
    assert_same,
    boosters,
    exported,
    expresses_categories,
    fitted,
    fitted_to,
    formats,
    names_in,
)
from gbrank import GBRanker, export_model
from gbrank.boosters.tree import Leaf, Membership, Threshold, Tree
from gbrank.commands.cli import main
from gbrank.export.forest import Forest
from gbrank.export.formats import FORMATS
from gbrank.export.onnx import prepare_onnx, write_onnx
from gbrank.export.vespa import prepare_vespa, write_vespa


@boosters
@formats
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
    "forests": ("xgboost", {"booster_params": {"num_parallel_tree": 3}, "colsample": 0.5}),
    "all thresholds": ("lightgbm", {"extra_trees": False}),
    "a start": ("lightgbm", {"objective": "smooth:ndcg", "init": "regression"}),
    "another start": ("xgboost", {"objective": "smooth:ndcg", "init": "regression"}),
    "two boosters": ("xgboost", {"init": "fitted"}),
    "deep trees": ("xgboost", {"num_leaves": 60, "min_child_samples": 1}),
    "stumps": ("lightgbm", {"num_leaves": 2}),
}


# Each kind in one format; the others are slow.
KINDS_IN_FORMATS = [
    pytest.param(kind, format, marks=[pytest.mark.slow] if (place - other) % len(FORMATS) else [])
    for place, kind in enumerate(KINDS)
    for other, format in enumerate(FORMATS)
]


@pytest.mark.parametrize(("kind", "format"), KINDS_IN_FORMATS)
def test_every_kind_of_model(format: str, kind: str, tmp_path: Path) -> None:
    """Weights of trees, and the trees of the start."""
    booster, params = KINDS[kind]
    if params.get("init") == "fitted":
        params = params | {"init": fitted(WHOLE)}
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
        return tree

    kinds = [split(), split(right=split()), split(left=split()), split(split(), split())]
    rows = np.random.default_rng(1).normal(size=(100, 1)).astype(np.float32)
    for trees in itertools.product(kinds, repeat=2):
        forest = prepare_onnx(Forest("", ["a"], list(trees), {}))
        roots = [
            (isinstance(tree.left, Leaf), isinstance(tree.right, Leaf)) for tree in forest.trees
        ]
        assert (True, False) not in roots  # which ONNX Runtime 1.21 misreads
        session = onnxruntime.InferenceSession(write_onnx(forest))
        (scores,) = session.run(["score"], {"features": rows})
        expected = [sum(value(tree, x) for tree in trees) for (x,) in rows.tolist()]
        assert_array_equal(scores[:, 0], expected)


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
        content = write_vespa(prepare_vespa(Forest("m", ["a"], [tree], {0: ["u", "v"]})))
        read = ENGINES["vespa-lightgbm"](content, ["a"])
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
def test_treelite_loads_the_boosters_own_file(booster: str, tmp_path: Path) -> None:
    """So that gbrank needs no writer for it."""
    ranker = fitted_to("holes", booster)
    file = tmp_path / ("model.txt" if booster == "lightgbm" else "model.json")
    ranker.booster_.save_model(file)
    model = getattr(treelite.frontend, f"load_{booster}_model")(file)
    scores = treelite.gtil.predict(model, HOLES, pred_margin=True).ravel()
    assert_allclose(scores, ranker.predict(HOLES), atol=1e-5)


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
