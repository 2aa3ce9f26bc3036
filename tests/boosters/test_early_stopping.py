"""Early stopping in people's own training calls: by stages, as GBRanker stops."""

import warnings
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_array_equal
from sklearn.model_selection import GroupKFold

from gbrank import GBRanker, lightgbm_feval, lightgbm_fobj, make_cubic, xgboost_feval, xgboost_obj

X, Y, QID = make_cubic(60, n_documents=15, n_features=6, random_state=0)
TRAIN = QID < 40
ROUNDS, PATIENCE = 120, 8
ANNEALED = ("approx:ndcg",)


def by_lightgbm(fobj: lightgbm_fobj, callback: Any, order: int = 1) -> lgb.Booster:
    """Train with a callback; the training data are among the sets."""
    sizes = [15] * 40
    data = lgb.Dataset(X[TRAIN], Y[TRAIN], group=sizes)
    valid = lgb.Dataset(X[~TRAIN], Y[~TRAIN], group=[15] * 20, reference=data)
    params = {
        "objective": fobj, "metric": "none", "learning_rate": 0.2, "num_leaves": 31,
        "lambda_l2": 1.0, "min_data_in_leaf": 20, "boost_from_average": False, "verbosity": -1,
        "num_threads": 1, "deterministic": True, "force_col_wise": True,
    }  # fmt: skip
    return lgb.train(
        params, data, ROUNDS, valid_sets=[data, valid][::order],
        feval=lightgbm_feval("ndcg@10", "map"), callbacks=[callback],
    )  # fmt: skip


def by_xgboost(obj: xgboost_obj, **stopping: Any) -> xgb.Booster:
    """Train with early stopping."""
    data, valid = (xgb.DMatrix(X[part], Y[part], qid=QID[part]) for part in (TRAIN, ~TRAIN))
    params = {"base_score": 0, "eta": 0.2, "nthread": 1, "disable_default_eval_metric": True}
    return xgb.train(
        params, data, ROUNDS, obj=obj, evals=[(data, "train"), (valid, "valid")],
        custom_metric=xgboost_feval("ndcg@10"), maximize=True, verbose_eval=False, **stopping,
    )  # fmt: skip


def messages(call: Any) -> tuple[Any, list[str]]:
    """Return what a call returns, and its warnings of stages."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, [str(each.message) for each in caught if "RankNet" in str(each.message)]


@pytest.mark.parametrize("name", [*ANNEALED, "ranknet"])
def test_lightgbm_stops_as_the_ranker_does(name: str) -> None:
    """It keeps the same rounds, with the same bits; the order of sets does not matter."""
    fobj = lightgbm_fobj(name, rounds=ROUNDS)
    ranker = GBRanker(
        name, n_estimators=ROUNDS, learning_rate=0.2, num_leaves=31, min_child_samples=20,
        reg_lambda=1.0, colsample=1.0, extra_trees=False, n_jobs=1, eval_metric="ndcg@10",
        early_stopping_rounds=PATIENCE,
    )  # fmt: skip
    ranker.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[~TRAIN], Y[~TRAIN])],
               eval_qid=[QID[~TRAIN]])  # fmt: skip
    callback = fobj.early_stopping(PATIENCE)
    for order in (1, -1):  # a second training with the same hook and callback begins anew
        booster = by_lightgbm(fobj, callback, order)
        assert booster.best_iteration == ranker.best_iteration_
        assert fobj.sigmas.tolist() == ranker.sigmas_.tolist()
        assert_array_equal(booster.predict(X), ranker.predict(X))
    if name != "ranknet":
        assert PATIENCE < fobj.current_plan.begin < ROUNDS // 2  # it ended the start


@pytest.mark.parametrize("name", ANNEALED)
def test_xgboost_stops_by_stages(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """RankNet ends where it stops rising, and then the objective has as many rounds."""
    alone = xgboost_obj("ranknet")
    by_xgboost(alone, callbacks=[alone.early_stopping(PATIENCE)])
    obj = xgboost_obj(name, rounds=ROUNDS)
    booster = by_xgboost(obj, callbacks=[obj.early_stopping(PATIENCE)])
    assert obj.current_plan.begin == len(alone.sigmas) < ROUNDS // 2
    assert obj.current_plan.begin + PATIENCE <= len(obj.sigmas) <= 2 * obj.current_plan.begin
    assert booster.num_boosted_rounds() == booster.best_iteration + 1
    said = capsys.readouterr().out.splitlines()[-1]
    kept = booster.num_boosted_rounds()
    assert said.startswith(f"The model keeps {kept} of {len(obj.sigmas)} rounds: ")
    assert said.endswith(f"{max(0, kept - obj.current_plan.begin)} of {name}.")


def test_a_model_of_the_start_alone_is_warned_of() -> None:
    """By hooks and by the ranker, whoever ended it."""
    fobj = lightgbm_fobj("approx:ndcg", rounds=ROUNDS)
    callback = fobj.early_stopping(PATIENCE, verbose=False)
    booster, said = messages(lambda: by_lightgbm(fobj, callback))
    kept, begin = booster.best_iteration, fobj.current_plan.begin
    assert kept <= begin
    (message,) = said
    assert message.startswith(f"the model keeps {kept} of {len(fobj.sigmas)} rounds, which all")
    assert message.endswith(f"trained RankNet: approx:ndcg begins in round {begin + 1}.")
    ranker = GBRanker("approx:ndcg", n_estimators=10)
    for last, n in ((4, 1), (5, 0)):
        ended = {"callbacks": [lambda round, last=last: round.number == last]}
        assert len(messages(lambda more=ended: ranker.fit(X, Y, qid=QID, **more))[1]) == n


def test_cross_validation_stops_by_stages() -> None:
    """All folds begin the objective in the same round."""
    fobj = lightgbm_fobj("approx:ndcg", rounds=ROUNDS)
    params: dict[str, Any] = {"objective": fobj, "metric": "none", "verbosity": -1,
                              "learning_rate": 0.2, "num_threads": 1}  # fmt: skip
    folds = list(GroupKFold(3).split(X, groups=QID))
    history = lgb.cv(
        params, lgb.Dataset(X, Y, group=[15] * 60), ROUNDS, folds=folds, eval_train_metric=True,
        feval=lightgbm_feval("ndcg@10"), callbacks=[fobj.early_stopping(PATIENCE)],
    )  # fmt: skip
    curve = history["valid ndcg@10-mean"]
    assert PATIENCE < fobj.current_plan.begin < ROUNDS // 2
    assert len(curve) == 1 + np.argmax(curve) <= len(fobj.sigmas) <= 2 * fobj.current_plan.begin
    obj = xgboost_obj("approx:ndcg", rounds=ROUNDS)
    xgb.cv(
        {"base_score": 0, "eta": 0.2, "nthread": 1, "disable_default_eval_metric": True},
        xgb.DMatrix(X, Y, qid=QID), ROUNDS, nfold=3, obj=obj, callbacks=[obj.early_stopping(8)],
        custom_metric=xgboost_feval("ndcg@10"), as_pandas=False,
    )  # fmt: skip
    assert PATIENCE < obj.current_plan.begin < ROUNDS // 2


@pytest.mark.parametrize(
    ("curve", "best"), [([3.0, 1.0, 2.0, 2.0, 0.0], 2), ([np.nan] * 4, 1), ([np.inf] * 4, 1)]
)
def test_a_metric_of_which_less_is_better(curve: list[float], best: int) -> None:
    """The round with its smallest value is the best one, or the first; patience begins there."""
    fobj, values = lightgbm_fobj("ranknet"), iter(curve)
    data = lgb.Dataset(X, Y, group=[15] * 60, free_raw_data=False)
    params: dict[str, Any] = {"objective": fobj, "metric": "none", "verbosity": -1}
    record: dict[str, Any] = {}
    booster = lgb.train(
        params, data, 5, valid_sets=[data.create_valid(X, Y, group=[15] * 60)],
        feval=lambda *_: ("loss", next(values), False),
        callbacks=[fobj.early_stopping(2, verbose=False), lgb.record_evaluation(record)],
    )  # fmt: skip
    assert booster.best_iteration == best
    assert len(record["valid_0"]["loss"]) == len(curve) - 1  # the last round, too
    assert len([*values]) == 1  # which nobody came to
