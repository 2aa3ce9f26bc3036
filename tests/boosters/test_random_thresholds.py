"""Random thresholds reach the largest values of a feature, too."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from gbrank import GBRanker
from gbrank.boosters.lightgbm.random_thresholds import bins_of_one_size
from gbrank.data.schema import Schema

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(40), 15)
N = len(QID)


def fit(X: Any, y: Any, **params: Any) -> GBRanker:
    """Return a small ranker with random thresholds."""
    given = {"n_estimators": 40, "learning_rate": 0.1, "min_child_samples": 5, "extra_trees": True}
    given |= {"random_state": 0, "n_jobs": 1}
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
    "values",
    [
        [-3.0, -2.0, -1.0],
        [-1.0, 0.0, 1e-30],
        [1e300, 2e300, 3e300],
        [5.0, 6.0, 7.0],
        [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        [-2.0, -1.0, 0.0],
    ],
)
def test_odd_values(values: list[float]) -> None:
    chosen = np.array(values)[RNG.integers(0, len(values), N)]
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


def test_bins_of_each_feature() -> None:
    """Counted by hand: 600 rows and 63 bins, so that 10 equal values fill a bin."""
    n, few = 600, np.arange(600) % 5.0
    with_missing = np.where(np.arange(n) % 7 == 0, np.nan, few)
    zeros = np.where(np.arange(n) < 300, 0.0, np.arange(n))  # and 300 rows in ceil(31.5) bins
    X = np.column_stack(
        [few, few % 2, with_missing, RNG.normal(size=n), few, np.full(n, np.nan), zeros]
    )
    schema = Schema.learn(X, categorical_feature=[4])
    params, rows = bins_of_one_size(X, {"max_bin": 63}, schema)
    assert params["max_bin_by_feature"] == [6, 2, 6, 63, 63, 63, 33]
    assert_array_equal(rows[:n], X)
    assert_array_equal(rows[n:], [[8, 0, 0, X[:, 3].min(), 0, np.nan, 0]] * 3)
    assert len(bins_of_one_size(X, {"max_bin": 63, "min_data_in_bin": 1}, schema)[1]) == n + 1
    as_numbers = bins_of_one_size(X, {"max_bin": 63, "use_missing": False}, schema)[1]
    assert as_numbers[n, 2] == 8
    for params, table in (
        ({"max_bin_by_feature": [9] * 7}, X),
        ({}, np.tile(few[:, np.newaxis], 1001)),
    ):
        assert bins_of_one_size(table, params, Schema.learn(table)) == (params, table)
    widest = np.tile(few[:, np.newaxis], 1000)
    params, _ = bins_of_one_size(widest, {}, Schema.learn(widest))
    assert params["max_bin_by_feature"] == [6] * 1000


def test_few_numbers_below_zero() -> None:
    """LightGBM shares bins to both sides of 0 by their rows: the smaller side has enough."""
    chosen = RNG.permutation(np.repeat([-3.0, -2.0, -1.0, 4.0], [12, 12, 12, N - 36]))
    assert (np.diff(scores_by_value(chosen, min_child_samples=1)) > 0).all()


def test_most_thresholds_of_counts_stand_where_documents_are() -> None:
    """LightGBM alone gives nearly all bins to the few documents of large counts."""
    rng, n = np.random.default_rng(1), 25_200
    counts = np.floor(np.exp(1.2 * rng.normal(size=n)))[:, np.newaxis]
    qid = np.repeat(np.arange(n // 20), 20)
    y = np.digitize(counts[:, 0] + rng.normal(size=n), [1, 4])
    ranker = GBRanker(n_estimators=30, random_state=0, n_jobs=1).fit(counts, y, qid=qid)
    thresholds = ranker.booster_.trees_to_dataframe()["threshold"].dropna().unique()
    above = np.sort([(counts > threshold).sum() for threshold in thresholds])
    assert 5 < len(above) < 25
    assert (np.diff([0, *above]) > n / 63 / 2).all()


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
