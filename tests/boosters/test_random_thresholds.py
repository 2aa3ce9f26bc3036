"""Random thresholds reach the largest values of a feature, too."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from gbrank import GBRanker
from gbrank.boosters.lightgbm.random_thresholds import with_room_above
from gbrank.data.schema import Schema

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(40), 15)
N = len(QID)


def fit(X: Any, y: Any, **params: Any) -> GBRanker:
    """Return a small ranker with random thresholds."""
    given = {"n_estimators": 40, "learning_rate": 0.1, "min_child_samples": 5, "extra_trees": True}
    given |= {"monotone": "free", "random_state": 0, "n_jobs": 1}
    return GBRanker(**given | params).fit(X, y, qid=QID)


def scores_by_value(X: Any, **params: Any) -> NDArray[np.float64]:
    """Return the score of each value of a feature, which is the label too."""
    values, labels = np.unique(X, return_inverse=True)
    return fit(X[:, np.newaxis], labels, **params).predict(values[:, np.newaxis])


@pytest.mark.parametrize("n_values", [2, 3, 4, 9])
@pytest.mark.parametrize("objective", ["noisy:ndcg", "ranknet"])
def test_all_values_are_told_apart(n_values: int, objective: str) -> None:
    """The largest ones from the next ones, which LightGBM's own thresholds never do."""
    scores = scores_by_value(RNG.integers(0, n_values, N) * 0.5 - 1, objective=objective)
    assert (np.diff(scores) > 0).all()


@pytest.mark.parametrize(
    "values", [[-3.0, -2.0, -1.0], [-1.0, 0.0, 1e-30], [1e300, 2e300, 3e300], [5.0, 6.0, 7.0]]
)
def test_odd_values(values: list[float]) -> None:
    chosen = np.array(values)[RNG.integers(0, 3, N)]
    scores = scores_by_value(chosen)
    expected = scores_by_value(chosen, extra_trees=False)
    assert (np.diff(scores) > 0).tolist() == (np.diff(expected) > 0).tolist()


def test_kinds_and_orders_of_rows() -> None:
    """Sparse, dense and shuffled rows give the same bits, beside features of all kinds."""
    few = RNG.integers(0, 4, (N, 3)) * (RNG.random((N, 3)) < 0.4)
    X = np.column_stack([few, RNG.normal(size=(N, 2)), np.ones(N)])
    y = few.sum(axis=1) // 3
    expected = fit(X, y).predict(X)
    assert_array_equal(fit(sp.csr_matrix(X), y).predict(X), expected)
    order = RNG.permutation(N)
    shuffled = GBRanker(**fit(X, y).get_params()).fit(X[order], y[order], qid=QID[order])
    assert_array_equal(shuffled.predict(X), expected)


def test_which_features_get_a_bin() -> None:
    """Those of three values or more and less than bins, without missing values or categories."""
    few = np.arange(N) % 5.0
    with_missing = np.where(np.arange(N) % 7 == 0, np.nan, few)
    X = np.column_stack([few, few % 2, with_missing, RNG.normal(size=N), few, np.full(N, np.nan)])
    schema = Schema.learn(X, categorical_feature=[4])
    params: dict[str, Any] = {"max_bin": 63}
    rows = with_room_above(X, params, schema)[N:]
    assert_array_equal(rows, [[8, 0, 0, X[:, 3].min(), 0, np.nan]] * 3)
    assert with_room_above(X, params | {"max_bin": 5}, schema) is X
    assert len(with_room_above(X, params | {"min_data_in_bin": 1}, schema)) == N + 1
    as_numbers = with_room_above(X, params | {"use_missing": False}, schema)[N:]
    assert as_numbers[0, 2] == 8
    assert with_room_above(np.tile(few[:, np.newaxis], 1001), params, schema).shape[0] == N


@pytest.mark.parametrize("most", [N + 3, N + 2, 300])
def test_a_sample_of_rows(most: int) -> None:
    """It keeps room for the rows above, so that LightGBM draws none of them by place."""
    X = np.column_stack([np.arange(N) % 3.0, RNG.normal(size=N)])
    y, order = np.arange(N) % 3, RNG.permutation(N)
    params: dict[str, Any] = {"booster_params": {"bin_construct_sample_cnt": most}}
    expected = fit(X, y, **params).predict(X)
    assert (np.diff([expected[y == label].min() for label in range(3)]) > 0).all()
    shuffled = GBRanker(**fit(X, y, **params).get_params())
    assert_array_equal(shuffled.fit(X[order], y[order], qid=QID[order]).predict(X), expected)


@pytest.mark.incumbent
def test_the_boosters_own_objective_is_left_alone() -> None:
    """It is LightGBM as it comes."""
    X = (np.arange(N) % 3.0)[:, np.newaxis]
    labels = (np.arange(N) % 3) * 1.0
    scores = fit(X, labels, objective="lightgbm:lambdarank").predict([[1.0], [2.0]])
    assert scores[0] == scores[1]
