"""PLRank: against the expectation over all rankings."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from rankings import chance_of

from benchmarks.plrank import LONGEST_STEP, PLRank
from gbrank import NDCG, RBP, Precision, Queries

Vector = NDArray[np.float64]


def loss(measure: Any, labels: Vector, s: Vector) -> float:
    """Return minus the mean of the measure over all rankings."""
    rankings = np.array(list(permutations(range(len(s)))))
    chances = np.array([chance_of(own, s) for own in rankings])
    places = -rankings.argsort(axis=1).astype(float)
    return -sum(chance * measure(labels, own) for chance, own in zip(chances, places, strict=True))


def slopes(measure: Any, labels: Vector, s: Vector, step: float = 0.01) -> tuple[Vector, Vector]:
    """Return the first and second derivatives of the loss, by differences."""
    here = loss(measure, labels, s)
    after, before = (
        np.array([loss(measure, labels, s + sign * one) for one in step * np.eye(len(s))])
        for sign in (1, -1)
    )
    return (after - before) / (2 * step), (after - 2 * here + before) / step**2


@pytest.mark.slow
@pytest.mark.parametrize("measure", [NDCG(), NDCG(k=2), Precision(k=3), RBP(0.6)], ids=str)
@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_many_draws_are_the_expectation(measure: Any, sigma: float) -> None:
    """Loss, gradient and curvature."""
    labels, s = np.array([0.0, 2, 1, 0, 1]), np.array([0.3, -0.2, 0.5, 1.1, -0.6])
    bound = PLRank(measure, draws=200_000).bind(labels, Queries.from_sizes([5]))
    gradient, curvature = bound.gradients(s, sigma)
    first, second = slopes(measure, labels, s / sigma)
    assert_allclose(bound.loss(s, sigma), loss(measure, labels, s / sigma), rtol=0.01)
    assert_allclose(sigma * gradient, first, rtol=0, atol=0.01 * abs(first).max())
    longest = np.maximum(second, abs(first) / LONGEST_STEP)
    assert_allclose(sigma**2 * curvature, longest, rtol=0, atol=0.02 * longest.max())
