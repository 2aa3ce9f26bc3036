"""Soft ranks, and measures of them: pair by pair in short lists, by sweeps in longer ones.

With other sigmoids than the logistic function, they are summed pair by pair at any length.
"""

from math import erfc
from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query, delta_in
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.reductions import all_alike
from gbrank.kernels.sweeps import (
    LOGISTIC,
    RANK_FORCES,
    SWEEP_SCRATCH,
    PairWeights,
    add_sums,
    sweep_pairs,
)

# Up to this many documents, pairs are summed one by one. Measured break-even points are 1,500 (five
# grades) to 2,400 (a continuous label).
LONGEST_DIRECT = 1600
SCRATCH = 2 + SWEEP_SCRATCH
# Factors on z with which each sigmoid has the logistic function's slope at 0, 1/4.
ARCTAN_WIDTH, ERF_WIDTH = np.pi / 4, np.sqrt(np.pi) / 4


class ApproxParameters(NamedTuple):
    """The parameters where the sigmoid is the logistic function.

    Parameters
    ----------
    beta : float
        Steepness of what is logistic in ranks, per rank.
    direct : float
        Factor on the sizes up to which pairs are summed one by one.
    """

    beta: float
    direct: float = 1.0


class SigmoidParameters(NamedTuple):
    """The parameters of other sigmoids.

    Parameters
    ----------
    beta : float
        Steepness of what is logistic in ranks, per rank.
    arctan : bool
        Whether the sigmoid is the arc tangent, or else the error function.
    """

    beta: float
    arctan: bool


def approximate_measure(
    query: Query,
    measure: MeasureFunctions,
    parameters: ApproxParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ)).

    With d = ∂M/∂r̂, which `by_rank` gives, the gradient of the loss is Σ_j (d_i − d_j) p (1 − p)/σ,
    p the probability that the pair is in the wrong order. Each pair is majorised by a logistic loss
    of the same slope, whose curvature is |d_i − d_j| p (1 − p)²/σ².
    """
    s, x, sigma, scratch = query.scores, query.ranking.x, query.sigma, query.scratch
    first = query.ranking.first
    m = s.size
    if all_alike(x):
        return 0.0
    swept = m > parameters.direct * LONGEST_DIRECT
    ranks, slopes, up, down = scratch[0], scratch[1], scratch[2], scratch[3]
    ranks[:m] = 1.0
    if swept:
        slopes[:m] = 1.0
        add_sums(s, sigma, first, slopes, LOGISTIC, ranks)
    else:
        _add_ranks(s, sigma, up, down, ranks)
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, parameters.direct, slopes)
    if gradient.size == 0:
        return loss
    if swept:
        for i in range(m):
            slopes[i] = -slopes[i]
        rest = scratch[2:]
        sweep_pairs(
            s, sigma, first, slopes, PairWeights(unit=False, separable=False), delta_in(rest),
            RANK_FORCES, rest, gradient, curvature,
        )  # fmt: skip
    else:
        _add_forces(s, sigma, slopes, up, down, gradient, curvature)
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


def sigmoid_measure(
    query: Query,
    measure: MeasureFunctions,
    parameters: SigmoidParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} q((s_i − s_j)/σ).

    q is the chance of the wrong order, 1 minus the sigmoid. With d = ∂M/∂r̂, the gradient of the
    loss is −Σ_j (d_i − d_j) q'/σ, and the curvature Σ_j |d_i − d_j| |q'|/σ² times the chance of the
    order that d wants, as with the logistic function.
    """
    s, x, sigma = query.scores, query.ranking.x, query.sigma
    m = s.size
    if all_alike(x):
        return 0.0
    ranks, slopes = query.scratch[0], query.scratch[1]
    ranks[:m] = 1.0
    for i in range(m - 1):
        for j in range(i + 1, m):
            wrong, _ = _sigmoid((s[i] - s[j]) / sigma, parameters.arctan)
            ranks[i] += wrong
            ranks[j] += 1.0 - wrong
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, 1.0, slopes)
    if gradient.size == 0:
        return loss
    for i in range(m - 1):
        for j in range(i + 1, m):
            wrong, slope = _sigmoid((s[i] - s[j]) / sigma, parameters.arctan)
            force = (slopes[i] - slopes[j]) * slope
            gradient[i] += force
            gradient[j] -= force
            bend = abs(force) * (1.0 - wrong if force < 0 else wrong)
            curvature[i] += bend
            curvature[j] += bend
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


@inline
def pair_force(weight: float, u: float) -> tuple[float, float]:
    """Return weight p (1 − p), p = 1/(1 + u), and the curvature of its logistic majoriser.

    A negative weight pulls the upper document, above with probability p, further up.
    """
    above = 1.0 / (1.0 + u)
    force = weight * u * above * above
    right = above if weight < 0 else u * above
    return force, abs(force) * right


@inline
def _add_ranks(s: Vector, sigma: float, up: Vector, down: Vector, ranks: Vector) -> None:
    """Add to each document's rank, pair by pair; fill `up` and `down`."""
    exponentials(s, sigma, up, down)
    wide = is_wide(s, sigma)
    for i in range(s.size - 1):
        scale = row_exponentials(i, wide, s, sigma, up, down)
        own = 0.0
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            u = up[j] * scale
            above = 1.0 / (1.0 + u)
            ranks[j] += above
            own += u * above
        ranks[i] += own


@inline
def _add_forces(
    s: Vector, sigma: float, slopes: Vector, up: Vector, down: Vector, gradient: Vector,
    curvature: Vector,
) -> None:  # fmt: skip
    """Add all pairs, in units of σ."""
    wide = is_wide(s, sigma)
    for i in range(s.size - 1):
        scale = row_exponentials(i, wide, s, sigma, up, down)
        own_force = 0.0
        own_curvature = 0.0
        own = slopes[i]
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            force, added = pair_force(own - slopes[j], up[j] * scale)
            own_force += force
            gradient[j] -= force
            own_curvature += added
            curvature[j] += added
        gradient[i] += own_force
        curvature[i] += own_curvature


@inline
def _sigmoid(z: float, arctan: bool) -> tuple[float, float]:
    """Return the chance that a document z ≥ 0 widths above another is below it, and its slope."""
    if arctan:
        width = ARCTAN_WIDTH * z
        return np.arctan2(1.0, width) / np.pi, 0.25 / (1.0 + width * width)
    width = ERF_WIDTH * z
    return 0.5 * erfc(width), 0.25 * np.exp(-width * width)
