"""ApproxRank against the paper's numbers, and its formulas written out."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import loop
from gbrank import ApproxRank, Queries
from gbrank.numerics.vectors import LONGEST_STEP

Vector = NDArray[np.float64]


def approximation(measure: Any, labels: Any, scores: Any, sigma: float) -> float:
    """Return the measure that ApproxRank trains."""
    bound = ApproxRank(measure).bind(labels, Queries.from_sizes([len(labels)]))
    return float(-bound.loss(np.array(scores, dtype=float), sigma)[0])


def test_table_1() -> None:
    """The paper's example of positions, through DCG with one relevant document at a time."""
    scores = [4.20074, 3.12378, 4.40918, 1.55258, 4.13330]
    positions = [2.00118, 4.00000, 1.00000, 5.00000, 2.99882]
    for document, position in enumerate(positions):
        labels = [float(document == other) for other in range(5)]
        dcg = approximation("dcg(gain=linear, discount=reciprocal)", labels, scores, 1 / 100)
        assert 1 / dcg == pytest.approx(position, abs=6e-6)


def logistic(z: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return 1/(1 + exp(−z)), short of overflow."""
    return 1 / (1 + np.exp(-(np.clip(z.real, -300, 300) + 1j * z.imag)))


def cascade(x: Vector, scores: NDArray[Any], sigma: float, beta: float) -> complex:
    """Σ x_i/r̂_i Π_{j ≠ i} (1 − x_j σ(β(r̂_i − r̂_j))), every factor of every product."""
    above = logistic((scores[None, :] - scores[:, None]) / sigma + 0j)
    np.fill_diagonal(above, 0)
    ranks = 1 + above.sum(axis=1)
    left = 1 - x * logistic(beta * (ranks[:, None] - ranks[None, :]))
    np.fill_diagonal(left, 1)
    return complex((x / ranks * left.prod(axis=1)).sum())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rr", "err"])
@loop("order", ["random", "best first", "worst first", "best in the middle"])
@loop("sigma", [0.003, 0.1])
def test_long_cascades(name: str, order: str, sigma: float) -> None:
    """What a user hardly reaches is left out; with it, loss and slopes (complex steps) agree."""
    rng, m = np.random.default_rng(4), 400
    labels = rng.choice(5, m, p=[0.5, 0.3, 0.1, 0.06, 0.04]).astype(float)
    key = {"best first": -labels, "worst first": labels, "best in the middle": labels % 4}
    by_place = np.argsort(key.get(order, rng.random(m)), kind="stable")
    scores = np.empty(m)
    scores[by_place] = np.sort(rng.normal(size=m))[::-1]
    x = (labels >= 1).astype(float) if name == "rr" else (2**labels - 1) / 16
    bound = ApproxRank(name).bind(labels, Queries.from_sizes([m]))
    gradient, _ = bound.gradients(scores, sigma)
    assert -bound.loss(scores, sigma)[0] == pytest.approx(cascade(x, scores, sigma, 10.0).real)
    tolerance = 1e-9 * np.abs(gradient).max() + 1e-18  # what is left out
    for i in np.concatenate([by_place[:10], by_place[10::40]]):
        moved = scores + 1e-30j * (np.arange(m) == i)
        slope = -cascade(x, moved, sigma, 10.0).imag / 1e-30
        assert gradient[i] == pytest.approx(slope, rel=1e-6, abs=tolerance)


# --- Other sigmoids -----------------------------------------------------------------------------

SIGMOIDS: dict[str, Any] = {
    "arctan": (
        lambda z: 0.5 - math.atan(math.pi * z / 4) / math.pi,
        lambda z: 0.25 / (1 + (math.pi * z / 4) ** 2),
    ),
    "erf": (
        lambda z: 0.5 * (1 - math.erf(math.sqrt(math.pi) * z / 4)),
        lambda z: 0.25 * math.exp(-math.pi * z * z / 16),
    ),
}
sigmoids = pytest.mark.parametrize("sigmoid", SIGMOIDS)
slow = pytest.mark.slow  # each is compiled on its own


@slow
@sigmoids
@given(st.lists(st.integers(-9, 9), min_size=2, max_size=7), st.sampled_from([0.3, 2.0, 40.0]))
@settings(max_examples=30)
def test_sigmoids_by_formula(sigmoid: str, places: list[int], sigma: float) -> None:
    """Soft ranks, loss, gradient and curvature, written out for one relevant document."""
    wrong, slope = SIGMOIDS[sigmoid]
    m, scores = len(places), np.array(places, dtype=float)
    z = (scores[:, None] - scores[None, :]) / sigma
    rank = 1 + sum(wrong(z[0, j]) for j in range(1, m))
    bound = ApproxRank("dcg(gain=linear, discount=reciprocal)", sigmoid=sigmoid).bind(
        [1] + [0] * (m - 1), Queries.from_sizes([m])
    )
    assert bound.loss(scores, sigma)[0] == pytest.approx(-1 / rank, rel=1e-12)
    force = np.array([slope(z[0, j]) for j in range(1, m)]) / rank**2 / sigma
    gradient, curvature = bound.gradients(scores, sigma)
    assert gradient == pytest.approx(np.r_[-force.sum(), force], rel=1e-11)
    bend = force / sigma * [1 - wrong(z[0, j]) for j in range(1, m)]
    least = np.r_[bend.sum(), bend]
    assert (curvature >= least * (1 - 1e-11)).all()
    assert np.isfinite(curvature).all()
    if m == 2:
        assert curvature == pytest.approx(
            np.maximum(least, np.abs(gradient) / sigma / LONGEST_STEP)
        )
