"""TieRank against the sum over all 2^m roundings."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import reference
from cases import loop
from gbrank import NDCG, GBRanker, Queries, RankNet, get_objective, make_cubic
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.data.documents import Documents
from gbrank.objectives.tierank import TieRank

Vector = NDArray[np.float64]

PHI: dict[str, Callable[[float], float]] = {
    "spline": lambda t: 2 * t**3 - 3 * t**2 + 1,
    "linear": lambda t: 1 - t,
}
ONE = Queries.from_sizes


def bind(measure: Any, labels: Any, **options: Any) -> Any:
    """Bind TieRank to one query."""
    return TieRank(measure, **options).bind(labels, ONE([len(labels)]))


def expectation(
    worth: Callable[[Sequence[float]], float], scores: Any, phi: str = "spline"
) -> float:
    """Sum over all roundings of scores + 1/2, an outcome of probability 0 left out."""
    floors = [math.floor(score + 0.5) for score in scores]
    down = [PHI[phi](score + 0.5 - floor) for score, floor in zip(scores, floors, strict=True)]
    total = 0.0
    for ups in product([0, 1], repeat=len(scores)):
        chance = math.prod(1 - p if up else p for p, up in zip(down, ups, strict=True))
        if chance > 0:
            total += chance * worth([floor + up for floor, up in zip(floors, ups, strict=True)])
    return total


def worth_of(value: reference.Value, labels: Sequence[float]) -> Callable[[Any], float]:
    """Return the mean of a measure over all orders of the ties of levels, 0 if it is undefined."""
    return lambda levels: reference.tied(value, labels, levels, "average") or 0.0


# Quarters put several documents on the same score, and some on integers and middles.
some_scores = st.one_of(
    st.integers(-8, 8).map(lambda x: x / 4), st.floats(-2, 2).map(lambda x: round(x, 3))
)
documents = st.lists(st.tuples(st.integers(0, 3), some_scores), min_size=1, max_size=7)


@pytest.mark.parametrize("name", ["ndcg", "ap"])
@given(documents, st.sampled_from([None, 1, 3]), st.sampled_from(["spline", "linear"]))
@example([(1, 0.5), (0, 0.5), (2, -0.5), (0, 1.5)], None, "spline")  # all on integers
@example([(1, 9.2), (0, 3.1), (2, -4.2), (0, 3.3)], 3, "spline")  # integers between skipped
@example([(1, 0.0), (1, 0.1), (1, 0.2), (0, 0.3), (1, 1.2), (0, 1.1), (1, -0.7)], None, "spline")
@settings(max_examples=100)
def test_it_is_the_sum_over_all_roundings(
    name: str, query: list[tuple[int, float]], k: int | None, phi: str
) -> None:
    """Scores across several integers, on them, in their middles, and tied."""
    labels, scores = zip(*query, strict=True)
    worth = worth_of(partial(getattr(reference, name), k=k), labels)
    loss = bind(name if k is None else f"{name}@{k}", labels, phi=phi).loss(scores)
    assert_allclose(loss, [-expectation(worth, scores, phi)], atol=1e-14)


@pytest.mark.parametrize("shift", [-0.5, 6.5, -3.5])
def test_example_of_the_paper(shift: float) -> None:
    """Section 2.3: M = 0.9 (φφ + φ′φ′) + φ(1 − s_1) φ(s_2) + 0.8 φ(s_1) φ(1 − s_2), about."""
    labels, scores = [3, 1], np.array([0.3, 0.6])
    loss = bind(NDCG(gain="linear"), labels).loss(scores + shift)
    assert_allclose(loss, [-0.85444], atol=5e-6)
    a, b = (PHI["spline"](score) for score in scores)
    best = 3 + 1 / math.log2(3)
    worst = (1 + 3 / math.log2(3)) / best
    by_hand = (a * b + (1 - a) * (1 - b)) * (1 + worst) / 2 + (1 - a) * b + a * (1 - b) * worst
    assert_allclose(loss, [-by_hand], rtol=1e-14)


@pytest.mark.parametrize("measure", ["ndcg", "ap@10"])
@loop("spread", [0.1, 4.0, 60.0])
def test_slopes_of_long_lists(measure: str, spread: float) -> None:
    """400 documents: central differences of the loss, along random directions."""
    rng, step = np.random.default_rng(2), 1e-6
    labels, scores = rng.integers(0, 4, 400), rng.uniform(-0.4, spread, 400)
    bound = bind(measure, labels)
    gradient, curvature = bound.gradients(scores)
    for _ in range(5):
        direction = rng.normal(size=400)
        up, down = (bound.loss(scores + sign * step * direction)[0] for sign in (1, -1))
        assert_allclose((up - down) / (2 * step), gradient @ direction, rtol=1e-6, atol=1e-9)
    assert (np.abs(gradient) <= curvature).all()


@pytest.mark.parametrize("measure", ["ap", "ndcg(discount=reciprocal)"])
def test_one_relevant_among_many_by_binomials(measure: str) -> None:
    """1/r of the only relevant document among 400, whose roundings up are binomial."""
    m, score = 400, 0.13
    up = 1 - PHI["spline"](score + 0.5)
    others = [math.comb(m - 1, k) * up**k * (1 - up) ** (m - 1 - k) for k in range(m)]
    inverse = [1 / r for r in range(1, m + 1)]
    expected = math.fsum(
        chance * (up * fmean(inverse[: k + 1]) + (1 - up) * fmean(inverse[k:]))
        for k, chance in enumerate(others)
    )
    loss = bind(measure, [1] + [0] * (m - 1)).loss(np.full(m, score))
    assert_allclose(loss, [-expected], rtol=1e-12)


def test_linear_slope_on_an_integer_is_to_the_right() -> None:
    """The difference quotient to the right; the spline's slope there is zero."""
    labels, scores, step = [2, 0, 1], np.array([-0.5, 0.1, 0.5]), 1e-7
    worth = worth_of(reference.ndcg, labels)
    gradient, _ = bind("ndcg", labels, phi="linear").gradients(scores)
    smooth, _ = bind("ndcg", labels).gradients(scores)
    for i in (0, 2):
        moved = scores + step * (np.arange(3) == i)
        slope = expectation(worth, scores, "linear") - expectation(worth, moved, "linear")
        assert_allclose(gradient[i], slope / step, rtol=1e-5)
        assert gradient[i] != 0
        assert smooth[i] == 0


def test_whole_sigmas_do_not_matter_and_sigma_is_the_unit() -> None:
    """All scores moved by an integer; scores and sigma scaled."""
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 3, 20), rng.integers(-40, 40, 20) / 16
    bound = bind("ndcg@5", labels)
    gradient, curvature = bound.gradients(scores)
    assert np.abs(gradient).max() > 0
    for shift in (1.0, -300.0, 2.0**40):
        moved = bound.gradients(scores + shift)
        assert_array_equal(moved, (gradient, curvature))
    assert_array_equal(bound.loss(8 * scores, 8.0), bound.loss(scores))
    assert_array_equal(bound.gradients(8 * scores, 8.0)[0], gradient / 8)


@pytest.mark.parametrize("phi", ["spline", "linear"])
def test_far_apart_it_is_the_measure(phi: str) -> None:
    """Scores that overflow when divided by sigma, and scores on a grid too coarse for integers."""
    labels = [1, 2, 0, 1, 3]
    for scores, sigma in [
        ([1e300, 2e300, -1e300, 1e10, 0], 1.0),
        ([1e300, 2e300, -1e300, 1e10, 0], 1e-300),
        ([2.0**53, 2.0**53 + 2, 2.0**53 + 4, -(2.0**53), 5], 1.0),
        ([1e-300, 3e-300, 7e-300, 0, 5e-300], 1e-300),
        ([3.0, 9.0, 5.0, 1.0, 7.0], 1.0),
    ]:
        bound = bind("ndcg", labels, phi=phi)
        exact = NDCG()(labels, np.argsort(np.argsort(scores)).astype(float))
        assert_allclose(bound.loss(scores, sigma), [-exact], rtol=1e-14)


# --- Sampling ---------------------------------------------------------------------------------


def test_sampling_ranks_the_drawn_documents() -> None:
    """Documents without gradient were not drawn; the loss is that of the others by themselves."""
    rng = np.random.default_rng(6)
    labels, scores = rng.integers(0, 3, 40), rng.uniform(-0.45, 0.45, 40)
    bound = bind("ndcg", labels, sample=4)
    for round in range(5):
        gradient, _ = bound.gradients(scores, round=round)
        drawn = gradient != 0
        assert_array_equal(np.bincount(labels[drawn]), [4, 4, 4])
        alone = bind("ndcg", labels[drawn])
        assert_allclose(bound.loss(scores, round=round), alone.loss(scores[drawn]), rtol=1e-13)
        assert_allclose(gradient[drawn], alone.gradients(scores[drawn])[0], rtol=1e-12)


def test_every_document_is_drawn_equally_often() -> None:
    """2 of 8, 2 of 3 and 1 of 1, over 3,000 rounds."""
    labels, scores = np.repeat([0, 1, 2], [8, 3, 1]), np.linspace(-0.4, 0.4, 12)
    bound = bind("dcg", labels, sample=2)
    drawn = np.mean([bound.gradients(scores, round=r)[0] != 0 for r in range(3000)], axis=0)
    assert_allclose(drawn, np.repeat([2 / 8, 2 / 3, 1], [8, 3, 1]), atol=0.04)


def test_draws_depend_on_round_and_query_only() -> None:
    """Not on the order of rows or on other queries; enough for all is the same as no sampling."""
    data = reference.Data(7)
    objective = TieRank("ndcg", sample=2)
    bound = objective.bind(data.y, Queries.from_qid(data.qid))
    gradient, _ = bound.gradients(data.scores, round=3)
    assert_array_equal(bound.gradients(data.scores, round=3)[0], gradient)
    assert (bound.gradients(data.scores, round=4)[0] != gradient).any()
    rows = np.random.default_rng(0).permutation(np.flatnonzero(data.qid % 2))
    part = objective.bind(data.y[rows], Queries.from_qid(data.qid[rows]))
    assert_array_equal(part.gradients(data.scores[rows], round=3)[0], gradient[rows])
    everything = TieRank("ndcg", sample=1000).bind(data.y, Queries.from_qid(data.qid))
    whole = TieRank("ndcg").bind(data.y, Queries.from_qid(data.qid))
    gradient, curvature = whole.gradients(data.scores)
    # Of a query with nothing to learn, drawn documents have the least that is more than none.
    drawn = gradient, np.maximum(curvature, 1e-300)
    assert_array_equal(everything.gradients(data.scores), drawn)


@pytest.mark.parametrize("measure", ["ndcg", "ap"])
def test_documents_of_equal_score_and_label_keep_their_own_draw(measure: str) -> None:
    """2 of 6 and 2 of 3 have derivatives, other ones in other rounds; the others have none."""
    labels = np.repeat([0, 1], [6, 3])
    bound = bind(measure, labels, sample=2)
    seen = np.zeros(9)
    for round in range(20):
        gradient, curvature = bound.gradients(np.full(9, 0.1), round=round)
        drawn = gradient != 0
        assert_array_equal(np.bincount(labels[drawn]), [2, 2])
        assert_array_equal(curvature > 1e-290, drawn)
        seen += drawn
    assert (seen > 0).all()


def unit_curvature(labels: Any, sizes: Sequence[int], scores: Any, objective: Any) -> Vector:
    """Return what a booster gets as hessian with ``curvature="unit"``."""
    hook = StagedObjective(objective, 1.0, start=False, rounds=1, curvature="unit")
    bound = hook.bind(Documents.checked(None, labels, ONE(sizes)))
    return hook.derivatives(bound, scores, 0)[1]


def test_undrawn_documents_have_no_unit_curvature() -> None:
    """Also of queries that have nothing to learn; those that are drawn have 1 each."""
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2, *[0] * 5, 0, 1])
    sizes, scores = [8, 5, 2], np.linspace(-0.4, 0.4, 15)
    curvature = unit_curvature(labels, sizes, scores, TieRank("ndcg", sample=2))
    assert set(curvature) == {0.0, 1.0}
    query = np.repeat([0, 1, 2], sizes)
    for of_query, counts in enumerate([[2, 2, 1], [2, 0, 0], [1, 1, 0]]):
        taken = labels[(query == of_query) & (curvature == 1)]
        assert_array_equal(np.bincount(taken, minlength=3), counts)
    for objective in (TieRank("ndcg"), TieRank("ndcg", sample=2) + RankNet()):
        assert_array_equal(unit_curvature(labels, sizes, scores, objective), 1.0)


@pytest.mark.parametrize("weight", ["0.5", "1e9", "1e-9"])
def test_documents_that_no_term_draws_have_no_unit_curvature(weight: str) -> None:
    """Of a mixture, whatever the scale of a term; those that any draws have 1."""
    labels, sizes = np.array([*[0] * 12, *[1] * 5, *[2] * 3, *[1] * 6]), [20, 6]
    scores, queries = np.linspace(-0.4, 0.4, 26), ONE(sizes)
    texts = ("tie(sample=3):ndcg", "tie(sample=2,seed=1):ap")
    drawn = np.zeros(26, dtype=bool)
    for text in texts:
        _, curvature = get_objective(text).bind(labels, queries).gradients(scores)
        drawn |= curvature > 1e-301
    mixture = get_objective(f"0.5*{texts[0]}+{weight}*{texts[1]}")
    assert 0 < drawn.sum() < 26
    assert_array_equal(unit_curvature(labels, sizes, scores, mixture), drawn)
    gradient, curvature = mixture.bind(labels, queries).gradients(scores)
    assert_array_equal(curvature > 0, drawn)
    assert not gradient[~drawn].any()


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_leaves_are_means_over_drawn_documents(booster: str) -> None:
    """The first tree by hand: minus the rate times the mean gradient of a leaf's drawn ones."""
    X, y, qid = make_cubic(40, n_documents=20, n_features=4, random_state=0)
    ranker = GBRanker(
        TieRank("ndcg", sample=2), booster=booster, n_estimators=1, learning_rate=0.5, sigma=1.0,
        init="zero", curvature="unit", num_leaves=6, min_child_samples=1, colsample=1.0,
        extra_trees=False, random_state=0,
    )  # fmt: skip
    scores = ranker.fit(X, y, qid=qid).predict(X)
    bound = TieRank("ndcg", sample=2).bind(y, Queries.from_qid(qid))
    gradient, curvature = bound.gradients(np.zeros(len(y)))
    drawn = curvature > 1e-290
    assert 0.1 < drawn.mean() < 0.6
    leaves = np.unique(scores.round(12), return_inverse=True)[1]
    means = np.bincount(leaves[drawn], gradient[drawn]) / np.bincount(leaves[drawn])
    assert len(means) > 3
    assert_allclose(scores, -0.5 * means[leaves], rtol=1e-4, atol=1e-9)
