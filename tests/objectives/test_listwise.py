"""Listwise losses and regression on gains against their written formulas and enumeration."""

from itertools import permutations
from math import exp, log, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import reference
from gbrank import Queries, get_objective
from gbrank.objectives.objective import BoundObjective, Objective

Vector = NDArray[np.float64]
SCORES = [0.4, -1.0, 0.9, 0.1]
LABELS = [2.0, 0.0, 1.0, 3.0]
sigmas = st.sampled_from([0.3, 1.0, 4.0])


def bind(objective: str | Objective, labels: reference.Labels) -> BoundObjective:
    """Bind an objective to one query."""
    return get_objective(objective).bind(labels, Queries.from_sizes([len(labels)]))


def softmax(values: reference.Labels) -> list[float]:
    """Return exponentials over their sum."""
    total = sum(map(exp, values))
    return [exp(value) / total for value in values]


def plackett_luce(order: reference.Labels, scores: reference.Labels, sigma: float = 1.0) -> float:
    """Return the probability that documents are drawn in an order, each by softmax of the rest."""
    ranked = [scores[int(row)] / sigma for row in order]
    return prod(softmax(ranked[rank:])[0] for rank in range(len(ranked)))


# --- Regression -------------------------------------------------------------------------------


@given(reference.queries(6), sigmas)
@settings(max_examples=30)
def test_regression(query: reference.Query, sigma: float) -> None:
    """Half the squared errors, whatever sigma is."""
    labels, scores = query
    errors = [score - (2**label - 1) for score, label in zip(scores, labels, strict=True)]
    bound = bind("regression", labels)
    assert_allclose(bound.loss(scores, sigma), [sum(e * e for e in errors) / 2])
    gradient, curvature = bound.gradients(scores, sigma)
    assert_allclose(gradient, errors)
    assert_array_equal(curvature, 1)


# --- ListNet ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_listnet_by_enumeration(sigma: float) -> None:
    """Top-one probabilities are sums over all orders with a document first (Cao et al., def. 6)."""
    orders = list(permutations(range(4)))

    def top_one(values: reference.Labels, width: float) -> list[float]:
        return [
            sum(plackett_luce(order, values, width) for order in orders if order[0] == row)
            for row in range(4)
        ]

    target, own = top_one(LABELS, 1.0), top_one(SCORES, sigma)
    bound = bind("listnet", LABELS)
    expected = -sum(t * log(p) for t, p in zip(target, own, strict=True))
    assert_allclose(bound.loss(SCORES, sigma), [expected])
    gradient, _ = bound.gradients(SCORES, sigma)
    assert_allclose(gradient, (np.array(own) - target) / sigma)


# --- Softmax cross-entropy ----------------------------------------------------------------------


@given(reference.queries(6), sigmas, st.sampled_from(["labels", "gains"]))
@settings(max_examples=30)
def test_softmax_cross_entropy(query: reference.Query, sigma: float, kind: str) -> None:
    """The formula by hand, with labels or gains as targets; alike gains take no part."""
    labels, scores = query
    gains = labels if kind == "labels" else [2**label - 1 for label in labels]
    bound = bind(f"listnet(targets={kind})", labels)
    p = softmax([score / sigma for score in scores])
    alike = len(set(gains)) == 1
    targets = p if alike else [value / sum(gains) for value in gains]
    loss = 0.0 if alike else -sum(t * log(q) for t, q in zip(targets, p, strict=True))
    assert_allclose(bound.loss(scores, sigma), [loss], rtol=1e-12)
    gradient, curvature = bound.gradients(scores, sigma)
    assert_allclose(gradient, (np.array(p) - targets) / sigma, atol=1e-15)
    if not alike:
        floor = np.abs(gradient) / sigma
        assert_allclose(curvature, np.maximum(np.array(p) * (1 - np.array(p)) / sigma**2, floor))


# --- ListMLE ----------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_listmle_is_a_likelihood(sigma: float) -> None:
    """The Plackett-Luce probability of the ideal order; over all orders they sum to 1."""
    total = 0.0
    for order in permutations(range(4)):
        labels = [float(3 - order.index(row)) for row in range(4)]
        (loss,) = bind("listmle", labels).loss(SCORES, sigma)
        assert loss == pytest.approx(-log(plackett_luce(order, SCORES, sigma)))
        total += exp(-loss)
    assert total == pytest.approx(1)


@given(reference.queries(7), sigmas)
@settings(max_examples=60)
def test_listmle_with_grades(query: reference.Query, sigma: float) -> None:
    """Above the lowest grade, each document is drawn from all that are not better."""
    labels, scores = query
    m = len(labels)
    gradient, loss = np.zeros(m), 0.0
    for i in range(m):
        if labels[i] > min(labels):
            rest = [j for j in range(m) if labels[j] <= labels[i]]
            shares = softmax([scores[j] / sigma for j in rest])
            loss -= log(shares[rest.index(i)])
            gradient[rest] += np.array(shares) / sigma
            gradient[i] -= 1 / sigma
    bound = bind("listmle", labels)
    assert_allclose(bound.loss(scores, sigma), [loss], atol=1e-12)
    assert_allclose(bound.gradients(scores, sigma)[0], gradient, atol=1e-12)


# --- XE-NDCG ----------------------------------------------------------------------------------


def targets(labels: reference.Labels, n: int, **options: int) -> Vector:
    """Return the targets that n queries of the same labels were given, at equal scores."""
    m = len(labels)
    objective = get_objective(f"xendcg(seed={options.get('seed', 0)})")
    bound = objective.bind(list(labels) * n, Queries.from_sizes([m] * n))
    gradient, _ = bound.gradients(np.zeros(m * n), round=options.get("round", 0))
    return 1 / m - gradient.reshape(n, m)


def test_xendcg_targets() -> None:
    """(2^y − γ)/Σ(2^y − γ): its mean by quadrature, its range by γ in ]0, 1[."""
    drawn = targets([2, 0], 40_000)
    gamma = (np.arange(400) + 0.5) / 400
    first, second = 4 - gamma[:, None], 1 - gamma[None, :]
    share = first / (first + second)
    assert_allclose(drawn.sum(axis=1), 1)
    assert_allclose(drawn[:, 0].mean(), share.mean(), atol=4 * share.std() / 200)
    assert_allclose(drawn[:, 0].std(), share.std(), rtol=0.05)
    assert 0.75 < drawn[:, 0].min() < drawn[:, 0].max() < 1


def test_xendcg_draws() -> None:
    """Anew for each query, round and seed, and the same for the same."""
    drawn = targets([2, 0, 1], 3)
    assert len(np.unique(drawn)) == 9
    assert_array_equal(targets([2, 0, 1], 3), drawn)
    assert (targets([2, 0, 1], 3, round=1) != drawn).all()
    assert (targets([2, 0, 1], 3, seed=1) != drawn).all()


def test_xendcg_loss_is_of_the_same_draw() -> None:
    """Cross entropy to the targets that the gradient of that round shows."""
    bound = bind("xendcg", LABELS)
    p = np.array(softmax(SCORES))
    gradient, _ = bound.gradients(SCORES, round=7)
    assert_allclose(bound.loss(SCORES, round=7), [-((p - gradient) * np.log(p)).sum()])
