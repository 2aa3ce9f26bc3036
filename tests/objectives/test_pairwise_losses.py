"""RankSVM and GBRank against their written formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from gbrank import Queries, get_objective
from gbrank.objectives.objective import BoundObjective

LOSSES = {"ranksvm": lambda short: short, "squared_hinge": lambda short: short**2 / 2}
SLOPES = {"ranksvm": lambda short: 1.0, "squared_hinge": lambda short: short}
both = pytest.mark.parametrize("name", LOSSES)
sigmas = st.sampled_from([0.5, 1.0, 3.0])


def bind(name: str, labels: reference.Labels) -> BoundObjective:
    """Bind an objective to one query."""
    return get_objective(name).bind(labels, Queries.from_sizes([len(labels)]))


@both
@given(reference.queries(7), sigmas)
@settings(max_examples=60)
def test_by_formula(name: str, query: reference.Query, sigma: float) -> None:
    """Loss, gradient and number of active pairs; a pair at the kink counts half."""
    labels, scores = query
    m = len(labels)
    loss, gradient, active = 0.0, np.zeros(m), np.zeros(m)
    for i in range(m):
        for j in range(m):
            short = 1 - (scores[i] - scores[j]) / sigma
            if labels[i] > labels[j] and short >= 0:
                share = 0.5 if short == 0 else 1.0
                loss += LOSSES[name](short)
                gradient[i] -= share * SLOPES[name](short) / sigma
                gradient[j] += share * SLOPES[name](short) / sigma
                active[[i, j]] += share / sigma**2
    bound = bind(name, labels)
    assert_allclose(bound.loss(scores, sigma), [loss])
    actual = bound.gradients(scores, sigma)
    assert_allclose(actual[0], gradient, atol=1e-12)
    assert_allclose(actual[1], active, atol=1e-12)


@both
@given(reference.queries(8), sigmas, st.integers(0, 99))
@settings(max_examples=60)
def test_subgradients(name: str, query: reference.Query, sigma: float, seed: int) -> None:
    """The loss is above its tangent planes, kinks included."""
    labels, scores = query
    bound = bind(name, labels)
    gradient, _ = bound.gradients(scores, sigma)
    other = np.random.default_rng(seed).normal(scale=2, size=len(scores)).round(1)
    tangent = bound.loss(scores, sigma) + gradient @ (other - np.array(scores))
    assert bound.loss(other, sigma) >= tangent - 1e-9


@given(reference.queries(8), sigmas)
@settings(max_examples=40)
def test_hinge_bounds_the_wrong_pairs(query: reference.Query, sigma: float) -> None:
    """At any sigma; and well separated scores cost nothing."""
    labels, scores = query
    pairs = [(i, j) for i in range(len(labels)) for j in range(len(labels))]
    wrong = sum(labels[i] > labels[j] and scores[i] <= scores[j] for i, j in pairs)
    bound = bind("ranksvm", labels)
    assert bound.loss(scores, sigma) >= wrong
    assert_array_equal(bound.loss(np.array(labels) * sigma, sigma), 0)


@both
def test_scores_at_the_ends_of_the_range(name: str) -> None:
    """The slope keeps its sign, and stays finite, where scores and sigma are at their limits."""
    for score, sigma in [(1e300, 1e-300), (1e300, 1.0), (0.0, 1e300), (5e-324, 1e-300)]:
        gradient, curvature = bind(name, [1, 0]).gradients([-score, score], sigma)
        assert np.isfinite([gradient, curvature]).all()
        assert gradient[0] == -gradient[1] < 0
        assert (curvature > 0).all()


@pytest.mark.parametrize(
    "name", ["ranksvm", "squared_hinge", "listnet", "listmle", "xendcg", "slam"]
)
def test_unknown_options_are_refused(name: str) -> None:
    """The message says which there are."""
    with pytest.raises(ValueError, match=r"takes .*, got 'normalize'"):
        get_objective(f"{name}(normalize=q)")


@both
@pytest.mark.parametrize("sigma", [1e-300, 1.0, 1e300])
def test_extreme_scores(name: str, sigma: float) -> None:
    """Finite, and up for the best label, whose documents come last."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60).astype(float)
    scores = -labels * 1e300 / 4 + rng.choice([0.0, 5e-324, 1.0, 1e100], 60)
    gradient, curvature = (
        get_objective(name).bind(labels, Queries.from_sizes([60])).gradients(scores, sigma)
    )
    assert np.isfinite([gradient, curvature]).all()
    assert (gradient[labels == 2] < 0).all()
    assert (gradient[labels == 0] > 0).all()
