"""ApproxRank against the paper's numbers and theorems, and its formulas written out."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cases import loop
from gbrank import NDCG, ApproxRank, Precision, Queries, custom_measure, get_measure
from gbrank.numerics.vectors import LONGEST_STEP

Vector = NDArray[np.float64]
MEASURES = [
    "ndcg", "ndcg@3", "dcg", "rbp", "wta", "ap", "ap@3", "rr", "err", "kendall", "recall@2",
    "dcg(discount=linear)", "ndcg@3(discount=geometric_discount(0.4))",
]  # fmt: skip
untied = st.lists(st.integers(-30, 30), min_size=2, max_size=8, unique=True)


def soft_ranks(scores: Any, alpha: float) -> Vector:
    """Equation 20, written out."""
    m = len(scores)
    return np.array(
        [
            1 + sum(1 / (1 + math.exp(alpha * (scores[i] - scores[j]))) for j in range(m) if j != i)
            for i in range(m)
        ]
    )


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


@given(untied, st.floats(0.2, 5))
@settings(max_examples=60)
def test_theorem_3(places: list[int], alpha: float) -> None:
    """Soft ranks differ from ranks by less than (n − 1)/(exp(δ α) + 1)."""
    scores = np.array(places, dtype=float)
    ranks = 1 + (scores[None, :] > scores[:, None]).sum(axis=1)
    error = np.abs(soft_ranks(scores, alpha) - ranks).max()
    gap = np.diff(np.sort(scores)).min()
    assert error <= (len(scores) - 1) / (math.exp(gap * alpha) + 1) + 1e-12


@given(untied, st.data())
@settings(max_examples=60)
def test_ndcg_is_that_of_soft_ranks(places: list[int], data: Any) -> None:
    """Equation 21."""
    labels = data.draw(st.lists(st.integers(0, 4), min_size=len(places), max_size=len(places)))
    assume(len(set(labels)) > 1)
    scores, sigma = np.array(places) / 7, 0.6
    ranks = soft_ranks(scores, 1 / sigma)
    gains = 2.0 ** np.array(labels) - 1
    ideal = sum(g / math.log2(r + 1) for r, g in enumerate(sorted(gains, reverse=True), 1))
    expected = (gains / np.log2(1 + ranks)).sum() / ideal
    assert approximation(NDCG(), labels, scores, sigma) == pytest.approx(expected, rel=1e-12)


@given(untied, st.data())
@settings(max_examples=60)
def test_ap_is_that_of_soft_ranks(places: list[int], data: Any) -> None:
    """Equation 22 with its β of 10."""
    labels = data.draw(st.lists(st.integers(0, 1), min_size=len(places), max_size=len(places)))
    assume(len(set(labels)) > 1)
    scores, sigma, beta = np.array(places) / 7, 0.6, 10.0
    ranks = soft_ranks(scores, 1 / sigma)
    relevant = [i for i, label in enumerate(labels) if label]
    total = 0.0
    for i in relevant:
        before = sum(
            1 / (1 + math.exp(min(beta * (ranks[j] - ranks[i]), 700))) for j in relevant if j != i
        )
        total += (1 + before) / ranks[i]
    assert approximation("ap", labels, scores, sigma) == pytest.approx(total / len(relevant))


@pytest.mark.slow
@given(untied, st.data())
@settings(max_examples=60)
def test_theorems_5_and_6(places: list[int], data: Any) -> None:
    """The measure is what is left where σ → 0 (and β → ∞): within the error of its ranks."""
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(places), max_size=len(places)))
    assume(len(set(labels)) > 1 and max(labels) > 0 and min(labels) == 0)
    for name in MEASURES:
        measure = get_measure(name)
        bound = ApproxRank(measure, beta=200).bind(labels, Queries.from_sizes([len(labels)]))
        limit = -bound.loss(np.array(places, dtype=float), 0.02)[0]
        assert limit == pytest.approx(measure(labels, places), abs=1e-6)


@pytest.mark.parametrize("name", MEASURES)
@loop("sigma", [0.1, 1.0, 10.0])
def test_gradient(name: str, sigma: float) -> None:
    """Appendix B: central differences of the loss."""
    rng, step = np.random.default_rng(3), 1e-6
    labels, scores = rng.integers(0, 4, 9).astype(float), rng.normal(size=9)
    bound = ApproxRank(name).bind(labels, Queries.from_sizes([9]))
    gradient, curvature = bound.gradients(scores, sigma)
    for i in range(9):
        move = step * np.eye(9)[i]
        slope = (bound.loss(scores + move, sigma) - bound.loss(scores - move, sigma))[0] / 2 / step
        assert gradient[i] == pytest.approx(slope, rel=1e-5, abs=1e-8)
    assert (curvature > 0).all()


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


def test_curvature_majorises_pairs() -> None:
    """Two documents, written out: |d_1 − d_2| p (1 − p)² / σ², p the chance of the wrong order."""
    sigma, gap = 0.5, 0.3
    bound = ApproxRank("dcg(discount=reciprocal)").bind([1, 0], Queries.from_sizes([2]))
    gradient, curvature = bound.gradients([0.0, gap], sigma)
    wrong = 1 / (1 + math.exp(-gap / sigma))
    slope = 1 / (1 + wrong) ** 2  # of 1/r at r = 1 + wrong
    assert gradient == pytest.approx([-slope * wrong * (1 - wrong) / sigma] * np.array([1, -1]))
    assert curvature == pytest.approx([slope * wrong * (1 - wrong) ** 2 / sigma**2] * 2)


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
# Each is compiled on its own.
sigmoids = pytest.mark.parametrize(
    "sigmoid", [pytest.param("arctan", marks=pytest.mark.slow), "erf"]
)


def test_tanh_is_logistic() -> None:
    """The third one of footnote 3 needs no option."""
    for z in (-3.0, 0.0, 0.7):
        assert 0.5 * (1 - math.tanh(z / 2)) == pytest.approx(1 / (1 + math.exp(z)))


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


@sigmoids
@pytest.mark.parametrize("name", MEASURES)
def test_gradient_of_sigmoids(sigmoid: str, name: str) -> None:
    """Central differences of the loss."""
    rng, step = np.random.default_rng(4), 1e-6
    labels, scores = rng.integers(0, 3, 9), rng.normal(size=9)
    bound = ApproxRank(name, sigmoid=sigmoid).bind(labels, Queries.from_sizes([9]))
    for sigma in (0.3, 2.0):
        gradient, curvature = bound.gradients(scores, sigma)
        for i, unit in enumerate(step * np.eye(9)):
            rise = bound.loss(scores + unit, sigma)[0] - bound.loss(scores - unit, sigma)[0]
            assert gradient[i] == pytest.approx(rise / (2 * step), rel=1e-5, abs=1e-7)
        assert (curvature > 0).all()


@sigmoids
def test_extreme_scores_of_sigmoids(sigmoid: str) -> None:
    """Finite, and the measure itself where documents are far apart."""
    bound = ApproxRank("ndcg", sigmoid=sigmoid).bind([2, 0, 1], Queries.from_sizes([3]))
    for scores, sigma in (([1e300, -1e300, 0], 1e-300), ([0, 0, 0], 1e300), ([3, 1, 2], 1e-300)):
        gradient, curvature = bound.gradients(np.array(scores, dtype=float), sigma)
        assert np.isfinite(gradient).all()
        assert (np.isfinite(curvature) & (curvature > 0)).all()
    assert bound.loss([3.0, 1.0, 2.0], 1e-300)[0] == pytest.approx(-1)


def test_measures_it_does_not_take() -> None:
    """Refused by name, and a discount that is only known at whole ranks."""
    with pytest.raises(ValueError, match=r"measure must be a function of ranks.*mine"):
        ApproxRank(custom_measure(lambda scores, labels: 1.0, name="mine"))
    own = NDCG(discount=lambda ranks: 1 / ranks)
    with pytest.raises(ValueError, match="discount must be one known by name"):
        ApproxRank(own).bind([1, 0], Queries.from_sizes([2]))
    with pytest.raises(ValueError, match="beta must be a number above 0"):
        ApproxRank(Precision(k=1), beta=-1)
    with pytest.raises(ValueError, match=r"sigmoid must be one of .* got 'tanh'"):
        ApproxRank(sigmoid="tanh")  # type: ignore[arg-type]
