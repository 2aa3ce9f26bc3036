"""Early stopping of whole fits: what "auto" stands for, and what is too short."""

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic

X, Y, QID = make_cubic(40, n_documents=10, n_features=5, random_state=0)
HELD_OUT = make_cubic(20, n_documents=10, n_features=5, random_state=1)
VALID: dict[str, Any] = {"eval_set": [HELD_OUT[:2]], "eval_qid": [HELD_OUT[2]]}
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def kept(curve: list[float], rounds: int) -> int:
    """Return the round with the best mean of the last rounds, by the definition."""
    means = [np.mean(curve[max(0, end - rounds) : end]) for end in range(1, len(curve) + 1)]
    return int(np.argmax(means)) + 1


@boosters
@pytest.mark.parametrize(
    ("params", "rounds", "patience"),
    [
        ({"n_estimators": 60, "learning_rate": 0.1}, 15, 8),
        ({"n_estimators": 200, "learning_rate": 0.3}, 10, 5),
        ({"n_estimators": 4, "learning_rate": 0.3}, 1, 1),
    ],
)
def test_auto(booster: str, params: dict[str, Any], rounds: int, patience: int) -> None:
    """Means over min(n_estimators / 4, 3 / learning_rate) rounds; the best one is kept."""
    common = {"booster": booster, "random_state": 0, "n_jobs": 1}
    ranker = GBRanker(**common, **params, early_stopping_rounds="auto").fit(X, Y, qid=QID, **VALID)
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    best = kept(curve, rounds)
    assert len(curve) == min(best + patience, params["n_estimators"])
    assert (ranker.best_iteration_, ranker.best_score_) == (best, curve[best - 1])
    same = {**common, **params, "n_estimators": best}
    assert_array_equal(ranker.predict(X), GBRanker(**same).fit(X, Y, qid=QID).predict(X))


def test_auto_at_the_default_rate() -> None:
    """The rate that the number of documents gives: 400 documents, 0.01; a quarter of the rounds."""
    ranker = GBRanker(early_stopping_rounds="auto", n_jobs=1, random_state=0)
    curve = ranker.fit(X, Y, qid=QID, **VALID).evals_result_["valid_0"]["ndcg@10"]
    assert ranker.learning_rate_ == 0.01
    assert ranker.best_iteration_ == kept(curve, 38)
    assert len(curve) == min(ranker.best_iteration_ + 19, 150)


def test_a_warning_of_a_short_patience() -> None:
    """It names the rate; "auto", longer patience and no early stopping have none."""

    def fit(**params: Any) -> None:
        ranker = GBRanker("ranknet", n_jobs=1, random_state=0, **params)
        ranker.fit(X, Y, qid=QID, **VALID)

    with pytest.warns(UserWarning, match=r"rounds=19 is short .* 0\.1: .*'auto', or at least 20"):
        fit(n_estimators=30, learning_rate=0.1, early_stopping_rounds=19)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".* alone, ")  # a feature that is ahead
        fit(n_estimators=30, learning_rate=0.1, early_stopping_rounds=20)
        fit(n_estimators=9, learning_rate=0.1, early_stopping_rounds=9)
        fit(n_estimators=20, learning_rate=0.01, early_stopping_rounds="auto")
        fit(n_estimators=20, learning_rate=0.01)
