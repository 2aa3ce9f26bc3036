"""NoisyLambdaRank: against the expectation over all rankings, and its definition written anew."""

from dataclasses import replace
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import reference
from gbrank import AP, DCG, ERR, NDCG, RR, LambdaRank, NoisyLambdaRank, Queries
from gbrank.data.sampling import query_noise
from gbrank.engine.driver import Runner
from gbrank.engine.sorting import LONG
from gbrank.measures.pairwise import KendallTau, PairwiseCorrect
from gbrank.objectives.noisy_lambdarank import SHORT, TOP, WHOLE
from rankings import chance_of, drawn

VALUES: dict[Any, reference.Value] = {
    NDCG(): reference.ndcg, DCG(k=3): partial(reference.dcg, k=3), AP(): reference.ap,
    RR(): reference.rr, ERR(): reference.err, PairwiseCorrect(): reference.pairwise_correct,
    KendallTau(): reference.kendall_tau,
}  # fmt: skip


def weights_of(
    measure: Any, labels: np.ndarray, ranking: Any, truncation: int | None = None
) -> np.ndarray:
    """Return |ΔM| of all pairs in one ranking."""
    rows = [tuple(map(int, ranking))]
    deltas = reference.deltas_of_orders(VALUES[measure], labels.tolist(), rows, truncation)
    return np.array(deltas)


@pytest.mark.parametrize(
    "measure",
    [
        measure if measure in (NDCG(), AP()) else pytest.param(measure, marks=pytest.mark.slow)
        for measure in VALUES
    ],
    ids=str,
)
def test_its_mean_is_the_expectation(measure: Any) -> None:
    """Rankings by Gumbel noise are Plackett-Luce: the first of those left is drawn by softmax."""
    labels, s, sigma = np.array([0.0, 2.0, 1.0, 0.0]), np.array([0.3, -0.2, 0.5, 0.1]), 0.7
    expected = np.zeros((4, 4))
    for ranking in permutations(range(4)):
        expected += chance_of(ranking, s / sigma) * weights_of(measure, labels, ranking)
    n = 50_000  # queries, each of which has noise of its own
    bound = NoisyLambdaRank(measure).bind(np.tile(labels, n), Queries.from_sizes([4] * n))
    drawn = bound.gradients(np.tile(s, n), sigma=sigma)
    gradient, curvature = (derivative.reshape(n, 4).mean(axis=0) for derivative in drawn)
    wanted = reference.lambda_gradients(expected, labels, s, sigma)
    assert_allclose(gradient, wanted[0], atol=0.01 * np.abs(wanted[0]).max())
    assert_allclose(curvature, wanted[1], rtol=0.02)


def ndcg_weights(labels: np.ndarray, ranking: Any, truncation: int | None) -> np.ndarray:
    """Return what `weights_of` returns for NDCG, by its formula: faster for long lists."""
    gains, ranks = 2**labels - 1, np.empty(len(labels))
    ranks[ranking] = np.arange(len(labels))
    discounts = 1 / np.log2(ranks + 2)
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(len(labels)) + 2)).sum()
    weights: np.ndarray = np.abs(np.subtract.outer(gains, gains)) / ideal
    weights *= np.abs(np.subtract.outer(discounts, discounts))
    return weights * (np.minimum.outer(ranks, ranks) < (truncation or len(ranks)))


@pytest.mark.parametrize(
    ("measure", "truncation", "sizes"),
    [
        *product(VALUES, [1, 3, None], [[7, 1, 5]]),
        *product([NDCG()], [20, None], [[LONG + 3, LONG - 1], [SHORT, SHORT + 9]]),
    ],
    ids=str,
)
def test_definition(measure: Any, truncation: int | None, sizes: list[int]) -> None:
    """Each draw's ranking from the documented numbers, its deltas by swapping documents."""
    rng = np.random.default_rng(1)
    sigma, draws, round = 0.8, 3, 4
    queries = Queries.from_sizes(sizes)
    labels, s = rng.integers(0, 3, sum(sizes)).astype(float), rng.normal(size=sum(sizes))
    objective = NoisyLambdaRank(measure, draws=draws, truncation=truncation, seed=9)
    found = objective.bind(labels, queries).gradients(s, sigma=sigma, round=round)
    loss = objective.bind(labels, queries).loss(s, sigma=sigma, round=round)
    noise = query_noise(queries.id_keys, 9, round)
    for q, (start, end) in enumerate(zip(queries.offsets, queries.offsets[1:], strict=False)):
        own, y = s[start:end], labels[start:end]
        best_first = np.lexsort((-y, -own))
        weights = np.zeros((len(y), len(y)))
        for draw in range(draws):
            ranking = best_first[drawn(own[best_first] / sigma, noise[q : q + 1], draw)]
            own_weights = ndcg_weights if measure == NDCG() else partial(weights_of, measure)
            weights += own_weights(y, ranking, truncation) / draws
        gradient, curvature, by_hand = reference.lambda_gradients(weights, y, own, sigma)
        for derivative, expected in zip(found, (gradient, curvature), strict=True):
            assert_allclose(derivative[start:end], expected, atol=1e-14)
        assert_allclose(loss[q], by_hand, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("sigma", [1e-3, 1.0])
@pytest.mark.parametrize("measure", [NDCG(), KendallTau()], ids=str)
def test_long_lists(measure: Any, sigma: float) -> None:
    """Blocks of documents make no difference: 2,500 of them, by scores that noise cannot reorder.

    With σ = 1e-3 the scores are too far apart for one exponential a document.
    """
    rng = np.random.default_rng(0)
    labels, s = rng.integers(0, 3, 2500).astype(float), 1e3 * rng.permutation(2500)
    queries = Queries.from_sizes([2500])
    noisy = NoisyLambdaRank(measure, draws=1, truncation=20).bind(labels, queries)
    plain = LambdaRank(measure, truncation=20).bind(labels, queries)
    for found, wanted in zip(
        noisy.gradients(s, sigma=sigma), plain.gradients(s, sigma=sigma), strict=True
    ):
        assert_allclose(found, wanted, rtol=1e-9, atol=1e-300)


def test_all_pairs_of_lists_that_are_not_long() -> None:
    """By default; in longer ones those with one of the first `TOP` documents."""
    rng = np.random.default_rng(0)
    for size, truncation in ((WHOLE, WHOLE), (WHOLE + 1, TOP)):
        labels, s = rng.integers(0, 3, size).astype(float), rng.normal(size=size)
        queries = Queries.from_sizes([size])
        assert NoisyLambdaRank().program(labels, queries).others.tolist() == [size > WHOLE]
        found, wanted = (
            NoisyLambdaRank(truncation=value).bind(labels, queries).gradients(s)
            for value in (None, truncation)
        )
        assert_array_equal(found, wanted)


@pytest.mark.parametrize("size", [SHORT + 9, LONG + 9])
@pytest.mark.parametrize("spread", [100.0, 800.0, 1300.0, 2000.0])
def test_both_ways(spread: float, size: int) -> None:
    """Once through the pairs, or once for each noisy ranking, however far scores are apart."""
    rng = np.random.default_rng(1)
    labels, s = rng.integers(0, 3, size).astype(float), spread * rng.random(size)
    queries = Queries.from_sizes([size])
    program = NoisyLambdaRank().program(labels, queries)
    assert not program.others.any()
    other = replace(program, others=np.ones(1, bool))
    found, wanted = (
        Runner(own, queries).gradients(s, 1.0, 0, np.empty(0)) for own in (program, other)
    )
    for one, two in zip(found, wanted, strict=True):
        assert_allclose(one, two, rtol=1e-9, atol=1e-12 * np.abs(two).max())


def test_draws() -> None:
    """Another round or seed draws anew."""
    rng, queries = np.random.default_rng(0), Queries.from_sizes([100] * 4)
    labels, s = rng.integers(0, 3, 400), rng.normal(size=400)
    first, *others = (
        objective.bind(labels, queries).gradients(s, round=round)[0]
        for objective, round in (
            (NoisyLambdaRank(), 3), (NoisyLambdaRank(), 4), (NoisyLambdaRank(seed=1), 3)
        )
    )  # fmt: skip
    assert all((other != first).any() for other in others)


@pytest.mark.parametrize("truncation", [None, 1])
def test_a_gain_that_falls(truncation: int | None) -> None:
    """The larger label is better, also where it is worth less: |ΔNDCG| is 2 (1 − D(2)) / Z."""
    objective = NoisyLambdaRank(NDCG(gain=(0, 3, 1)), truncation=truncation)
    gradient, curvature = objective.bind([2, 1], Queries.from_sizes([2])).gradients([0.0, 0.0])
    assert_allclose(gradient, [-0.1016462, 0.1016462], rtol=1e-6)
    assert_allclose(curvature, [0.0508231, 0.0508231], rtol=1e-6)
