"""Perturbed around objectives: the mean written out, and what does not depend on row order."""

import pickle
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference
from gbrank import NDCG, LambdaRank, Queries, RankNet, custom_objective, get_objective
from gbrank.data.sampling import document_noise, query_keys, query_noise
from gbrank.kernels.noise import uniform
from gbrank.objectives.perturbed import Perturbed

INNER = ["ranknet", "lambda:ndcg@5", "approx:ap", "lambda(normalize='lightgbm'):err"]


def perturbation(noise: str, bits: Any, number: int) -> float:
    """Return standard noise from the compiled generator's uniform number."""
    u = uniform(bits, number)
    return float(-np.log(-np.log(u)) if noise == "gumbel" else NormalDist().inv_cdf(u))


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("noise", ["gumbel", "gaussian"])
def test_mean_over_draws(inner: str, noise: str) -> None:
    """Loss, gradient and curvature are the means of the inner ones, weights included."""
    data, sigma, draws, round = reference.Data(3), 1.7, 3, 5
    queries = Queries.from_qid(data.qid)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data.y))
    text = f"perturbed(noise={noise},draws={draws},seed=9):{inner}"
    bound = get_objective(text).bind(data.y, queries, sample_weight=weights)
    plain = get_objective(inner).bind(data.y, queries, sample_weight=weights)
    bits = query_noise(query_keys(queries.ids), ~9, round)  # of another stream than what is inside
    losses, derivatives = [], []
    for draw in range(draws):
        scores = data.scores.copy()
        for query in range(queries.n_queries):
            rows = np.flatnonzero(data.qid == query)
            for place, row in enumerate(rows[np.argsort(-data.scores[rows])]):
                number = place * draws + draw
                scores[row] += sigma * perturbation(noise, bits[query], number)
        losses.append(plain.loss(scores, sigma))
        derivatives.append(plain.gradients(scores, sigma))
    assert_allclose(bound.loss(data.scores, sigma, round), np.mean(losses, axis=0), rtol=1e-9)
    gradient, curvature = np.mean(derivatives, axis=0)
    actual = bound.gradients(data.scores, sigma, round)
    assert_allclose(actual[0], gradient, rtol=1e-7, atol=1e-9 * np.abs(gradient).max())
    assert_allclose(actual[1], curvature, rtol=1e-7, atol=1e-12)


def test_mean_over_many_queries() -> None:
    """Each of 4,000 copies of a query draws its own noise: together they give the expectation."""
    labels, s = [2, 0, 1, 0], np.array([0.2, 0.5, -0.1, 0.0])
    queries = Queries.from_sizes(np.full(4000, 4))
    objective = Perturbed(RankNet(), noise="gaussian", draws=5)
    losses = objective.bind(np.tile(labels, 4000), queries).loss(np.tile(s, 4000))
    noisy = s + np.random.default_rng(0).normal(size=(200_000, 4))
    pairs = [(0, 1), (0, 2), (0, 3), (2, 1), (2, 3)]
    expected = np.sum([np.log1p(np.exp(noisy[:, j] - noisy[:, i])) for i, j in pairs], axis=0)
    error = np.sqrt(expected.var() / len(expected) + losses.var() / len(losses))
    assert error < 0.02
    assert abs(losses.mean() - expected.mean()) < 4 * error


def test_noise_is_that_of_the_compiled_code() -> None:
    """The same numbers, uniform in ]0, 1[."""
    noise = query_noise(np.arange(3, dtype=np.uint64), seed=1, round=2)
    drawn = document_noise(np.repeat(noise, 5), np.tile(np.arange(5), 3))
    expected = [uniform(bits, i) for bits in noise for i in range(5)]
    assert_array_equal(drawn, expected)
    many = document_noise(np.repeat(noise[:1], 100_000), np.arange(100_000))
    assert 0 < many.min() < 1e-4 < 1 - 1e-4 < many.max() < 1
    assert_allclose(np.bincount((many * 10).astype(int)), 10_000, atol=5 * np.sqrt(9000))


@pytest.mark.parametrize("inner", INNER)
def test_order_of_rows_changes_no_bit(inner: str) -> None:
    """Rows and queries shuffled, scores tied."""
    data = reference.Data(4, tied=True)
    rows = np.random.default_rng(1).permutation(len(data.y))
    objective = get_objective(f"perturbed:{inner}")
    plain = objective.bind(data.y, Queries.from_qid(data.qid))
    shuffled = objective.bind(data.y[rows], Queries.from_qid(data.qid[rows]))
    expected = plain.gradients(data.scores, 1.0, 3)
    for one, other in zip(shuffled.gradients(data.scores[rows], 1.0, 3), expected, strict=True):
        assert_array_equal(one, other[rows])
    other_round = plain.gradients(data.scores, 1.0, 4)
    assert (other_round[0] != expected[0]).any()


def test_equal_documents_share() -> None:
    """Equal score and label, equal derivatives; the sum is kept."""
    bound = get_objective("perturbed(draws=2):lambda:ndcg").bind(
        [1, 0, 0, 1, 0], Queries.from_sizes([5])
    )
    gradient, curvature = bound.gradients([0.5, 0.5, 0.5, 0.5, 0.1])
    assert gradient[0] == gradient[3] < 0 < gradient[1] == gradient[2]
    assert curvature[0] == curvature[3] != curvature[1] == curvature[2]
    assert_allclose(gradient.sum(), 0, atol=1e-15)


def test_strings_and_facts() -> None:
    """Of objectives: the colon takes one, with its options and colon; facts are the inner one's."""
    objective = get_objective("perturbed(draws=4,noise=gaussian):lambda(truncation=30):ndcg@10")
    assert objective == Perturbed(LambdaRank("ndcg@10", truncation=30), noise="gaussian", draws=4)
    for again in (get_objective(str(objective)), pickle.loads(pickle.dumps(objective))):
        assert again == objective
        assert again.facts == objective.facts
    assert objective.facts.stochastic
    assert not objective.facts.convex
    assert get_objective("perturbed:ranknet").facts.convex
    nested = get_objective("perturbed:perturbed(draws=2):ranknet")
    assert nested == Perturbed(Perturbed(RankNet(), draws=2))
    assert not get_objective("perturbed:tie:ndcg").facts.shift_invariant


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"objective": "ranknet"}, TypeError, r"objective must be an Objective.* got 'ranknet'"),
        ({"objective": NDCG()}, TypeError, r"objective must be an Objective.* got NDCG\(\)"),
        ({"noise": "cauchy"}, ValueError, r"noise must be one of .*'gumbel'.* got 'cauchy'"),
        ({"draws": 0}, ValueError, "draws must be an integer of at least 1, got 0"),
        ({"seed": 0.5}, TypeError, "seed must be an integer, got 0.5"),
    ],
)
def test_bad_options(options: Any, error: type[Exception], message: str) -> None:
    """The argument, what it was and what it should be."""
    with pytest.raises(error, match=message):
        Perturbed(**options)


def test_noise_is_not_that_of_a_stochastic_objective_inside() -> None:
    """From the same seed, the noise on the scores and that inside do not go together."""
    size = 4000
    queries = Queries.from_sizes([size])
    seen: list[Any] = []

    def noise_of(scores: Any, labels: Any, sigma: float) -> Any:
        seen.append(scores.copy())
        return 0.0, np.zeros(size), np.ones(size)

    objective = Perturbed(custom_objective(noise_of), noise="gaussian", draws=1)
    objective.bind(np.zeros(size), queries).loss(np.linspace(1e6, 0, size))
    outer = seen[-1] - np.linspace(1e6, 0, size)
    inner = document_noise(
        np.repeat(query_noise(query_keys(queries.ids), 0, 0), size), np.arange(size)
    )
    assert abs(np.corrcoef(outer, inner)[0, 1]) < 0.06
