"""Schedules relative to the spread of the scores."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, LambdaRank, Queries, SmoothRank, make_cubic
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.data.documents import Documents
from gbrank.data.spread import spread_within_queries
from gbrank.schedules import constant, geometric

QUERIES = Queries.from_qid([3, 1, 3, 2, 1, 1, 3])
scores = arrays(np.float64, 7, elements=st.floats(-1e300, 1e300))


def by_hand(values: Any) -> float:
    """Return the spread by its formula."""
    parts = [values[QUERIES.index == q] for q in range(3)]
    return float(np.sqrt(sum(((part - part.mean()) ** 2).sum() for part in parts) / len(values)))


@given(arrays(np.float64, 7, elements=st.integers(-(10**9), 10**9).map(lambda n: n / 1024)))
def test_spread_by_hand(values: Any) -> None:
    """Rounding to integers costs next to nothing."""
    largest = np.abs(values).max()
    assert_allclose(spread_within_queries(values, QUERIES), by_hand(values), atol=1e-15 * largest)


@given(scores, st.permutations(range(7)))
def test_spread_of_any_order_and_size(values: Any, order: list[int]) -> None:
    """The same bits in any order; finite at the extremes; exact scaling by powers of two.

    The last where every score, and every difference of two, has all of its digits: from 1e-290 on.
    """
    spread = spread_within_queries(values, QUERIES)
    assert np.isfinite(spread)
    shuffled = Queries.from_qid(QUERIES.ids[QUERIES.index][order])
    assert spread_within_queries(values[order], shuffled) == spread
    large = np.where(np.abs(values) < 1e-290, 0, values)
    assert spread_within_queries(large / 8, QUERIES) == spread_within_queries(large, QUERIES) / 8


@given(arrays(np.float64, 7, elements=st.integers(-(2**50), 2**50).map(lambda n: n * 5e-324)))
def test_spread_of_the_smallest_scores(values: Any) -> None:
    """Whole multiples of the smallest number: right to two of it."""
    expected = by_hand(np.ldexp(values, 1074))
    spread = float(np.ldexp(spread_within_queries(values, QUERIES), 1074))
    assert spread == pytest.approx(expected, rel=1e-14, abs=2)


@pytest.mark.parametrize(("objective", "power"), [(LambdaRank(), 1), (SmoothRank(), 2)])
def test_sigma_follows_the_scores(objective: Any, power: int) -> None:
    """Scores ten times as wide get a width ten times as large, in the objective's own unit."""
    hook = StagedObjective(objective, geometric(1, 0.25, unit="spread"), start=False, rounds=3)
    bound = hook.bind(Documents.checked(None, [1, 0, 2, 0, 1, 0, 0], QUERIES))
    values = np.array([0.1, 0.5, -0.3, 1.0, 0.2, 0.9, 0.4])
    *first, record = hook.derivatives(bound, values, 1)
    spread = by_hand(values)
    assert record.sigma == pytest.approx(0.5 * spread**power)
    *second, wider = hook.derivatives(bound, 8 * values, 1)
    assert wider.sigma == pytest.approx(0.5 * (8 * spread) ** power)
    steps = [gradient / curvature for gradient, curvature in (first, second)]
    assert_allclose(steps[1], 8 * steps[0], rtol=1e-12)
    if power == 1:
        *_, record = hook.derivatives(bound, np.zeros(7), 2)
        assert record.sigma == 0.25


def test_recorded_by_the_ranker() -> None:
    """What was used, in score units; the same on both boosters' first rounds."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    given: dict[str, Any] = {"sigma": constant(0.5, unit="spread"), "init": "zero", "num_leaves": 4}
    for booster in ("lightgbm", "xgboost"):
        before, made = (
            GBRanker("approx:ndcg", booster=booster, n_estimators=n, random_state=0, **given).fit(
                X, y, qid=qid
            )
            for n in (1, 4)
        )
        assert made.sigmas_[0] == 0.5
        assert len(set(made.sigmas_)) == 4
        spread = spread_within_queries(before.predict(X), Queries.from_qid(qid))
        assert made.sigmas_[1] == pytest.approx(0.5 * spread, rel=1e-5)


@pytest.mark.parametrize(("objective", "power"), [("approx:ndcg", 1), ("smooth:ndcg", 2)])
def test_steps_grow_with_the_queries(objective: str, power: int) -> None:
    """A Newton step at σ, times σ + (1 − σ) n / (n + 5000) over σ, with n queries."""
    for n in (1, 50, 400):
        queries = Queries.from_sizes([3] * n)
        labels, values = np.tile([1, 0, 2], n), np.tile([0.1, 0.5, -0.3], n)
        relative = StagedObjective(objective, constant(0.2**power, unit="spread"), start=False)
        bound = relative.bind(Documents.checked(None, labels, queries))
        longer, curvature, record = relative.derivatives(bound, values, 0)
        absolute = StagedObjective(objective, record.sigma, start=False)
        plain, same, _ = absolute.derivatives(bound, values, 0)
        assert_allclose(longer, plain * (0.2 + 0.8 * n / (n + 5000)) / 0.2, rtol=1e-11)  # rounded
        assert_array_equal(curvature, same)


@pytest.mark.parametrize(
    ("objective", "sigma", "curvature"),
    [("approx:ndcg", 2.0, "own"), ("approx:ndcg", 0.2, "unit"), ("lambda:ndcg", 0.2, "own")],
)
def test_steps_that_stay(objective: str, sigma: float, curvature: str) -> None:
    """No width below the spread, no Newton step, no objective that begins with another."""
    labels, values = [1, 0, 2], np.array([0.1, 0.5, -0.3])
    queries = Queries.from_sizes([3])
    hook = StagedObjective(
        objective, constant(sigma, unit="spread"), start=False, curvature=curvature
    )
    bound = hook.bind(Documents.checked(None, labels, queries))
    gradient, _, record = hook.derivatives(bound, values, 0)
    plain = StagedObjective(objective, record.sigma, start=False, curvature=curvature)
    assert_array_equal(gradient, plain.derivatives(bound, values, 0)[0])
