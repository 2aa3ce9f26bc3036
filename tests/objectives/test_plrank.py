"""PLRank: against the expectation over all rankings, and its sums written anew."""

from decimal import Decimal, localcontext
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from rankings import chance_of, drawn

from gbrank import (
    NDCG,
    RBP,
    Exposure,
    GBRanker,
    PLRank,
    Precision,
    Queries,
    get_objective,
    make_cubic,
)
from gbrank.data.sampling import query_keys, query_noise

Vector = NDArray[np.float64]
MEASURES = [NDCG(), NDCG(k=2), Precision(k=3), RBP(0.6), Exposure(discount="reciprocal")]
LABELS, SCORES = np.array([0.0, 2, 1, 0, 1]), np.array([0.3, -0.2, 0.5, 1.1, -0.6])


def constants(measure: Any, labels: Vector) -> tuple[Vector, Vector]:
    """Return what each document and each rank is worth, 1/Z in it."""
    terms = measure.terms(labels, Queries.from_sizes([len(labels)]))
    scale = 1.0 if terms.scale is None else float(terms.scale[0])
    return terms.gains * scale, terms.discounts[: len(labels)]


def loss(measure: Any, labels: Vector, s: Vector) -> float:
    """Return minus the mean of the measure over all rankings."""
    gains, discounts = constants(measure, labels)
    rankings = permutations(range(len(s)))
    return -sum(chance_of(own, s) * (gains[list(own)] @ discounts) for own in rankings)


def slopes(measure: Any, labels: Vector, s: Vector, step: float = 1e-3) -> tuple[Vector, Vector]:
    """Return the first and second derivatives of the loss, by differences of five points."""
    first, second = np.empty((2, len(s)))
    for i, unit in enumerate(step * np.eye(len(s))):
        far, near, here, after, beyond = (
            loss(measure, labels, s + times * unit) for times in (-2, -1, 0, 1, 2)
        )
        first[i] = (far - 8 * near + 8 * after - beyond) / (12 * step)
        second[i] = (-far + 16 * near - 30 * here + 16 * after - beyond) / (12 * step**2)
    return first, second


def by_definition(ranking: Any, s: Vector, gains: Vector, discounts: Vector) -> Any:
    """Return the docstring's derivatives of one ranking, with 40 digits."""
    m = len(s)
    strength = [Decimal(float(value)).exp() for value in s]
    gains = gains - gains.mean()
    first, second = np.full((2, m), Decimal(0))
    for r, i in enumerate(ranking):
        chances = squares = Decimal(0)
        for rank, other in enumerate(ranking[: r + 1]):
            chance = strength[i] / sum(strength[j] for j in ranking[rank:])
            chances += chance
            squares += chance**2
            own = Decimal(float(gains[i] * discounts[rank])) * chance
            first[i] += own * (1 - chances)
            second[i] += own * (1 - 3 * chances + chances**2 + squares)
            if rank < r:
                fall = Decimal(float(gains[other] * (discounts[rank] - discounts[rank + 1])))
                first[i] -= fall * chances
                second[i] += fall * (chances**2 - chances + squares)
    return -(first - first.sum() / m), -second


@pytest.mark.parametrize("m", [3, 4, 5])
@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_the_sums_are_without_bias(measure: Any, m: int) -> None:
    """Gradient and Hessian's diagonal, the mean over all rankings by their probabilities."""
    labels, s = LABELS[:m], SCORES[:m] / 0.7
    found = np.zeros((2, m))
    for ranking in permutations(range(m)):
        every = by_definition(ranking, s, *constants(measure, labels))
        found += chance_of(ranking, s) * np.array(every, dtype=float)
    assert_allclose(found, slopes(measure, labels, s), rtol=0, atol=1e-8)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_its_mean_is_the_expectation(measure: Any) -> None:
    """Loss and gradient, over the noise of many queries."""
    n, sigma = 20_000, 0.7
    bound = PLRank(measure).bind(np.tile(LABELS, n), Queries.from_sizes([5] * n))
    drawn = bound.gradients(np.tile(SCORES, n), sigma)[0].reshape(n, 5)
    first, _ = slopes(measure, LABELS, SCORES / sigma)
    value = bound.loss(np.tile(SCORES, n), sigma).mean()
    assert_allclose(value, loss(measure, LABELS, SCORES / sigma), rtol=0.005)
    assert_allclose(drawn.mean(axis=0) * sigma, first, rtol=0, atol=0.02 * abs(first).max())


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 3000.0])
@pytest.mark.parametrize("measure", [NDCG(), NDCG(k=5)], ids=str)
def test_definition(measure: Any, spread: float) -> None:
    """Each ranking from the documented numbers; scores are near each other, or far apart."""
    rng = np.random.default_rng(5)
    sizes, sigma, draws, round = [30, 1, 7], 0.8, 3, 4
    queries = Queries.from_sizes(sizes)
    labels, s = rng.integers(0, 3, 38).astype(float), spread * rng.random(38)
    bound = PLRank(measure, draws=draws, seed=9).bind(labels, queries)
    gradient, curvature = bound.gradients(s, sigma, round)
    noise = query_noise(query_keys(queries.ids), 9, round)
    with localcontext(prec=40):
        for q, (start, end) in enumerate(zip(queries.offsets, queries.offsets[1:], strict=False)):
            y, own = labels[start:end], s[start:end] / sigma
            order = np.lexsort((-y, -own))
            gains, discounts = constants(measure, y)
            every = [
                by_definition(
                    order[drawn(own[order], noise[q : q + 1], draw)], own, gains, discounts
                )
                for draw in range(draws)
            ]
            first, second = (np.sum(every, axis=0) / draws).astype(float)
            if spread == 0:  # documents of equal score and label have their mean
                for label in set(y):
                    first[y == label] = first[y == label].mean()
            assert_allclose(sigma * gradient[start:end], first, rtol=0, atol=1e-13)
            if spread > 0:
                wanted = np.maximum(second, abs(first) / 4)
                found = sigma**2 * curvature[start:end]
                assert_allclose(found, wanted, rtol=1e-9, atol=1e-13)


def plrank_3(ranking: Any, s: Vector, gains: Vector, discounts: Vector) -> Vector:
    """Return the gradient as PL-Rank-3 estimates it from one ranking (Oosterhuis 2022)."""
    strength = np.exp(s)[ranking]
    left = np.cumsum(strength[::-1])[::-1]
    reward = np.cumsum((gains[ranking] * discounts)[::-1])[::-1]
    gradient = np.empty(len(s))
    gradient[ranking] = np.append(reward[1:], 0) + strength * (
        gains[ranking] * np.cumsum(discounts / left) - np.cumsum(reward / left)
    )
    return -gradient


def test_it_varies_less_than_pl_rank_3() -> None:
    """By a factor of some hundreds, for whole lists of 50."""
    rng = np.random.default_rng(0)
    labels, s, n = rng.choice([0.0, 0, 0, 1, 2], 50), rng.normal(size=50), 1000
    bound = PLRank(draws=1).bind(np.tile(labels, n), Queries.from_sizes([50] * n))
    ours = bound.gradients(np.tile(s, n))[0].reshape(n, 50)
    rankings = np.argsort(-s - rng.gumbel(size=(n, 50)))
    theirs = np.array([plrank_3(own, s, *constants(NDCG(), labels)) for own in rankings])
    error = np.hypot(*(own.std(axis=0) / np.sqrt(n) for own in (ours, theirs)))
    assert_allclose(ours.mean(axis=0), theirs.mean(axis=0), rtol=0, atol=4 * error.max())
    assert 100 < theirs.var(axis=0).sum() / ours.var(axis=0).sum() < 1000


def test_lists_in_which_all_are_alike() -> None:
    """No order is better than another: no gradient, in any draw."""
    gradient, _ = PLRank().bind([2, 2, 2], Queries.from_sizes([3])).gradients([0.5, 0.1, -2.0])
    assert gradient.tolist() == [0, 0, 0]


def test_seeds_and_draws() -> None:
    """Another seed draws anew, and more draws are other draws."""
    queries = Queries.from_sizes([5])
    found = [
        PLRank(**options).bind(LABELS, queries).gradients(SCORES)[0].tolist()
        for options in ({}, {"seed": 1}, {"draws": 5})
    ]
    assert len(set(map(tuple, found))) == 3


def test_strings_and_errors() -> None:
    """It has a string, and names what it cannot take."""
    assert get_objective("plrank(draws=2):ndcg@5") == PLRank(NDCG(k=5), draws=2)
    for option, value in (("draws", 0), ("seed", 0.5), ("measure", "err")):
        with pytest.raises((TypeError, ValueError), match=option):
            PLRank(**{option: value})


def test_it_learns() -> None:
    """Trees that are trained on it rank queries that they have not seen, on either booster."""
    X, y, qid = make_cubic(60, n_documents=20, random_state=0)
    for booster in ("lightgbm", "xgboost"):
        ranker = GBRanker(
            "plrank:ndcg", booster=booster, n_estimators=30, n_jobs=1, random_state=0
        ).fit(X[:800], y[:800], qid=qid[:800])
        assert ranker.score(X[800:], y[800:], qid[800:]) > 0.5


def test_more_draws_tell_more() -> None:
    """The spread of the mean measure over queries falls with the root of the draws."""
    queries = Queries.from_sizes([2] * 2000)
    labels = np.tile([1.0, 0.0], 2000)
    spreads = [
        PLRank("ndcg", draws=draws).bind(labels, queries).loss(np.zeros(4000)).std()
        for draws in (4, 100)
    ]
    assert spreads[1] == pytest.approx(spreads[0] / 5, rel=0.1)
