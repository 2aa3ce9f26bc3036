"""Values and curvatures of relaxations against their formulas, written out in NumPy.

One query of seven documents without tied scores. Where a formula has derivatives of a measure,
they are taken by complex steps of the measure as it is written in the paper.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import norm

from battery import FACTS, kind
from cases import case
from gbrank import Queries, get_measure, get_objective
from slam_weights import weights

Vector = NDArray[np.float64]
Array = NDArray[Any]
Smooth = Callable[[Array], Any]

LABELS = np.array([3.0, 0, 1, 0, 2, 1, 0])
SCORES = np.array([0.31, 0.94, -0.52, 1.73, -1.21, 0.05, -0.38])
M = len(LABELS)
RELEVANT = (LABELS >= 1).astype(float)
GAINS = 2**LABELS - 1
SIGMAS = (0.25, 0.7, 3.0)
PLACES = np.arange(1, M + 1)
DIAGONAL = np.eye(M, dtype=bool)


def derivatives(name: Any, sigma: float, round: int = 0) -> tuple[Vector, Vector]:
    """Return gradient and curvature as gbrank computes them."""
    bound = get_objective(name).bind(LABELS, Queries.from_sizes([M]))
    gradient, curvature = bound.gradients(SCORES, sigma, round)
    return gradient, curvature


def slopes(function: Smooth, where: Array) -> Vector:
    """Return the partial derivatives of a function of an array, by complex steps."""
    found = np.empty(where.shape)
    for place in np.ndindex(where.shape):
        moved = where.astype(complex)
        moved[place] += 1e-30j
        found[place] = function(moved).imag / 1e-30
    return found


def gaps(sigma: float, scores: Vector = SCORES) -> Vector:
    """Return (s_i − s_j)/σ."""
    return np.subtract.outer(scores, scores) / sigma


def logistic(z: Array) -> Array:
    """Return 1/(1 + exp(−z)), of complex numbers too."""
    return 1 / (1 + np.exp(-z))


# --- Measures, as the relaxations write them ---------------------------------------------------


def dcg_of_ranks(ranks: Array) -> Any:
    """NDCG of any numbers for ranks."""
    ideal = (np.sort(GAINS)[::-1] / np.log2(1 + PLACES)).sum()
    return (GAINS / np.log(1 + ranks) * np.log(2)).sum() / ideal


def ap_of_ranks(ranks: Array) -> Any:
    """AP of soft ranks: equation 22 of ApproxRank, β = 10."""
    above = logistic(10 * np.subtract.outer(ranks, ranks)) * RELEVANT
    above = np.where(DIAGONAL, 1, above)
    return (RELEVANT * above.sum(axis=1) / ranks).sum() / RELEVANT.sum()


def cascade_of_ranks(x: Vector, ranks: Array) -> Any:
    """RR and ERR: a user who stops at document i with probability x_i."""
    left = 1 - x * logistic(10 * np.subtract.outer(ranks, ranks))
    return (x / ranks * np.where(DIAGONAL, 1, left).prod(axis=1)).sum()


def dcg_of_places(means: Array) -> Any:
    """NDCG of the mean gain at each position."""
    ideal = (np.sort(GAINS)[::-1] / np.log2(1 + PLACES)).sum()
    return (means / np.log2(1 + PLACES)).sum() / ideal


def ap_of_places(means: Array) -> Any:
    """AP of the chance that each position holds a relevant document."""
    return (means * np.cumsum(means) / PLACES).sum() / RELEVANT.sum()


def cascade_of_places(means: Array) -> Any:
    """RR and ERR, likewise."""
    passed = np.concatenate([[1], np.cumprod(1 - means)[:-1]])
    return (means * passed / PLACES).sum()


SATISFIED = GAINS / 16
OF_RANKS = {
    "ndcg": dcg_of_ranks,
    "ap": ap_of_ranks,
    "rr": partial(cascade_of_ranks, RELEVANT),
    "err": partial(cascade_of_ranks, SATISFIED),
}
OF_PLACES: dict[str, tuple[Vector, Smooth]] = {
    "ndcg": (GAINS, dcg_of_places),
    "ap": (RELEVANT, ap_of_places),
    "rr": (RELEVANT, cascade_of_places),
    "err": (SATISFIED, cascade_of_places),
}

# --- Formulas ------------------------------------------------------------------------------------


def majoriser(value: Smooth, sigma: float) -> Vector:
    """Σ_j |w_ij| p (1 − p)²/σ², p the chance of the wrong order.

    `value` is a function of the chances that j is above i; w_ij is by how much it grows as the
    pair turns round. It is d_i − d_j where the value is one of ranks.
    """
    above = np.where(DIAGONAL, 0, expit(-gaps(sigma)))
    slope = slopes(value, above)
    weight = slope - slope.T
    wrong = np.where(weight > 0, above.T, above)
    return (np.abs(weight) * wrong * (1 - wrong) ** 2).sum(axis=1) / sigma**2


def approxrank(measure: str, sigma: float) -> Vector:
    """The measure at r̂_i = 1 + Σ_j p_ij."""
    return majoriser(lambda above: OF_RANKS[measure](1 + above.sum(axis=1)), sigma)


def smoothap(sigma: float) -> Vector:
    """Precision at soft ranks, equation 9 of SmoothRank."""
    return majoriser(
        lambda above: (
            (RELEVANT * (1 + above @ RELEVANT) / (1 + above.sum(axis=1))).sum() / RELEVANT.sum()
        ),
        sigma,
    )


def smoothrank(measure: str, sigma: float) -> Vector:
    """(|gradient| + its mean)/w, over the step 1/(1 + w²/v) of the width w = √σ."""
    size = np.abs(derivatives(f"smooth:{measure}", sigma)[0])
    return (size + size.mean()) / np.sqrt(sigma) * (1 + sigma / np.var(SCORES))


def tierank(measure: str, sigma: float) -> Vector:
    """(|gradient| + its mean)/σ."""
    size = np.abs(derivatives(f"tie:{measure}", sigma)[0])
    return (size + size.mean()) / sigma


def rank_chances(sigma: float, x: float) -> Vector:
    """Return, for each document i, the chances that 0, 1, ... others have noisy scores above x."""
    above = norm.cdf((SCORES - x) / sigma)
    found = np.empty((M, M))
    for i in range(M):
        chances = np.ones(1)
        for p in np.delete(above, i):
            chances = np.convolve(chances, [1 - p, p])
        found[i] = chances
    return found


def softrank(sigma: float) -> Vector:
    """∫ φ_k Σ_i φ_i |G_k − G_i| dx times the mean fall D(r) − D(r + 1) there, over σ²."""
    discounts = 1 / np.log2(1 + PLACES)
    falls = np.append(-np.diff(discounts), 0)
    ideal = (np.sort(GAINS)[::-1] * discounts).sum()
    xs = np.arange(SCORES.min() - 9 * sigma, SCORES.max() + 9 * sigma, sigma / 50)
    total = np.zeros(M)
    for x in xs:
        density = norm.pdf((SCORES - x) / sigma)
        if density.sum() > 0:
            fall = density @ rank_chances(sigma, x) @ falls / density.sum()
            total += density * (np.abs(np.subtract.outer(GAINS, GAINS)) @ density) * fall
    return total / 50 / ideal / sigma**2


def softmax(sigma: float) -> Vector:
    """p (1 − p)/σ²."""
    p = np.exp(SCORES / sigma)
    p /= p.sum()
    return p * (1 - p) / sigma**2


def listmle(sigma: float) -> Vector:
    """Σ π (1 − π)/σ² over the draws that a document could be drawn in."""
    total = np.zeros(M)
    for label in LABELS[LABELS > 0]:
        share = np.exp(SCORES / sigma) * (label >= LABELS)
        share /= share.sum()
        total += share * (1 - share)
    return total / sigma**2


def slam(measure: str, sigma: float) -> Vector:
    """The second derivatives of Σ v_i σ log(1 + Σ_{lower j} exp((1 + s_j − s_i)/σ))."""
    grades, v = map(np.array, weights(get_measure(measure), LABELS.tolist()))
    total = np.zeros(M)
    for i in range(M):
        shares = np.exp((1 + SCORES - SCORES[i]) / sigma) * (grades < grades[i])
        violated = shares.sum() / (1 + shares.sum())
        shares /= 1 + shares.sum()
        total += v[i] * shares * (1 - shares)
        total[i] += v[i] * violated * (1 - violated)
    return total / sigma


CURVATURES: dict[str, Callable[[float], Any]] = {
    **{f"approx:{name}": partial(approxrank, name) for name in OF_RANKS},
    **{f"smooth:{name}": partial(smoothrank, name) for name in OF_PLACES},
    **{f"tie:{name}": partial(tierank, name) for name in ("ndcg", "ap")},
    "smoothap": smoothap,
    "soft(tolerance=1e-10):ndcg": softrank,
    "listnet": softmax,
    "xendcg": softmax,
    "listmle": listmle,
    "slam:ndcg": partial(slam, "ndcg"),
    "slam:ap": partial(slam, "ap"),
}  # fmt: skip


# Where logistic functions saturate, curvature is at least |gradient| over the longest Newton step,
# so many σ.
LONGEST_STEP = {
    "approx": 1e3, "smoothap": 1e3, "soft": 1,
    "listnet": 1, "xendcg": 1, "listmle": 1, "slam": 1,
}  # fmt: skip


def at_soft_ranks(measure: str, sigma: float) -> Any:
    """Return a measure at the ranks of ApproxRank, equation 20."""
    return OF_RANKS[measure](1 + np.where(DIAGONAL, 0, expit(-gaps(sigma))).sum(axis=1))


def at_soft_places(measure: str, sigma: float) -> Any:
    """Return a measure of SmoothRank's indicators, equation 7: position j is the j-th best's."""
    x, value = OF_PLACES[measure]
    h = np.exp(-(np.subtract.outer(SCORES, np.sort(SCORES)[::-1]) ** 2) / sigma)
    return value(x @ h / h.sum(axis=0))


VALUES: dict[str, Callable[[float], Any]] = {
    **{f"approx:{name}": partial(at_soft_ranks, name) for name in OF_RANKS},
    **{f"smooth:{name}": partial(at_soft_places, name) for name in OF_PLACES},
}


@pytest.mark.parametrize("name", VALUES)
def test_value(name: str) -> None:
    """Minus the loss, at the same widths."""
    bound = get_objective(name).bind(LABELS, Queries.from_sizes([M]))
    for sigma in SIGMAS:
        assert -bound.loss(SCORES, sigma)[0] == pytest.approx(VALUES[name](sigma), rel=1e-12)


@pytest.mark.parametrize("scale", [0.1, 0.8, 10.0])
def test_lemma_1_of_smoothrank(scale: float) -> None:
    """Scores times a and sigma times a² are the same objective."""
    bound = get_objective("smooth:ndcg").bind(LABELS, Queries.from_sizes([M]))
    for sigma in SIGMAS:
        scaled = bound.loss(scale * SCORES, scale**2 * sigma)
        assert scaled == pytest.approx(bound.loss(SCORES, sigma), rel=1e-10)


@pytest.mark.parametrize("name", CURVATURES)
def test_curvature(name: str) -> None:
    """At a width below, of about, and above the scores' spread."""
    longest = LONGEST_STEP.get(kind(name), np.inf)
    for sigma in SIGMAS:
        with case(sigma):
            gradient, curvature = derivatives(name, sigma)
            formula = CURVATURES[name](sigma)
            expected = np.maximum(formula, np.abs(gradient) / (longest * sigma))
            assert_allclose(curvature, expected, rtol=1e-8, atol=1e-9 * np.max(expected))
    # Each document of two grades is only pushed up or only down, by p, and p (1 − p) is less.
    assert (formula == expected).any() == (name != "slam:ap")


def test_every_curvature_has_a_formula() -> None:
    """Of gbrank's own, where the battery does not compare it with slopes of the gradient.

    Those of LambdaRank, noise and hinges are in test_swaps.py, test_noisy.py and
    test_pairwise_losses.py.
    """
    own = {name for name in FACTS if type(get_objective(name)).__module__.startswith("gbrank.")}
    slopes = {name for name in own if FACTS[name].second_derivative}
    assert own == {kind(name) for name in CURVATURES} | {"noisy", "lambda", "ranksvm"} | slopes


def test_longest_step() -> None:
    """Of two documents 2,000 σ apart in the wrong order: 1,000 σ."""
    bound = get_objective("ranknet").bind([1, 0], Queries.from_sizes([2]))
    gradient, curvature = bound.gradients([0.0, 1.0], 1 / 2000)
    assert_allclose(gradient, [-2000, 2000])
    assert_allclose(curvature, [4000, 4000])
