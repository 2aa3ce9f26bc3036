"""SoftRank against Monte Carlo, a fine integration and enumeration."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.stats import norm

from cases import loop
from gbrank import DCG, NDCG, RBP, WTA, Precision, Queries, Recall, get_measure
from gbrank.engine.contract import Terms
from gbrank.measures.discounted import DiscountedMeasure
from gbrank.measures.measure import Measure
from gbrank.objectives.softrank import SoftRank
from lists import make_labels, make_scores

Vector = NDArray[np.float64]

MEASURES = [
    NDCG(),
    NDCG(k=3),
    NDCG(discount="linear"),
    DCG(k=5, gain="linear"),
    Precision(k=2),
    Recall(k=3),
    WTA(),
    RBP(),
]
of_every_kind = pytest.mark.parametrize("measure", MEASURES, ids=str)


def bind(measure: Any, labels: Any) -> Any:
    """Bind SoftRank at its most accurate to one query."""
    return SoftRank(measure, tolerance=1e-10).bind(labels, Queries.from_sizes([len(labels)]))


def query(m: int, spread: float, seed: int = 0) -> tuple[Vector, Vector]:
    """Return labels and scores."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, m).astype(float)
    labels[0] = 3.0
    return labels, spread * rng.normal(size=m)


def scale(terms: Terms) -> float:
    """Return the factor on the value of the one query."""
    return 1.0 if terms.scale is None else float(terms.scale[0])


def by_integration(measure: DiscountedMeasure, labels: Vector, s: Vector, sigma: float) -> float:
    """Return E[M] by the definition, document by document, on a grid of 3,000 points."""
    terms = measure.terms(labels, Queries.from_sizes([len(s)]))
    discounts = np.trim_zeros(terms.discounts[: len(s)], "b")
    if discounts.size == 0:
        return 0.0
    total = 0.0
    for i in np.flatnonzero(terms.gains):
        x = np.linspace(s[i] - 9 * sigma, s[i] + 9 * sigma, 3001)
        count = np.zeros((len(discounts), len(x)))  # of documents above, as far as they matter
        count[0] = 1
        for p in norm.cdf((np.delete(s, i)[:, None] - x) / sigma):
            moved = count * (1 - p)
            moved[1:] += count[:-1] * p
            count = moved
        density = norm.pdf((x - s[i]) / sigma) / sigma
        total += terms.gains[i] * np.sum(density * (discounts @ count)) * (x[1] - x[0])
    return total * scale(terms)


# --- The value --------------------------------------------------------------------------------


@of_every_kind
@loop("spread", [0.0, 1.0, 30.0, 1e3])
@loop("m", [1, 2, 25])
def test_value_is_the_integral(measure: Any, spread: float, m: int) -> None:
    """To 1e-10, whether scores tie, overlap or lie out of reach."""
    labels, s = query(m, spread)
    expected = by_integration(measure, labels, s, 1.3)
    assert_allclose(-bind(measure, labels).loss(s, 1.3)[0], expected, rtol=1e-10, atol=1e-10)


@of_every_kind
def test_limits(measure: Measure) -> None:
    """σ → 0 is the measure itself, σ → ∞ its mean over all orders."""
    labels = np.array([3.0, 0, 1, 0, 2])
    s, queries = np.array([0.1, 0.5, 0.2, -0.3, 0.4]), Queries.from_sizes([5])
    exact = measure.bind(labels, queries)
    every = [exact.per_query(np.array(order, dtype=float))[0] for order in permutations(range(5))]
    bound = bind(measure, labels)
    assert_allclose(-bound.loss(s, 1e-3), exact.per_query(s), rtol=1e-10)
    assert_allclose(-bound.loss(s, 1e12)[0], np.mean(every), rtol=1e-10)


# --- The gradient -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "spread"), [("ndcg", 0.5), ("ndcg@10", 2.0), ("precision@150", 0.0)]
)
def test_long_lists(measure: str, spread: float) -> None:
    """Where only the probable numbers of documents above are followed: 300 documents."""
    labels, s = query(300, spread, seed=4)
    bound = bind(measure, labels)
    gradient, _ = bound.gradients(s)
    direction = np.random.default_rng(5).normal(size=300)
    # The loss is accurate to 1e-10: a shorter step would magnify what it is off by.
    ends = [bound.loss(s + sign * 1e-3 * direction)[0] for sign in (1, -1)]
    assert_allclose(gradient @ direction, (ends[0] - ends[1]) / 2e-3, rtol=1e-5)
    assert_allclose(gradient.sum(), 0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "spread"), [(1, 1.0), (10, 0.7), (10, 4.0), (40, 1.0)])
def test_long_lists_cut_at_a_rank(k: int, spread: float) -> None:
    """Value and slope by the definition: 1,500 documents, few of them relevant."""
    _, s = query(1500, spread, seed=6)
    labels = np.zeros(1500)
    labels[np.argsort(-s)[[0, 3, 8, 30, 200]]] = [1, 2, 1, 3, 2]
    measure, direction = NDCG(k=k), np.random.default_rng(7).normal(size=1500)
    bound = bind(measure, labels)
    assert_allclose(-bound.loss(s)[0], by_integration(measure, labels, s, 1.0), rtol=1e-9)
    ends = [by_integration(measure, labels, s + h * direction, 1.0) for h in (1e-4, -1e-4)]
    slope = bound.gradients(s)[0] @ direction
    assert_allclose(slope, -(ends[0] - ends[1]) / 2e-4, rtol=1e-6)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(-20, 20)), min_size=1, max_size=9),
    st.floats(0.01, 10),
)
@settings(max_examples=60)
def test_what_always_holds(documents: list[tuple[int, float]], sigma: float) -> None:
    """Better labels never sink below worse ones by the gradient; steps are at most σ."""
    labels, s = (np.array(column, dtype=float) for column in zip(*documents, strict=True))
    bound = bind(NDCG(), labels)
    gradient, curvature = bound.gradients(s, sigma)
    best, worst = labels == labels.max(), labels == labels.min()
    tiny = 1e-12 / sigma
    assert (gradient[best] <= tiny).all()
    assert (gradient[worst] >= -tiny).all()
    assert (np.abs(gradient) <= curvature * sigma * (1 + 1e-9) + 1e-300).all()
    assert -1 - 1e-10 <= bound.loss(s, sigma)[0] <= 0


# --- Tolerance --------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["ndcg", "rbp", "ndcg@5", "precision@30"])
@pytest.mark.parametrize(
    ("labels", "scores", "sigma"),
    [("graded", "scattered", 0.3), ("binary", "tied", 1.0), ("continuous", "clustered", 3.0),
     ("rare", "equal", 1.0), ("graded", "worst first", 100.0), ("graded", "scattered", 0.01)],
)  # fmt: skip
@loop("tolerance", [1e-3, 1e-4, 1e-6])
@loop("m", [2, 3, 9, 60])
def test_tolerance(
    measure: str, labels: str, scores: str, sigma: float, tolerance: float, m: int
) -> None:
    """Value and gradient are off by at most that, of the measure's scale and of that per σ."""
    rng = np.random.default_rng(4)
    y = make_labels(labels, m, rng)
    s, queries = make_scores(scores, y, rng), Queries.from_sizes([m])
    rough, exact = (
        SoftRank(measure, tolerance=most).bind(y, queries) for most in (tolerance, 1e-10)
    )
    best = get_measure(measure).bind(y, queries).per_query(y)[0]
    best = best if best > 0 else 1.0
    off = tolerance * best
    assert abs(rough.loss(s, sigma) - exact.loss(s, sigma))[0] <= off
    gradient, curvature = rough.gradients(s, sigma)
    expected, bend = exact.gradients(s, sigma)
    assert np.abs(gradient - expected).max() * sigma <= off
    assert np.abs(curvature - bend).max() * sigma**2 <= 1e-2 * best


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["ndcg", "rbp", "ndcg@20"])
@loop("sigma", [0.03, 1.0, 30.0])
def test_tolerance_for_long_lists(measure: str, sigma: float) -> None:
    """A thousand documents."""
    labels, s = query(1000, 1.0, seed=8)
    queries = Queries.from_sizes([1000])
    rough, exact = (SoftRank(measure, tolerance=t).bind(labels, queries) for t in (1e-4, 1e-10))
    best = get_measure(measure).bind(labels, queries).per_query(labels)[0]
    assert abs(rough.loss(s, sigma) - exact.loss(s, sigma))[0] <= 1e-4 * best
    off = np.abs(rough.gradients(s, sigma)[0] - exact.gradients(s, sigma)[0]).max()
    assert off * sigma <= 1e-4 * best
