"""SmoothRank with the paper's penalties: beside sums, from the regression that ranks best."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks.papers.smoothrank import NDCG_AT, PENALTIES, Annealed, smooth_ndcg
from gbrank import LinearRanker, make_cubic

X, Y, QID = make_cubic(24, n_documents=10, n_features=6, random_state=3)
TRAIN, VALID = QID < 15, QID >= 15


def test_start_is_the_regression_that_ranks_validation_queries_best() -> None:
    """Training begins there, and a large λ keeps it there."""
    fitted = Annealed(smooth_ndcg(50, 5), 1e9).fit(
        X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], Y[VALID])], eval_qid=[QID[VALID]]
    )
    values, weights = [], []
    for penalty in PENALTIES:
        regression = LinearRanker("regression", ridge=penalty / 150, balanced=True)
        regression.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN])
        values.append(NDCG_AT[50](Y[VALID], regression.predict(X[VALID]), qid=QID[VALID]))
        weights.append(regression.coef_)
    expected = weights[values.index(max(values))]
    assert min(values) < max(values)
    assert_array_equal(fitted.ranker_.init_coef_, expected)
    assert_allclose(fitted.ranker_.coef_, expected, rtol=1e-5)
    assert fitted.ranker_.reg_lambda == pytest.approx(1e9 / 15)
