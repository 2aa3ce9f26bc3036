"""GBRanker: a scikit-learn estimator over both boosters."""

import warnings
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb
from numpy.testing import assert_array_equal

from gbrank import NDCG, lightgbm_fobj, xgboost_obj
from gbrank.common.checks import Vector
from gbrank.data.feature_matrix import LetorArray
from gbrank.schedules import geometric
from small_fits import HELD_OUT, QID, QID_ALL, VALID, X_ALL, X, Y, boosters, fit, make, regression


@boosters
@pytest.mark.parametrize("objective", ["noisy:ndcg", regression])
def test_learning(booster: str, objective: Any) -> None:
    """Unseen queries are ranked better than by chance; score is the first measure."""
    ranker = fit(booster, objective, n_estimators=40, eval_metric=["ndcg@5", "map"])
    scores = ranker.predict(HELD_OUT[0])
    assert ranker.score(*HELD_OUT) == NDCG(k=5)(HELD_OUT[1], scores, qid=HELD_OUT[2])
    assert ranker.score(*HELD_OUT) > 0.65 > 0.45 > NDCG(k=5)(*HELD_OUT[1:], qid=HELD_OUT[2] * 0)
    assert ranker.best_iteration_ == 40
    assert np.isnan(ranker.best_score_)
    assert ranker.evals_result_ == {}


def test_lightgbm_alone() -> None:
    """The ranker is lgb.train with the hook and the same parameters, bit for bit."""
    options = {"learning_rate": 0.2, "num_leaves": 8, "min_data_in_leaf": 5, "lambda_l2": 0.3,
               "max_depth": 4, "num_threads": 1, "deterministic": True, "force_col_wise": True,
               "verbosity": -1}  # fmt: skip
    hook = lightgbm_fobj("lambda:ndcg@5", geometric(2, 1), rounds=10)
    booster = lgb.train({**options, "objective": hook}, lgb.Dataset(X, Y, group=[15] * 40), 10)
    ranker = fit("lightgbm", "lambda:ndcg@5", learning_rate=0.2, num_leaves=8, min_child_samples=5,
                 reg_lambda=0.3, max_depth=4, sigma=geometric(2, 1))  # fmt: skip
    assert_array_equal(ranker.predict(X), booster.predict(X))
    assert ranker.sigmas_.tolist() == hook.sigmas.tolist()


def test_xgboost_alone() -> None:
    """The ranker is xgb.train with the hook and the same parameters, bit for bit."""
    options = {"eta": 0.2, "max_leaves": 8, "min_child_weight": 5, "lambda": 0.3, "max_depth": 4,
               "grow_policy": "lossguide", "base_score": 0, "nthread": 1}  # fmt: skip
    hook, data = (
        xgboost_obj("lambda:ndcg@5", geometric(2, 1), rounds=10),
        xgb.DMatrix(X, Y, qid=QID),
    )
    booster = xgb.train(options, data, 10, obj=hook)
    ranker = fit("xgboost", "lambda:ndcg@5", learning_rate=0.2, num_leaves=8, min_child_samples=5,
                 reg_lambda=0.3, max_depth=4, sigma=geometric(2, 1))  # fmt: skip
    assert_array_equal(ranker.predict(X), booster.predict(data))
    assert ranker.sigmas_.tolist() == hook.sigmas.tolist()


def test_rank() -> None:
    """Positions from 1 within each query, wherever its rows stand; ties by row."""
    ranker, order = fit(), np.random.default_rng(0).permutation(len(X_ALL))
    rows, qid = X_ALL[order], np.array([f"q{i}" for i in QID_ALL[order]])
    rows[:2], qid[:2] = rows[0], qid[0]
    scores, ranks = ranker.predict(rows), ranker.rank(rows, qid)
    assert ranks[1] == ranks[0] + 1
    for item in np.unique(qid):
        own = np.flatnonzero(qid == item)
        assert ranks[own].tolist() == (1 + np.argsort(np.lexsort((own, -scores[own])))).tolist()
    assert sorted(ranker.rank(rows)) == list(range(1, len(rows) + 1))
    assert_array_equal(ranker.rank(X, group=[15] * 40), ranker.rank(X, QID))


DART = {
    "lightgbm": {"boosting": "dart", "drop_rate": 0.5, "skip_drop": 0.0},
    "xgboost": {"booster": "dart", "rate_drop": 0.5, "skip_drop": 0.0},
}


@boosters
def test_dart(booster: str) -> None:
    """What is measured is the model; later rounds change earlier trees, so it cannot be cut."""
    ranker = make(booster, booster_params=DART[booster]).fit(X, Y, qid=QID, **VALID)
    value = ranker.score(*HELD_OUT)
    assert ranker.evals_result_["valid_0"]["ndcg@10"][-1] == pytest.approx(value, abs=1e-6)
    assert (ranker.predict(X) != fit(booster).predict(X)).any()
    with pytest.raises(ValueError, match="dart"):
        make(booster, booster_params=DART[booster], early_stopping_rounds=2).fit(
            X, Y, qid=QID, **VALID
        )


@boosters
def test_constraints_by_name(booster: str) -> None:
    """A mapping of columns to signs, and groups of columns that may interact."""
    features = pd.DataFrame(X, columns=list("abcdef"))
    letor = X.view(LetorArray)
    for name, by_place, by_name, of_letor in (
        ("monotone_constraints", [1, 0, -1, 0, 0, 0], {"c": -1, "a": 1}, {"f3": -1, "f1": 1}),
        ("interaction_constraints", [[0, 1], [2]], [["a", "b"], ["c"]], [["f1", "f2"], ["f3"]]),
    ):
        expected = make(booster, booster_params={name: by_place}).fit(X, Y, qid=QID)
        for table, named in ((features, by_name), (letor, of_letor)):
            ranker = make(booster, booster_params={name: named}).fit(table, Y, qid=QID)
            assert_array_equal(ranker.predict(table), expected.predict(X))
        assert (expected.predict(X) != fit(booster).predict(X)).any()


@boosters
def test_interruption_keeps_the_rounds(booster: str) -> None:
    """Ctrl-C in round 4: the model of 4 rounds, with a warning; in round 0, nothing."""
    limit = 4

    def interrupted(s: Vector, y: Vector, sigma: float) -> Any:
        if sigma > limit:
            raise KeyboardInterrupt
        return regression(s, y, sigma)

    rounds = {"sigma": lambda round, rounds: round + 1.0}
    with pytest.warns(UserWarning, match="4 of 10 rounds"):
        ranker = make(booster, interrupted, **rounds).fit(X, Y, qid=QID, **VALID)
    assert ranker.best_iteration_ == len(ranker.evals_result_["valid_0"]["ndcg@10"]) == 4
    assert_array_equal(ranker.predict(X), fit(booster, regression, n_estimators=4).predict(X))
    limit = 0
    with pytest.raises(KeyboardInterrupt):
        make(booster, interrupted, **rounds).fit(X, Y, qid=QID)


@boosters
def test_output(booster: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is printed unless asked for; then a bar on stderr, and training measures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet = make(booster, early_stopping_rounds="auto").fit(X, Y, qid=QID, **VALID)
    assert capfd.readouterr() == ("", "")
    assert "train" not in quiet.evals_result_
    ranker = make(booster, verbose=1, sigma=geometric(1, 0.125)).fit(X, Y, qid=QID, **VALID)
    out, err = capfd.readouterr()
    assert out == ""
    for text in ("10/10", "sigma=0.125", "train ndcg@10=", "valid_0 ndcg@10="):
        assert text in err
    curve = ranker.evals_result_["train"]["ndcg@10"]
    assert len(curve) == 10
    assert curve[-1] == pytest.approx(ranker.score(X, Y, QID), abs=1e-12)


@boosters
def test_fit_again_forgets(booster: str) -> None:
    """Nothing of an earlier fit stays; a fit that fails changes nothing."""
    ranker = make(booster).fit(pd.DataFrame({"a": X[:, 0]}), Y, qid=QID, **{
        "eval_set": [(pd.DataFrame({"a": X[:, 0]}), Y)], "eval_qid": [QID]})  # fmt: skip
    ranker.fit(X, Y, qid=QID)
    assert not hasattr(ranker, "feature_names_in_")
    assert ranker.evals_result_ == {}
    with pytest.raises(ValueError, match="y must be at least 0"):
        ranker.fit(X[:, :2], -Y, qid=QID)
    assert_array_equal(ranker.predict(X), fit(booster).predict(X))
