"""Spearman's rank correlation, beside SciPy's."""

import numpy as np
import pytest
from scipy import stats

from gbrank import GBRanker, Spearman, get_measure, make_cubic


def test_it_is_that_of_scipy() -> None:
    """On lists with equal labels, rows in any order."""
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(20), rng.integers(2, 40, 20)))
    labels, scores = rng.integers(0, 5, len(qid)), rng.normal(size=len(qid))
    values = Spearman().per_query(labels, scores, qid=qid)
    for query, value in zip(dict.fromkeys(qid.tolist()), values, strict=True):
        rows = qid == query
        theirs = stats.spearmanr(labels[rows], scores[rows]).statistic
        assert value == pytest.approx(theirs, abs=1e-14, nan_ok=True)


def test_equal_scores_are_worth_the_mean_of_their_orders() -> None:
    """Nothing is gained by ties: 0 where all are equal."""
    assert Spearman()([2, 1, 0], [1.0, 1.0, 1.0]) == pytest.approx(0, abs=1e-15)
    assert Spearman()([2, 1, 0], [2.0, 1.0, 1.0]) == pytest.approx((1.0 + 0.5) / 2)


def test_early_stopping_takes_it() -> None:
    """And LambdaRank trains on it."""
    X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
    train, valid = qid < 30, qid >= 30
    ranker = GBRanker("lambda:spearman", n_estimators=30, early_stopping_rounds=5, n_jobs=1,
                      learning_rate=0.3, eval_metric="spearman", random_state=0)  # fmt: skip
    ranker.fit(X[train], y[train], qid=qid[train], eval_set=[(X[valid], y[valid])],
               eval_qid=[qid[valid]])  # fmt: skip
    curve = ranker.evals_result_["valid_0"]["spearman"]
    assert ranker.best_score_ == max(curve) > 0.4
    assert get_measure("rho")(y[valid], ranker.predict(X[valid]), qid=qid[valid]) == max(curve)
