"""Sparse features: no whole copy of them as an array, and the same bits as from one."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from gbrank import GBRanker

N, WIDTH = 40_000, 500  # 160 MB as an array
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def sparse(n: int, width: int, entries: int) -> tuple[Any, Any, Any]:
    """Return features, of which some are negative or missing, labels and queries of 20."""
    rng = np.random.default_rng(0)
    X = sp.random(n, width, density=entries / (n * width), format="csr", random_state=0)
    X.data -= 0.3
    X.data[::50] = np.nan
    y = rng.integers(0, 3, n) + (X[:, [0]].toarray().ravel() > 0)
    return X, y.astype(float), np.repeat(np.arange(n // 20), 20)


@pytest.mark.slow
@boosters
def test_memory(booster: str) -> None:
    """Training, scoring, importances and shares take a part of what an array would."""
    X, y, qid = sparse(N, WIDTH, 80_000)
    ranker = GBRanker("ranknet", booster=booster, n_estimators=2, n_jobs=1, random_state=0)
    ranker.fit(X[:2000], y[:2000], qid=qid[:2000])  # compiles
    tracemalloc.start()
    ranker.fit(X, y, qid=qid)
    ranker.score(X, y, qid)
    ranker.importances()
    ranker.predictor().predict(X)
    ranker.explain_document(X[:20], 0)
    first = np.arange(N) < N // 2
    valid = {"eval_set": [(X[~first], y[~first])], "eval_qid": [qid[~first]]}
    ranker.fit(X[first], y[first], qid=qid[first], **valid)  # compared with single features
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * 8 * N * WIDTH


@boosters
@pytest.mark.parametrize(
    ("n", "width", "params"),
    [
        (6000, 300, {}),
        (2000, 30, {"max_bin": 15}),
        pytest.param(202_000, 5, {}, marks=pytest.mark.slow),
    ],  # of the last, a sample
)
def test_the_same_bits(booster: str, n: int, width: int, params: dict[str, Any]) -> None:
    """As those of an array, in several blocks; single and double precision."""
    X, y, qid = sparse(n, width, n * width // 20)
    common: dict[str, Any] = {"n_estimators": 3, "n_jobs": 1, "random_state": 0}
    ranker = GBRanker("ranknet", booster=booster, booster_params=params, **common)
    for dtype in (np.float32, np.float64):
        own = X.astype(dtype)
        made = ranker.fit(own, y, qid=qid).predict(own)
        assert len(np.unique(made)) > 5
        assert_array_equal(made, ranker.predict(own.toarray()))
        assert_array_equal(made, ranker.fit(own.toarray(), y, qid=qid).predict(own))
    assert_array_equal(
        ranker._model.contributions(own[:50], 1), ranker._model.contributions(own[:50].toarray(), 1)
    )


@boosters
def test_validation_sets(booster: str) -> None:
    """Scores of sparse ones are those of arrays, with initial scores and rescaled trees too."""
    X, y, qid = sparse(2000, 30, 3000)
    init = np.random.default_rng(0).normal(size=len(y))
    for params in ({}, {"boosting" if booster == "lightgbm" else "booster": "dart"}):
        ranker = GBRanker("ranknet", booster=booster, n_estimators=4, n_jobs=1, random_state=0,
                          booster_params=params, eval_metric=["ndcg@10", "ap"])  # fmt: skip
        curves = []
        for table in (X, X.toarray()):
            first, rest = (table[:1000], y[:1000]), (table[1000:], y[1000:])
            ranker.fit(
                *first, qid=qid[:1000], eval_set=[rest], eval_qid=[qid[1000:]],
                init_score=init[:1000], eval_init_score=[init[1000:]],
            )  # fmt: skip
            curves.append(ranker.evals_result_["valid_0"])
        assert curves[0] == curves[1]
