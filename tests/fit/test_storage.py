"""Saved models: the same bits after loading, data only, and nothing damaged is loaded."""

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xgboost as xgb
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from gbrank import (
    AP,
    NDCG,
    GBRanker,
    LambdaRank,
    get_measure,
    get_objective,
    load_ranker,
    make_cubic,
)
from gbrank.extend import custom_objective
from gbrank.fit.storage import write_saved
from gbrank.objectives.objective_registry import OBJECTIVES
from gbrank.schedules import as_schedule, constant, geometric, join

Vector = NDArray[np.float64]

X, Y, QID = make_cubic(30, n_documents=10, n_features=4, random_state=0)
FRAME = pd.DataFrame(
    {
        "größe: [cm]": X[:, 0],
        "word": pd.Categorical(np.array(["ä", "b", '"c"'])[np.arange(300) % 3]),
        "number": pd.Categorical(np.array([7, 3, 12])[np.arange(300) // 7 % 3]),
        "flag": X[:, 3] > 0,
    }
)
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
inputs = pytest.mark.parametrize("rows", [X, FRAME], ids=["array", "frame"])


def make(booster: str = "lightgbm", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {"n_estimators": 8, "random_state": 0, "n_jobs": 1, "min_child_samples": 5}
    return GBRanker(booster=booster, **{**defaults, **params})


def regression(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return the derivatives of half the squared error."""
    return 0.0, scores - labels, np.ones_like(scores)


@pytest.fixture(params=["lightgbm", "xgboost"])
def saved(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of a saved model."""
    folder = tmp_path / "model"
    make(request.param).fit(FRAME, Y, qid=QID).save(folder)
    return folder


@boosters
@inputs
def test_the_same_ranker(booster: str, rows: Any, tmp_path: Path) -> None:
    """Bits of predictions, and everything else that a fitted ranker has."""
    ranker = make(booster, sigma=geometric(2, 0.5), eval_metric=["ndcg@5", "map"],
                  early_stopping_rounds=3)  # fmt: skip
    ranker.fit(rows, Y, qid=QID, eval_set=[(rows[::-1], Y)], eval_qid=[QID])
    ranker.save(tmp_path / "deep" / "folder")
    loaded = GBRanker.load(str(tmp_path / "deep" / "folder"))
    assert_array_equal(loaded.predict(rows), ranker.predict(rows))
    assert_array_equal(loaded.rank(rows, QID), ranker.rank(rows, QID))
    assert loaded.score(rows, Y, QID) == ranker.score(rows, Y, QID)
    assert_array_equal(loaded.sigmas_, ranker.sigmas_)
    assert_array_equal(loaded.feature_importances_, ranker.feature_importances_)
    for name in ("best_iteration_", "best_score_", "evals_result_", "n_features_in_"):
        assert getattr(loaded, name) == getattr(ranker, name)
    assert hasattr(loaded, "feature_names_in_") == isinstance(rows, pd.DataFrame)
    again = tmp_path / "again"
    loaded.save(again)
    assert_array_equal(GBRanker.load(again).predict(rows), ranker.predict(rows))


def test_parameters_come_back(tmp_path: Path) -> None:
    """Objectives, measures and schedules as strings that mean the same; a new fit is the same."""
    schedule = join([constant(1), geometric(2, 0.5)], [3])
    ranker = make(
        objective=LambdaRank(AP(k=5), truncation=7, normalize="lightgbm"), sigma=schedule,
        eval_metric=NDCG(k=3, gain="linear", ties="pessimistic"), max_depth=np.int64(4),
        booster_params={"max_bin": 63, "monotone_constraints": [1, 0, 0, 0]},
    )  # fmt: skip
    ranker.fit(X, Y, qid=QID).save(tmp_path)
    loaded = GBRanker.load(tmp_path)
    assert get_objective(loaded.objective) == ranker.objective
    assert as_schedule(loaded.sigma) == schedule
    assert get_measure(loaded.eval_metric) == ranker.eval_metric
    others = set(ranker.get_params()) - {"objective", "sigma", "eval_metric"}
    assert {name: getattr(loaded, name) for name in others} == {
        name: getattr(ranker, name) for name in others
    }
    assert_array_equal(loaded.fit(X, Y, qid=QID).predict(X), ranker.predict(X))


@boosters
def test_columns_are_still_checked(booster: str, tmp_path: Path) -> None:
    """The loaded ranker reads frames of any library by column name, and refuses other columns."""
    ranker = make(booster).fit(FRAME, Y, qid=QID)
    ranker.save(tmp_path)
    loaded = GBRanker.load(tmp_path)
    other = pl.DataFrame({name: FRAME[name].tolist() for name in FRAME})
    assert_array_equal(loaded.predict(other), ranker.predict(FRAME))
    assert_array_equal(loaded.predict(FRAME[FRAME.columns[::-1]]), ranker.predict(FRAME))
    with pytest.raises(ValueError, match="X must have the columns of fit, in any order: it lacks"):
        loaded.predict(FRAME[FRAME.columns[1:]])


@boosters
def test_boosters_read_their_part(booster: str, tmp_path: Path) -> None:
    """Without gbrank."""
    ranker = make(booster).fit(X, Y, qid=QID)
    ranker.save(tmp_path)
    text = json.loads((tmp_path / "gbrank.json").read_text(encoding="utf-8"))["model"]
    if booster == "lightgbm":
        scores = lgb.Booster(model_str=text).predict(X)
    else:
        native = xgb.Booster(model_file=bytearray(text.encode()))
        scores = native.predict(xgb.DMatrix(X), output_margin=True)
    assert_array_equal(scores, ranker.predict(X))


def test_a_model_is_data_only(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One JSON file; loading never unpickles."""
    assert [path.name for path in saved.iterdir()] == ["gbrank.json"]
    json.loads((saved / "gbrank.json").read_text(encoding="utf-8"))

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    GBRanker.load(saved).predict(FRAME)


@boosters
def test_pickle(booster: str) -> None:
    """For joblib and Dask: the same bits too."""
    ranker = make(booster).fit(FRAME, Y, qid=QID)
    again = pickle.loads(pickle.dumps(ranker))
    assert_array_equal(again.predict(FRAME), ranker.predict(FRAME))


@boosters
@pytest.mark.parametrize("named", [True, False])
def test_prediction_needs_no_objective(booster: str, named: bool, tmp_path: Path) -> None:
    """A function is not saved: the model predicts, and says what is missing when fitted again."""
    with patch.dict(OBJECTIVES):
        objective = custom_objective(regression, name="mine_alone") if named else regression
        ranker = make(booster, objective=objective, sigma=lambda round, rounds: 1.0 + round)
        ranker.fit(X, Y, qid=QID).save(tmp_path)
    loaded = GBRanker.load(tmp_path)
    assert_array_equal(loaded.predict(X), ranker.predict(X))
    assert loaded.score(X, Y, QID) == ranker.score(X, Y, QID)
    with pytest.raises(ValueError, match="mine_alone" if named else "regression"):
        loaded.fit(X, Y, qid=QID)


def test_a_file_that_is_cut_short_or_changed(saved: Path) -> None:
    """Anywhere, by one bit."""
    path = saved / "gbrank.json"
    content = path.read_bytes()
    for place in range(0, len(content), len(content) // 50):
        changed = bytes([content[place] ^ 1])
        for damaged in (content[:place], content[:place] + changed + content[place + 1 :]):
            path.write_bytes(damaged)
            with pytest.raises(ValueError, match=r"gbrank\.json (is damaged|has format)"):
                GBRanker.load(saved)


def test_a_failed_save_leaves_the_earlier_model(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full: what was there can still be loaded, and no scrap is left."""
    before, names = GBRanker.load(saved).predict(FRAME), {path.name for path in saved.iterdir()}

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        make(n_estimators=2).fit(X, Y, qid=QID).save(saved)
    assert {path.name for path in saved.iterdir()} == names
    assert_array_equal(GBRanker.load(saved).predict(FRAME), before)


def test_a_long_chain(tmp_path: Path) -> None:
    """Of rankers that each began from the one before, week after week."""
    ranker = make(n_estimators=1).fit(X, Y, qid=QID)
    for _ in range(200):
        more = copy.copy(ranker)
        more.init = ranker
        more._publish(replace(ranker._fitted, init=ranker))
        ranker = more
    ranker.save(tmp_path)
    assert_array_equal(GBRanker.load(tmp_path).predict(X), ranker.predict(X))


class Own(GBRanker):
    """A class of a user's."""


def test_what_a_model_boosts_from_is_saved_if_it_can_be_loaded(tmp_path: Path) -> None:
    """A ranker of a user's class is saved and loaded by itself, and not inside another one."""
    own = Own("ranknet", n_estimators=2, n_jobs=1, random_state=0).fit(FRAME, Y, qid=QID)
    own.save(tmp_path / "own")
    assert_array_equal(Own.load(tmp_path / "own").predict(FRAME), own.predict(FRAME))
    above = GBRanker("ranknet", init=own, n_estimators=2)
    with pytest.raises(TypeError, match="init must be of a class of gbrank: custom ranker"):
        above.fit(FRAME, Y, qid=QID).save(tmp_path / "above")
    assert not (tmp_path / "above").exists()


def test_a_ranker_of_dask_inside_another_one(tmp_path: Path) -> None:
    """Is loaded as a GBRanker."""
    pytest.importorskip("distributed")
    from gbrank.distributed import DaskGBRanker

    on_dask = DaskGBRanker("ranknet", n_estimators=2, n_jobs=1, random_state=0)
    on_dask._published = make().fit(FRAME, Y, qid=QID)._published
    above = GBRanker("ranknet", init=on_dask, n_estimators=2, n_jobs=1).fit(FRAME, Y, qid=QID)
    above.save(tmp_path)
    loaded = GBRanker.load(tmp_path)
    assert type(loaded.init_) is GBRanker
    assert_array_equal(loaded.predict(FRAME), above.predict(FRAME))


def test_a_model_of_another_version_says_what_to_do(tmp_path: Path) -> None:
    """Its parameters had other names."""
    saved = {**make().fit(X, Y, qid=QID)._to_saved(), "gbrank": "0.0.1"}
    saved["params"]["old_name"] = 1
    write_saved(tmp_path, saved)
    match = r"another version of gbrank, 0\.0\.1: unknown parameter.* 'old_name'\. Train the ranker"
    with pytest.raises(ValueError, match=match):
        load_ranker(tmp_path)


def test_a_model_of_another_format_says_what_to_do(tmp_path: Path) -> None:
    """Nothing in it is read."""
    (tmp_path / "gbrank.json").write_text('{"format": 2}')
    with pytest.raises(ValueError, match=r"has format 2.*\. Train the ranker again, or load it"):
        load_ranker(tmp_path)
