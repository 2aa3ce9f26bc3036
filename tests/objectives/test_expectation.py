"""Perturbed around measures: its estimate written out, and against exact expectations."""

from collections.abc import Callable
from itertools import permutations
from math import cos, log, pi, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import reference
from gbrank import (
    AP,
    NDCG,
    LambdaRank,
    Perturbed,
    Queries,
    RankNet,
    SoftRank,
    get_measure,
    get_objective,
)
from gbrank.data.sampling import query_keys, query_noise
from gbrank.kernels.noise import uniform
from gbrank.measures.measure import Measure, Terms
from gbrank.measures.measure_registry import MEASURES
from gbrank.objectives.objective_registry import OBJECTIVES

Vector = NDArray[np.float64]
Y, S = np.array([2, 0, 1, 0, 2]), np.array([0.2, 0.5, -0.1, 0.0, 0.2])


def second_value(
    i: int, top: int, first: Any, last: Any, x: Any, query: Any, table: Any, state: Any, out: Any
) -> None:
    """Write the label of the document at the second rank, averaged over ties."""
    out[0] = x[first[1] : last[1]].mean()


class Second(Measure):
    """The label at rank 2: neither smooth nor rising with better rankings, but a measure."""

    name = "second"
    value = second_value

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return the labels."""
        ones = np.ones((queries.n_queries, 1))
        return Terms(labels, ones, np.empty(0), ones[:, 0] > 0)


def value_of(measure: Measure) -> Callable[[Any], float | None]:
    """Return the slow value of labels in rank order."""
    if isinstance(measure, Second):
        return lambda labels: labels[1]
    options = {} if measure.name == "kendall" else {"k": getattr(measure, "k", None)}
    return lambda labels: reference.VALUES[type(measure).__name__](labels, **options)


def noise_of(kind: str, bits: Any, number: int) -> float:
    """Return a number of the compiled generator, by its definition."""
    if kind == "gumbel":
        return -log(-log(uniform(bits, number)))
    radius = sqrt(-2 * log(uniform(bits, 2 * number)))
    return radius * cos(2 * pi * uniform(bits, 2 * number + 1))


def likelihood_of_order(s: Vector, order: Any) -> Vector:
    """Return the derivative of the log-probability of an order under Plackett and Luce's model."""
    slope = np.zeros(len(s))
    for place, row in enumerate(order):
        left = list(order[place:])
        share = np.exp(s[left]) / np.exp(s[left]).sum()
        slope[row] += 1
        slope[left] -= share
    return slope


@pytest.mark.parametrize("kind", ["gumbel", "gaussian"])
@pytest.mark.parametrize("name", ["ndcg@3", "ap", "kendall"])
def test_estimate(name: str, kind: str) -> None:
    """Every draw, its value less the mean of the others, and its likelihood, written out."""
    data, sigma, draws, round = reference.Data(5), 0.7, 4, 3
    measure, queries = get_measure(name), Queries.from_qid(data.qid)
    bound = Perturbed(measure, noise=kind, draws=draws, seed=9).bind(data.y, queries)
    losses = bound.loss(data.scores, sigma, round)
    gradient, curvature = bound.gradients(data.scores, sigma, round)
    bits = query_noise(query_keys(queries.ids), 9, round)
    for query in range(queries.n_queries):
        rows = np.flatnonzero(data.qid == query)
        rows = rows[np.argsort(-data.scores[rows])]
        s, y = data.scores[rows] / sigma, data.y[rows]
        if len(set(y > 0 if name == "ap" else y)) == 1:
            assert losses[query] == 0
            assert_array_equal(gradient[rows], 0)
            continue
        values, slopes = [], []
        for draw in range(draws):
            z = [noise_of(kind, bits[query], place * draws + draw) for place in range(len(s))]
            order = np.argsort(-(s + z))
            values.append(value_of(measure)(y[order]))
            gaussian = kind == "gaussian"
            slopes.append(z - np.mean(z) if gaussian else likelihood_of_order(s, order))
        assert losses[query] == pytest.approx(-np.mean(values), rel=1e-12)
        expected = np.zeros(len(s))
        for draw in range(draws):
            others = np.mean(values[:draw] + values[draw + 1 :])
            expected -= (values[draw] - others) * slopes[draw] / draws / sigma
        assert_allclose(gradient[rows], expected, rtol=1e-9, atol=1e-12)
        assert_allclose(curvature[rows], 1 / sigma**2)


def estimates(measure: Measure, noise: Any, sigma: float) -> tuple[Vector, Vector]:
    """Return losses and gradients of 2,000 copies of the query, 100 draws each."""
    copies = 2000
    objective = Perturbed(measure, noise=noise, draws=100)
    bound = objective.bind(np.tile(Y, copies), Queries.from_sizes(np.full(copies, len(Y))))
    scores = np.tile(S, copies)
    return bound.loss(scores, sigma), bound.gradients(scores, sigma)[0].reshape(copies, -1)


def assert_mean(samples: Vector, expected: Any) -> None:
    """The mean is right to 4.5 standard errors, which are small beside what is estimated."""
    error = samples.std(axis=0) / np.sqrt(len(samples))
    assert np.max(error) < 0.1 * np.abs(expected).max()
    assert (np.abs(samples.mean(axis=0) - expected) < 4.5 * error).all()


@pytest.mark.parametrize("sigma", [0.2, 1.5])
@pytest.mark.parametrize("name", ["ndcg", "precision@2", "dcg@3"])
def test_normal_noise_is_softrank(name: str, sigma: float) -> None:
    """Whose expectation and gradient are exact. Two documents agree in score and label."""
    exact = SoftRank(name).bind(Y, Queries.from_sizes([len(Y)]))
    losses, gradients = estimates(get_measure(name), "gaussian", sigma)
    assert_mean(losses, exact.loss(S, sigma)[0])
    assert_mean(gradients, exact.gradients(S, sigma)[0])
    assert_array_equal(gradients[:, 0], gradients[:, 4])


@pytest.mark.parametrize("sigma", [0.2, 1.5])
@pytest.mark.parametrize("name", ["ndcg", "ap@2", "rr", "err", "kendall", "second"])
def test_gumbel_noise_is_enumeration(name: str, sigma: float) -> None:
    """Of all orders with their probabilities, for measures of any form, users' own among them."""
    measure = Second() if name == "second" else get_measure(name)

    def expectation(s: Any) -> Any:
        total = 0.0
        for order in permutations(range(len(s))):
            p = 1.0
            for place in range(len(s)):
                p *= np.exp(s[order[place]]) / np.exp(s[list(order[place:])]).sum()
            total += p * value_of(measure)(Y[list(order)])
        return total

    slopes = [
        expectation((S + 1e-30j * np.eye(len(S))[row]) / sigma).imag / 1e-30
        for row in range(len(S))
    ]
    losses, gradients = estimates(measure, "gumbel", sigma)
    assert_mean(losses, -expectation(S / sigma))
    assert_mean(gradients, -np.array(slopes))


def test_lost_noise() -> None:
    """Where scores leave no room for the noise, documents of equal score are tied, not sorted."""
    bound = get_objective("perturbed:ndcg").bind([0, 1], Queries.from_sizes([2]))
    assert bound.loss([1e6, 1e6], sigma=1e-12)[0] == pytest.approx(-(1 + 1 / np.log2(3)) / 2)
    assert bound.loss([1e6, 1e6 - 1], sigma=1e-12)[0] == pytest.approx(-1 / np.log2(3))


def test_ties_and_scale() -> None:
    """The measure's own ties play no part; scores and sigma times 4 are the same."""
    data = reference.Data(6, tied=True)
    queries = Queries.from_qid(data.qid)
    bound, other = (
        Perturbed(measure).bind(data.y, queries)
        for measure in (AP(), AP(ties="pessimistic", no_relevant=1))
    )
    gradient, curvature = bound.gradients(data.scores, 0.5)
    assert_array_equal(other.gradients(data.scores, 0.5)[0], gradient)
    scaled = bound.gradients(4 * data.scores, 2.0)
    assert_allclose(scaled[0], gradient / 4, rtol=1e-12)
    assert_allclose(scaled[1], curvature / 16, rtol=1e-12, atol=1e-300)


def test_seed_and_draws() -> None:
    """Another seed, another estimate; the variance falls as 1/draws, or a little faster."""
    data = reference.Data(7)
    queries = Queries.from_qid(data.qid)

    def gradient(**options: Any) -> Vector:
        found: Vector = Perturbed(NDCG(), **options).bind(data.y, queries).gradients(data.scores)[0]
        return found

    assert_array_equal(gradient(seed=3), gradient(seed=3))
    assert (gradient(seed=3) != gradient(seed=4)).any()
    exact = gradient(draws=4000)
    few, many = (
        np.mean([((gradient(seed=seed, draws=draws) - exact) ** 2).sum() for seed in range(10)])
        for draws in (4, 64)
    )
    assert 16 / 1.5 < few / many < 32


def test_strings() -> None:
    """A measure's name, alias and options; where an objective has the name too, the objective."""
    assert get_objective("perturbed:ndcg") == Perturbed(NDCG())
    objective = get_objective("perturbed(noise=gaussian,draws=16):map@5(threshold=2)")
    assert objective == Perturbed(AP(k=5, threshold=2), noise="gaussian", draws=16)
    assert str(objective) == "perturbed(noise='gaussian',draws=16):ap@5(threshold=2)"
    assert get_objective("perturbed:lambda:ndcg") == Perturbed(LambdaRank())
    assert get_objective("perturbed:lambdarank") == Perturbed(LambdaRank())
    assert get_objective("perturbed:ndcg+0.3*ranknet").first == Perturbed(NDCG())
    assert objective.facts.stochastic
    assert not objective.facts.differentiable
    with pytest.raises(ValueError, match="unknown objective 'ndgc'"):
        get_objective("perturbed:ndgc")
    with pytest.raises(ValueError, match="k must be an integer of at least 1 or None, got 0"):
        get_objective("perturbed:ndcg@0")


def test_a_name_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an objective and of a measure."""
    monkeypatch.setitem(OBJECTIVES, "both", RankNet)
    monkeypatch.setitem(MEASURES, "both", Second)
    assert get_objective("perturbed:both") == Perturbed(RankNet())
