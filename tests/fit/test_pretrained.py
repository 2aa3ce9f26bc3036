"""Boosting from models that LightGBM and XGBoost trained."""

import pickle
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.fixes import parse_version

from gbrank import GBRanker, get_measure, load_ranker, make_cubic
from gbrank.fit.pretrained import PretrainedRanker
from plain_trees import lightgbm_valid

X, Y, QID = make_cubic(40, n_documents=12, n_features=5, random_state=0)
SIZES = [12] * 40
TRAIN, VALID = QID < 30, QID >= 30
FEW: dict[str, Any] = {"n_estimators": 30, "learning_rate": 0.5, "n_jobs": 1}


def booster_of_lightgbm() -> Any:
    """Return what `lgb.train` returns."""
    params = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1}
    return lgb.train(params, lgb.Dataset(X, Y, group=SIZES), 6)


def booster_of_xgboost() -> Any:
    """Return what `xgb.train` returns, of a base score that is not 0."""
    params = {"objective": "rank:ndcg", "base_score": 0.7, "nthread": 1}
    return xgb.train(params, xgb.DMatrix(X, Y, qid=QID), 6)


def stopped_lightgbm() -> Any:
    """Return a ranker of LightGBM that stopped early."""
    made = lgb.LGBMRanker(**FEW, verbosity=-1)
    return made.fit(
        X[TRAIN], Y[TRAIN], group=SIZES[:30], **lightgbm_valid(X[VALID], Y[VALID]),
        eval_group=[SIZES[30:]], callbacks=[lgb.early_stopping(2, verbose=False)],
    )  # fmt: skip


def stopped_xgboost() -> Any:
    """Return a ranker of XGBoost that stopped early."""
    made = xgb.XGBRanker(**FEW, early_stopping_rounds=2)
    return made.fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], Y[VALID])],
        eval_qid=[QID[VALID]], verbose=False,
    )  # fmt: skip


MODELS: dict[str, tuple[Any, Any]] = {
    "lightgbm": (booster_of_lightgbm, lambda model, data: model.predict(data)),
    "xgboost": (booster_of_xgboost, lambda model, data: model.predict(xgb.DMatrix(data))),
    "LGBMRanker": (stopped_lightgbm, lambda model, data: model.predict(data)),
    "XGBRanker": (stopped_xgboost, lambda model, data: model.predict(data)),
}
models = pytest.mark.parametrize("name", MODELS)


def ranker(**params: Any) -> GBRanker:
    """Return a small ranker."""
    return GBRanker(n_estimators=5, num_leaves=6, n_jobs=1, random_state=0, **params)


@models
@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_trees_add_to_its_scores(name: str, booster: str, tmp_path: Path) -> None:
    """As from init_score; the model is part of the ranker, of its file too."""
    make, predict = MODELS[name]
    model = make()
    scores = predict(model, X)
    made = ranker(init=model, booster=booster).fit(X, Y, qid=QID)
    rest = ranker(booster=booster).fit(X, Y, qid=QID, init_score=scores)
    assert_allclose(made.init_.predict(X), scores, rtol=1e-6)
    assert_allclose(made.predict(X), rest.predict(X) + scores, rtol=1e-5)
    made.save(tmp_path)
    for again in (load_ranker(tmp_path), pickle.loads(pickle.dumps(made))):
        assert_array_equal(again.predict(X), made.predict(X))
    assert isinstance(load_ranker(tmp_path).init_, PretrainedRanker)


@pytest.mark.parametrize("name", ["model.txt", "model.json", "model.ubj"])
def test_a_file_is_the_booster_that_wrote_it(name: str, tmp_path: Path) -> None:
    """A text or a path; other files are refused."""
    booster = booster_of_lightgbm() if name.endswith("txt") else booster_of_xgboost()
    booster.save_model(tmp_path / name)
    expected = ranker(init=booster).fit(X, Y, qid=QID).predict(X)
    for path in (tmp_path / name, str(tmp_path / name)):
        assert_array_equal(ranker(init=path).fit(X, Y, qid=QID).predict(X), expected)
    (tmp_path / "other.txt").write_text("1 qid:1 1:0.5\n")
    with pytest.raises(ValueError, match=r"init must be .* or XGBoost trained, or its file"):
        ranker(init=tmp_path / "other.txt").fit(X, Y, qid=QID)


@pytest.mark.parametrize("make", [booster_of_lightgbm, booster_of_xgboost])
def test_clones_keep_boosters(make: Any) -> None:
    """As cross-validation clones; a fitted estimator's clone is no longer fitted."""
    made = ranker(init=make())
    assert_array_equal(
        clone(made).fit(X, Y, qid=QID).predict(X), made.fit(X, Y, qid=QID).predict(X)
    )
    assert clone(made.init_) is made.init_ is made.init_.fit(X, Y)
    for fitted in (stopped_lightgbm(), stopped_xgboost()):
        with pytest.raises(TypeError, match=r"(?s)init must be .*pass a folder or a booster"):
            clone(ranker(init=fitted)).fit(X, Y, qid=QID)


@pytest.mark.parametrize("make", [booster_of_lightgbm, booster_of_xgboost])
def test_tables_of_all_kinds(make: Any) -> None:
    """The same scores, and held-out queries too."""
    start = PretrainedRanker(make())
    names = [f"Column_{i}" for i in range(5)]
    tables = [X.tolist(), sp.csr_matrix(X), pd.DataFrame(X, columns=names)]
    tables.append(pl.DataFrame({name: X[:, i] for i, name in enumerate(names)}))
    if isinstance(start.booster, xgb.Booster):
        tables[2].columns = [f"f{i}" for i in range(5)]
        tables[1] = sp.csr_matrix(X)
    for table in tables:
        assert_allclose(start.predict(table), start.predict(X), rtol=1e-6)
    held_out = ranker(init=make(), validation_fraction=0.3, early_stopping_rounds=2)
    fitted = held_out.fit(tables[3], Y, qid=QID)
    assert fitted.best_score_ == max(fitted.evals_result_["valid_0"]["ndcg@10"])


def test_categories_are_read_by_the_booster(tmp_path: Path) -> None:
    """In its own codes, whatever the order of the categories in the table, and after loading."""
    colour = np.array(["red", "green", "blue"])[(Y % 3).astype(int)]
    table = pd.DataFrame({"a": X[:, 0], "colour": pd.Categorical(colour)})
    model = lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1).fit(table, Y, group=SIZES)
    made = ranker(init=model).fit(table, Y, qid=QID)
    turned = table.assign(colour=table["colour"].cat.reorder_categories(["red", "green", "blue"]))
    assert_array_equal(made.predict(turned), made.predict(table))
    made.save(tmp_path)
    assert_array_equal(load_ranker(tmp_path).predict(table), made.predict(table))
    newer = xgb.XGBRanker(n_estimators=5, n_jobs=1, enable_categorical=True)
    starts = [made.init_]
    if parse_version(xgb.__version__) >= parse_version("3.1"):  # which keeps the categories
        starts.append(PretrainedRanker(newer.fit(table, Y, qid=QID)))
    texts = table.assign(colour=colour)
    for start in starts:
        for kept in (
            texts,  # as the command line reads CSV
            *(pa.Table.from_pandas(frame, preserve_index=False) for frame in (turned, texts)),
            pl.DataFrame({"a": X[:, 0], "colour": colour}),
            pl.DataFrame({"a": X[:, 0], "colour": colour}).cast({"colour": pl.Categorical}),
        ):
            assert_array_equal(start.predict(kept), start.predict(table))
    ordered = table.assign(colour=table["colour"].cat.as_ordered())
    unknown = lgb.LGBMRanker(n_estimators=5, verbosity=-1, n_jobs=1).fit(ordered, Y, group=SIZES)
    with pytest.raises(ValueError, match=r"frame of pandas.*got texts"):
        PretrainedRanker(unknown).predict(texts)


@models
def test_a_saved_start_is_a_ranker(name: str, tmp_path: Path) -> None:
    """It knows its columns, can be scored, and be judged by another label."""
    make, _ = MODELS[name]
    made = ranker(init=make()).fit(X, Y, qid=QID)
    made.init_.save(tmp_path)
    again = load_ranker(tmp_path)
    assert (again._schema.n_features, again._schema.names) == (5, None)
    wanted = get_measure("ndcg@10")(Y, again.predict(X), qid=QID)
    assert again.score(X, Y, QID) == wanted
    again.set_params(eval_metric="ndcg@10[other]")
    assert again.score(X, 0 * Y, QID, labels={"other": Y}) == wanted


def test_columns_of_a_frame() -> None:
    """Are those that the booster names."""
    frame = pd.DataFrame(X, columns=list("abcde"))
    for booster in (
        lgb.train({"verbosity": -1, "num_threads": 1}, lgb.Dataset(frame, Y), 2),
        xgb.train({"nthread": 1}, xgb.DMatrix(frame, Y), 2),
    ):
        assert PretrainedRanker(booster)._schema.names == list("abcde")
