"""Sums by sweeps over sorted scores against the direct sums over pairs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.special import expit

import gbrank
from gbrank import DCG, NDCG, LambdaRank, Queries, get_objective
from gbrank.objectives import approxrank, lambdarank
from lists import LABELS, SCORES, assert_close, gradients, lengthy, make_labels, make_scores, runner
from plain_trees import PLAIN
from reference import assert_same_bits

Vector = NDArray[np.float64]
PAIRS = [
    "ranknet", "lambda:ndcg", "lambda:ndcg@5", "lambda:dcg(gain=linear)", "lambda:ap",
    "lambda:ap@4", "lambda:rr", "lambda:rbp", "lambda:precision@3", "lambda:wta",
    "lambda(truncation=7):ndcg", "lambda(truncation=3):ap", "lambda(ties='order'):ndcg",
]  # fmt: skip
BLOCKS = ["lambda:err", "lambda:err@5", "lambda(truncation=7):err"]
SOME = ["ranknet", "lambda:ndcg", "lambda:ap", "lambda:err", "approx:ndcg@5"]
RANKS = [
    "approx:ndcg", "approx:ndcg@5", "approx:dcg(discount=linear)", "approx:precision@3",
    "approx:ap", "approx:ap@4", "approx:kendall", "approx:rr", "approx:err", "approx:rbp",
]  # fmt: skip
# A product over the documents above multiplies the rounding of their soft ranks.
PRODUCTS = ["approx:rr", "approx:err"]
REAL_RANKS = [*PRODUCTS, "approx:ap", "approx:ap@4"]
# Their other tests are in test_fast_gaussian.py.
BOXED = ["smooth:ndcg", "smooth:ap", "smooth:rr"]

lists = st.tuples(
    st.sampled_from(LABELS), st.sampled_from(SCORES), st.sampled_from([2, 3, 20, 129, 300, 601]),
    st.floats(-3, 3), st.integers(0, 9),
)  # fmt: skip


def rounding(labels: Vector, scores: Vector, sigma: float) -> Vector:
    """Return how far gradient, curvature and loss are off, at most, if every |ΔM| is by 2^-49.

    A swap delta of ERR is a difference of running products from 0 to 1, and where the best
    documents stand first most deltas are smaller than the rounding of these.
    """
    gaps = np.subtract.outer(scores, scores) / sigma
    wrong = np.where(np.greater.outer(labels, labels), expit(-gaps), 0)
    losses = np.where(np.greater.outer(labels, labels), np.logaddexp(0, -gaps), 0)
    most = (wrong.sum(axis=0) + wrong.sum(axis=1)).max()
    return 2.0**-49 * np.array([most / sigma, most / sigma**2, losses.sum()])


@pytest.mark.parametrize("name", lengthy(PAIRS + RANKS + BLOCKS))
@given(lists)
@settings(max_examples=25, deadline=None)
def test_agreement(name: str, case: Any) -> None:
    """Gradient, curvature and loss, for any labels, scores and width.

    To a part of the largest; for ERR, or to the rounding of its swap deltas.
    """
    label_kind, score_kind, m, exponent, seed = case
    rng = np.random.default_rng(seed)
    if name in BLOCKS and label_kind == "continuous":
        m = min(m, 130)  # every two documents of a block have a delta of their own
    labels = make_labels(label_kind, m, rng)
    scores = make_scores(score_kind, labels, rng)
    fast, direct = (runner(name, labels, way) for way in (False, True))
    sigma = 10.0**exponent
    # Measures of real ranks lose exp(-40), beside values up to 1.
    least = np.exp(-40) if name in REAL_RANKS else 1e-300
    off = rounding(labels, scores, sigma) if name in BLOCKS else np.full(3, least)
    none = np.empty(0)
    for actual, expected, floor in zip(
        fast.gradients(scores, sigma, 0, none), direct.gradients(scores, sigma, 0, none), off[:2],
        strict=True,
    ):  # fmt: skip
        part = 1e-6 if name in PRODUCTS else 1e-7
        assert np.isfinite(actual).all()
        assert_allclose(actual, expected, rtol=0, atol=part * np.abs(expected).max() + floor)
    # An average of signs may cancel to rounding error, and so may a discount that falls to 0.
    cancels = name in ("approx:kendall", "approx:dcg(discount=linear)")
    assert fast.values(scores, sigma) == pytest.approx(
        direct.values(scores, sigma), rel=1e-7, abs=1e-9 if cancels else off[2]
    )


@pytest.mark.parametrize("name", lengthy(SOME))
@pytest.mark.parametrize("sigma", [1e-300, 1.0, 1e300])
def test_extreme_scores(name: str, sigma: float) -> None:
    """Gaps and widths at the ends of what floats hold."""
    rng = np.random.default_rng(0)
    values = np.array([-1e300, -1.0, 0.0, 5e-324, 1e-300, 1.0, 800.0, 1e300])
    labels = rng.integers(0, 3, 400).astype(float)
    for scores in (rng.choice(values, 400), rng.normal(size=400) * 1e300, np.zeros(400)):
        swept, direct = (gradients(name, labels, scores, sigma, way) for way in (False, True))
        for actual, expected in zip(swept, direct, strict=True):
            assert_close(actual, expected)


def test_large_weights() -> None:
    """Gains near the largest float: no power of a score overflows before they do."""
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 990, 300).astype(float), rng.normal(size=300)
    swept, direct = (gradients(LambdaRank(DCG()), labels, scores, 0.1, way) for way in (0, 1))
    for actual, expected in zip(swept, direct, strict=True):
        assert_close(actual, expected)


@pytest.mark.parametrize("name", lengthy(["lambda:rbp", "approx:ap", *SOME, *BOXED]))
@given(st.integers(0, 9), st.sampled_from(["graded", "continuous"]), st.booleans())
@settings(max_examples=10, deadline=None)
def test_row_order(name: str, seed: int, labels: str, tied: bool) -> None:
    """No bit depends on the order of the rows."""
    rng = np.random.default_rng(seed)
    y = make_labels(labels, 500, rng)
    scores = make_scores("tied" if tied else "scattered", y, rng)
    order = rng.permutation(500)
    before = gradients(name, y, scores, 0.3, direct=False)
    after = gradients(name, y[order], scores[order], 0.3, direct=False)
    for one, other in zip(before, after, strict=True):
        assert_same_bits(one[order], other)


@pytest.mark.parametrize(
    ("name", "grades", "longest"),
    [
        ("lambda:ndcg", "graded", lambdarank.LONGEST_DIRECT),
        ("lambda:ndcg", "continuous", lambdarank.LONGEST_DIVIDED),
        pytest.param("approx:ndcg", "graded", approxrank.LONGEST_DIRECT, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("more", [0, 1])
def test_which_lists_are_swept(name: str, grades: str, longest: int, more: int) -> None:
    """Those longer than the switch-over, in data that have both."""
    rng, m = np.random.default_rng(3), longest + more
    labels, scores = make_labels(grades, m, rng), rng.normal(size=m)
    both = Queries.from_sizes([m, 2])
    bound = get_objective(name).bind(np.append(labels, [0, 1]), both)
    gradient = bound.gradients(np.append(scores, [0, 0]), 0.3)[0][:m]
    expected = gradients(name, labels, scores, 0.3, direct=more == 0)[0]
    other = gradients(name, labels, scores, 0.3, direct=more == 1)[0]
    assert_same_bits(gradient, expected)
    assert (gradient != other).any()


@pytest.mark.parametrize(
    ("objective", "swept"),
    [
        (LambdaRank(NDCG()), True),
        (LambdaRank(NDCG(), truncation=lambdarank.LONGEST_DIRECT), True),
        (LambdaRank(NDCG(), truncation=30), False),  # so few rows are summed faster one by one
        (LambdaRank(NDCG(), normalize="lightgbm"), False),  # weights depend on the score gap
        (LambdaRank(NDCG(gain=(0, 3, 1))), False),  # a gain that falls
        (LambdaRank("err"), True),
        (LambdaRank("err", normalize="lightgbm"), False),
        (LambdaRank("kendall"), False),
    ],
)
def test_what_can_be_swept(objective: Any, swept: bool) -> None:
    """The rest goes pair by pair, whatever the length."""
    sizes = [lambdarank.LONGEST_DIRECT, lambdarank.LONGEST_DIRECT + 1, 5000]
    program = objective.program(np.arange(sum(sizes)) % 3.0, Queries.from_sizes(sizes))
    assert program.others.tolist() == [False, swept, swept]


def test_truncation_of_long_lists() -> None:
    """As the direct sum of the rows that touch the top."""
    rng = np.random.default_rng(4)
    labels, scores = rng.integers(0, 5, 2000).astype(float), np.round(rng.normal(size=2000), 2)
    objective = LambdaRank(NDCG(k=10), truncation=700)
    bound = objective.bind(labels, Queries.from_sizes([2000]))
    expected = gradients(objective, labels, scores, 0.3, direct=True)
    for actual, wanted in zip(bound.gradients(scores, 0.3), expected, strict=True):
        assert_close(actual, wanted)


@pytest.mark.parametrize("name", lengthy(["lambda:ndcg", "approx:ndcg"]))
def test_threads(name: str) -> None:
    """The same bits for any number of threads."""
    rng = np.random.default_rng(5)
    sizes = [1500, 30, 2600, 1, 3000]
    labels, scores = rng.integers(0, 5, sum(sizes)).astype(float), rng.normal(size=sum(sizes))
    one, four = (
        get_objective(name).bind(labels, Queries.from_sizes(sizes), n_jobs=jobs).gradients(scores)
        for jobs in (1, 4)
    )
    for a, b in zip(one, four, strict=True):
        assert_array_equal(a, b)


def test_a_long_list_in_a_fit() -> None:
    """Thirty thousand documents in one query, whose scores tie in large blocks at first."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(30_000, 3))
    y = np.clip(np.round(X[:, 0] + 0.3 * rng.normal(size=30_000)), 0, 4)
    ranker = gbrank.GBRanker("lambda:ndcg", n_estimators=5, n_jobs=1, random_state=0, **PLAIN)
    ranker.fit(X, y, group=[30_000])
    assert NDCG()(y, ranker.predict(X)) > 0.95 > NDCG()(y, 0 * y) + 0.1
