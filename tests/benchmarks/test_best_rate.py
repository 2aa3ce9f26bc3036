"""A ranker at the learning rate that validates best."""

import numpy as np
import pytest

from benchmarks.best_rate import BestRate
from gbrank import GBRanker, make_cubic


def test_the_best_rate_is_chosen_on_validation_queries() -> None:
    """Every rate is a fit as it would be by itself; the one that validates best is kept."""
    X, y, qid = make_cubic(60, n_documents=10, n_features=5, random_state=1)
    train, valid = qid < 40, qid >= 40
    data = {"qid": qid[train], "eval_set": [(X[valid], y[valid])], "eval_qid": [qid[valid]]}
    budget = {"n_estimators": 40, "early_stopping_rounds": 5, "random_state": 0, "n_jobs": 1}
    rates = [0.001, 0.1, 0.3]
    alone = [
        GBRanker("ranknet", learning_rate=rate, **budget).fit(X[train], y[train], **data)
        for rate in rates
    ]
    best = int(np.argmax([ranker.best_score_ for ranker in alone]))
    chosen = BestRate(GBRanker("ranknet", **budget), rates).fit(X[train], y[train], **data)
    assert chosen.learning_rate_ == rates[best]
    assert chosen.best_iteration_ == alone[best].best_iteration_
    np.testing.assert_array_equal(chosen.predict(X), alone[best].predict(X))
    with pytest.raises(ValueError, match="learning_rates must hold at least one rate"):
        BestRate(GBRanker(), []).fit(X[train], y[train], **data)
