"""SmoothRank against its formulas written out, its limits, and the paper's lemmas."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import loop
from gbrank import Queries, SmoothRank, get_measure

Vector = NDArray[np.float64]
MEASURES = ["ndcg", "ndcg@3", "dcg", "rbp", "ap", "ap@3", "rr", "rr@2", "err", "precision@3"]
untied = st.lists(st.integers(-12, 12), min_size=2, max_size=8, unique=True)


def indicators(scores: Vector, sigma: float) -> Vector:
    """Equation 7, written out: h[i, j], position j being that of the j-th best document."""
    centres = np.sort(scores)[::-1]
    weights = np.exp(-((scores[:, None] - centres[None, :]) ** 2) / sigma)
    return weights / weights.sum(axis=0)


def bind(measure: Any, labels: Any) -> Any:
    """Bind the objective to one query."""
    return SmoothRank(measure).bind(labels, Queries.from_sizes([len(labels)]))


@given(untied, st.data())
@settings(max_examples=60)
def test_formulas(places: list[int], data: Any) -> None:
    """Equation 8 and section 4.2: NDCG, AP and RR of soft indicators."""
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(places), max_size=len(places)))
    assume(0 in labels and max(labels) > 0)
    scores, sigma, m = np.array(places) / 5, 0.7, len(labels)
    h, places_1 = indicators(scores, sigma), np.arange(1, m + 1)
    gains = 2.0 ** np.array(labels) - 1
    ideal = (np.sort(gains)[::-1] / np.log2(1 + places_1)).sum()
    ndcg = (gains @ h / np.log2(1 + places_1)).sum() / ideal
    assert -bind("ndcg", labels).loss(scores, sigma)[0] == pytest.approx(ndcg, rel=1e-12)
    relevant = (np.array(labels) >= 1) @ h
    ap = (relevant * np.cumsum(relevant) / places_1).sum() / (np.array(labels) >= 1).sum()
    assert -bind("ap", labels).loss(scores, sigma)[0] == pytest.approx(ap, rel=1e-12)
    passed = np.concatenate([[1], np.cumprod(1 - relevant)[:-1]])
    rr = (relevant * passed / places_1).sum()
    assert -bind("rr", labels).loss(scores, sigma)[0] == pytest.approx(rr, rel=1e-12)


@pytest.mark.slow
@given(untied, st.data())
@settings(max_examples=60)
def test_small_sigma(places: list[int], data: Any) -> None:
    """Section 5.1: the measure is left, with an error of order exp(−μ/σ)."""
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(places), max_size=len(places)))
    assume(0 in labels and max(labels) > 0)
    scores = np.array(places, dtype=float)
    gap = np.diff(np.sort(scores)).min() ** 2
    for name in MEASURES:
        exact, bound = get_measure(name)(labels, scores), bind(name, labels)
        for sigma in (0.2, 0.1, 0.02):
            error = abs(-bound.loss(scores, sigma)[0] - exact)
            assert error <= 100 * len(labels) ** 2 * np.exp(-gap / sigma) + 1e-12


@pytest.mark.parametrize("name", MEASURES)
def test_large_sigma(name: str) -> None:
    """Section 5.3: a constant, that of every document being 1/m at each position."""
    labels, rng = [3, 0, 1, 0, 2], np.random.default_rng(0)
    losses = [bind(name, labels).loss(rng.normal(size=5), 1e12)[0] for _ in range(3)]
    assert losses == pytest.approx([losses[0]] * 3, abs=1e-9)
    gradient, _ = bind(name, labels).gradients(rng.normal(size=5), 1e12)
    assert np.abs(gradient).max() < 1e-10


@pytest.mark.parametrize("name", MEASURES)
@loop("sigma", [0.05, 0.5, 5.0])
def test_gradient(name: str, sigma: float) -> None:
    """Equation 10: central differences of the loss; and the sum over documents is zero."""
    rng, step = np.random.default_rng(3), 1e-6
    labels, scores = rng.integers(0, 4, 9).astype(float), rng.normal(size=9)
    bound = bind(name, labels)
    gradient, curvature = bound.gradients(scores, sigma)
    for i in range(9):
        move = step * np.eye(9)[i]
        slope = (bound.loss(scores + move, sigma) - bound.loss(scores - move, sigma))[0] / 2 / step
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-8)
    assert gradient.sum() == pytest.approx(0, abs=1e-14 * np.abs(gradient).sum() + 1e-15)
    assert (curvature > 0).all()


@given(untied, st.floats(0.1, 10), st.floats(0.1, 10))
@settings(max_examples=40)
def test_lemma_1(places: list[int], scale: float, sigma: float) -> None:
    """Scores times a and sigma times a² are the same objective."""
    labels = [float(i % 3) for i in range(len(places))]
    scores, bound = np.array(places, dtype=float), bind("ndcg", labels)
    scaled = bound.loss(scale * scores, scale**2 * sigma)
    assert scaled == pytest.approx(bound.loss(scores, sigma), rel=1e-10)


def test_tied_scores_do_not_move() -> None:
    """Where all scores tie the gradient is zero, as is declared."""
    gradient, curvature = bind("ndcg", [2, 0, 1]).gradients(np.zeros(3))
    assert (gradient == 0).all()
    assert (curvature > 0).all()
    assert SmoothRank().facts.needs_start


@pytest.mark.parametrize("measure", ["ndcg", "ap", "err"])
def test_gradient_where_unequal_gains_tie(measure: str) -> None:
    """It is the limit from the side where the larger gain is first, and not that from the other."""
    bound, scores = bind(measure, [0, 2, 1]), np.array([1.0, 1.0, 0.2])
    tied = bound.gradients(scores, 0.5)[0]
    second = np.array([0.0, 1.0, 0.0])
    above, below = (bound.gradients(scores + step * second, 0.5)[0] for step in (1e-9, -1e-9))
    assert tied == pytest.approx(above, abs=1e-7)
    assert np.abs(tied - below).max() > 0.005


def test_measures_it_does_not_take() -> None:
    """Refused by name."""
    with pytest.raises(ValueError, match=r"measure must say what each position is worth.*kendall"):
        SmoothRank("kendall")
