"""All ways from features to a score read the columns in the same way: compared with each other."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from gbrank import GBRanker, LinearRanker, export_model, load_ranker, make_cubic
from gbrank.data.feature_matrix import LetorArray
from gbrank.export import verify_export
from gbrank.serving import load_predictor

X, Y, QID = make_cubic(30, n_documents=10, n_features=3, random_state=0)
X = X.astype(np.float32)
PARAMS = {"n_estimators": 4, "min_child_samples": 5, "n_jobs": 1, "random_state": 0}
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
OLD = FRAME.assign(shop=pd.Categorical(rng.choice(["north", "west", "old"], 300)))
NEW = FRAME.assign(shop=pd.Categorical(rng.choice(["new", "north", "west"], 300)))
NEW = NEW[["c", "shop", "a", "b"]]
RELEVANT = np.clip(Y + (OLD["shop"] == "west"), 0, 4)


def ranker(init: Any = None, **params: Any) -> GBRanker:
    return GBRanker("ranknet", init=init, **PARAMS | params)


def one_ranker() -> tuple[Any, Any]:
    return ranker().fit(OLD, RELEVANT, qid=QID), OLD


def other_columns() -> tuple[Any, Any]:
    """Begins with a ranker of the same columns in another order, with other categories."""
    init = ranker().fit(OLD, RELEVANT, qid=QID)
    return ranker(init).fit(NEW, RELEVANT, qid=QID), NEW


def fewer_columns() -> tuple[Any, Any]:
    init = ranker().fit(OLD[["shop", "b"]], RELEVANT, qid=QID)
    middle = ranker(init, booster="xgboost").fit(NEW, RELEVANT, qid=QID)
    return ranker(middle).fit(OLD, RELEVANT, qid=QID), OLD


def letor() -> tuple[Any, Any]:
    table = X.view(LetorArray)
    return ranker(ranker().fit(X, Y, qid=QID)).fit(table, Y, qid=QID), X


def dart() -> tuple[Any, Any]:
    init = ranker(booster_params={"boosting": "dart", "drop_rate": 0.5}).fit(FRAME, Y, qid=QID)
    return ranker(init).fit(FRAME[["c", "a", "b"]], Y, qid=QID), FRAME[["c", "a", "b"]]


def pretrained() -> tuple[Any, Any]:
    options = {"verbosity": -1, "num_threads": 1}
    return ranker(lgb.train(options, lgb.Dataset(FRAME, Y), 3)).fit(FRAME, Y, qid=QID), FRAME


MODELS = [one_ranker, other_columns, fewer_columns, letor, dart, pretrained]
CHAINS = MODELS[:-1]
models = pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
chains = pytest.mark.parametrize("make", CHAINS, ids=lambda make: make.__name__)


def plain_codes(model: GBRanker, table: Any) -> Any:
    """Return numbers, and codes of categories, as the model's own booster was given them."""
    if not isinstance(table, pd.DataFrame):
        return table
    table = table[list(model.feature_names_in_)]
    for known in model._schema.categories.values():
        codes = [known.index(shop) if shop in known else np.nan for shop in table["shop"]]
        table = table.assign(shop=codes)
    return table.to_numpy(np.float64)


def by_hand(model: Any, table: Any) -> Any:
    """Return the sum of what each booster gives for its own columns, each found by name."""
    if not isinstance(model, GBRanker):
        return model.predict(table)
    own = model._model.predict(plain_codes(model, table), 1)
    return own if model.init_ is None else own + by_hand(model.init_, table)


@models
def test_prediction_is_the_sum_of_all_boosters(make: Callable[[], tuple[Any, Any]]) -> None:
    """Of a frame, of its columns in another order, and of the same values as an array."""
    model, table = make()
    expected = by_hand(model, table)
    assert len(np.unique(expected)) > 20
    assert_allclose(model.predict(table), expected, rtol=0, atol=1e-12)
    if isinstance(table, pd.DataFrame):
        assert_allclose(model.predict(table[table.columns[::-1]]), expected, rtol=0, atol=1e-12)
        kind = object if "shop" in table else np.float64
        assert_allclose(model.predict(table.to_numpy(kind)), expected, rtol=0, atol=1e-12)


@models
def test_saved_and_served(make: Callable[[], tuple[Any, Any]], tmp_path: Path) -> None:
    model, table = make()
    expected = model.predict(table)
    model.save(tmp_path)
    for way in (load_ranker(tmp_path), load_predictor(tmp_path), model.predictor()):
        assert np.array_equal(way.predict(table), expected)
    if isinstance(table, pd.DataFrame):
        documents = table.astype(object).to_dict("records")
        assert np.array_equal(model.predictor().predict(documents), expected)


@chains
def test_explanations_sum_to_scores(make: Callable[[], tuple[Any, Any]]) -> None:
    model, table = make()
    assert_allclose(model.explain(table).sum(axis=1), model.predict(table), atol=1e-5)
    if isinstance(table, pd.DataFrame):
        values = table.to_numpy(object if "shop" in table else np.float64)
        assert_allclose(model.explain(values), model.explain(table), rtol=0, atol=1e-12)


@chains
def test_training_continues_from_the_scores(make: Callable[[], tuple[Any, Any]]) -> None:
    """Trees on init= are those on its predictions as init_score=."""
    model, table = make()
    chained = ranker(model, learning_rate=0.1).fit(table, Y, qid=QID)
    scored = ranker(learning_rate=0.1).fit(table, Y, qid=QID, init_score=model.predict(table))
    added = chained.predict(table) - model.predict(table)
    assert_allclose(added, scored.predict(table), rtol=0, atol=1e-12)


@chains
@pytest.mark.parametrize("format", ["onnx", "opensearch", "vespa-lightgbm"])
def test_exported(make: Callable[[], tuple[Any, Any]], format: str, tmp_path: Path) -> None:
    """Each format gives the scores of the frame itself, or is refused before it is written."""
    if format == "onnx":
        pytest.importorskip("onnx")
    model, table = make()
    file = tmp_path / "model"
    if format == "opensearch" and model._schema.categories:
        with pytest.raises(ValueError, match="categories"):
            export_model(model, file, format)
        assert not file.exists()
        return
    export_model(model, file, format)
    assert verify_export(model, file, format, X=table).difference < 1e-5


def test_categories_in_the_file(tmp_path: Path) -> None:
    """ONNX has numbers alone: the metadata say which is which."""
    onnx = pytest.importorskip("onnx")
    model, _ = other_columns()
    export_model(model, tmp_path / "model", "onnx")
    props = {item.key: item.value for item in onnx.load(tmp_path / "model").metadata_props}
    assert json.loads(props["features"]) == ["c", "shop", "a", "b"]
    assert json.loads(props["categories"]) == {"shop": ["new", "north", "old", "west"]}


def test_scores_that_depend_on_the_list_are_not_served(tmp_path: Path) -> None:
    LinearRanker("regression", by_query=True).fit(X, Y, qid=QID).save(tmp_path)
    with pytest.raises(ValueError, match=r"path must hold a ranker that scores documents one by"):
        load_predictor(tmp_path)


def test_a_list_without_documents(tmp_path: Path) -> None:
    """A search without hits has no scores."""
    model, table = other_columns()
    linear = LinearRanker("regression").fit(X, Y, qid=QID)
    model.save(tmp_path)
    assert model.predict(table[:0]).tolist() == []
    assert linear.predict(X[:0]).tolist() == linear.predict([]).tolist() == []
    assert load_predictor(tmp_path).predict([]).tolist() == []
    assert model.rank(table[:0]).tolist() == []


def test_a_booster_that_keeps_its_categories(tmp_path: Path) -> None:
    """Every way to a score gives it the codes that it was trained on."""
    booster = lgb.train({"verbosity": -1}, lgb.Dataset(OLD, RELEVANT), 5)
    table = OLD.assign(shop=NEW["shop"])
    model = ranker(booster).fit(table, RELEVANT, qid=QID)
    expected = model.predict(table)
    model.save(tmp_path)
    for way in (load_predictor(tmp_path), model.predictor()):
        assert np.array_equal(way.predict(table), expected)
    assert_allclose(model.explain(table).sum(axis=1), expected, atol=1e-5)
    export_model(model, tmp_path / "model", "vespa-lightgbm")


def test_a_booster_that_does_not_know_the_categories_of_a_ranker(tmp_path: Path) -> None:
    """It would read codes as numbers: which columns had ordered ones, it does not say."""
    ordered = OLD.assign(shop=OLD["shop"].cat.as_ordered())
    booster = lgb.train({"verbosity": -1}, lgb.Dataset(ordered, Y), 2)
    model = ranker(booster).fit(ordered, RELEVANT, qid=QID)
    model.save(tmp_path)
    for make in (lambda: load_predictor(tmp_path), model.predictor):
        with pytest.raises(ValueError, match=r"init must have no categories of its own for a pred"):
            make()
