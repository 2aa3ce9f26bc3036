"""Early stopping of whole fits: what "auto" stands for, and what is too short."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, LinearRanker, make_cubic

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


@boosters
@pytest.mark.parametrize("change", ["none", "order", "frame", "ids"])
def test_the_training_data_decide_nothing(booster: str, change: str) -> None:
    """Wherever they are among the sets, in whatever order and container, and named as they are."""
    same: tuple[Any, Any, Any] = (X, Y, QID)
    if change == "order":
        order = np.random.default_rng(0).permutation(len(Y))
        same = X[order], Y[order], QID[order]
    elif change == "frame":
        same = pd.DataFrame(X.copy()), Y.tolist(), QID.copy()
    elif change == "ids":
        same = X.copy(), Y.copy(), [f"query {query}" for query in QID]
    params: dict[str, Any] = {"n_estimators": 60, "early_stopping_rounds": 8, "learning_rate": 0.3}
    ranker = GBRanker(booster=booster, n_jobs=1, random_state=0, **params)
    alone = ranker.fit(X, Y, qid=QID, **VALID)
    expected = alone.best_iteration_, alone.best_score_, alone.predict(X).tolist()
    curve = alone.evals_result_["valid_0"]
    for place, sets in enumerate(([HELD_OUT, same], [same, HELD_OUT])):
        more: dict[str, Any] = {"eval_set": [each[:2] for each in sets],
                                "eval_qid": [each[2] for each in sets]}  # fmt: skip
        ranker.fit(X, Y, qid=QID, **more)
        made = ranker.best_iteration_, ranker.best_score_, ranker.predict(X).tolist()
        assert made == expected
        assert ranker.evals_result_[f"valid_{place}"] == curve
        assert len(ranker.evals_result_) == 2


@pytest.mark.parametrize("change", ["labels", "document", "queries"])
def test_other_data_decide(change: str) -> None:
    """The training documents with other labels, one other document, or other queries."""
    X_other, y_other, qid_other = X.copy(), Y.copy(), QID.copy()
    if change == "labels":
        y_other = Y[::-1].copy()
    elif change == "document":
        X_other[7, 2] += 0.01
    else:
        qid_other[[9, 10]] = 1, 0  # the last document of one, and the first of the next
        qid_other[QID == 0] = 1
        qid_other[QID == 1] = np.r_[1, np.zeros(9, int)]
    ranker = GBRanker(n_estimators=30, n_jobs=1, early_stopping_rounds=20, random_state=0)
    ranker.fit(X, Y, qid=QID, eval_set=[(X_other, y_other), HELD_OUT[:2]],
               eval_qid=[qid_other, HELD_OUT[2]])  # fmt: skip
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    assert ranker.best_score_ == curve[ranker.best_iteration_ - 1]


@pytest.mark.parametrize(
    "ranker",
    [
        GBRanker(n_estimators=20, early_stopping_rounds=14, learning_rate=0.15, random_state=0),
        LinearRanker("approx:ndcg", solver="sgd", n_steps=4),
    ],
    ids=["trees", "linear"],
)
def test_the_training_data_alone(ranker: Any) -> None:
    """No set decides: all rounds, and a warning."""
    with pytest.warns(UserWarning, match="eval_set contains only the training data"):
        ranker.fit(X, Y, qid=QID, eval_set=[(X, Y)], eval_qid=[QID])
    rounds = 20 if isinstance(ranker, GBRanker) else 4
    assert ranker.best_iteration_ == rounds
    both = [(X, Y), HELD_OUT[:2]]
    ranker.fit(X, Y, qid=QID, eval_set=both, eval_qid=[QID, HELD_OUT[2]])
    curve = ranker.evals_result_["valid_1"]["ndcg@10"]
    assert ranker.best_score_ == curve[ranker.best_iteration_ - 1]
