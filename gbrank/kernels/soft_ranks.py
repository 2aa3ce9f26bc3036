"""Soft ranks, and measures of them: pair by pair in short lists, by sweeps in longer ones."""

from typing import NamedTuple

import numpy as np

from gbrank.kernels.compiled import Vector, inline
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.logistic import all_alike
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.swaps import delta_in
from gbrank.kernels.sweeps import (
    LOGISTIC,
    RANK_FORCES,
    SWEEP_SCRATCH,
    PairWeights,
    add_sums,
    sweep_pairs,
)

# Up to so many documents, pairs are summed one by one: where the times meet, as measured, between
# 1,500 (five grades) and 2,400 (a continuous label).
LONGEST_DIRECT = 1600
SCRATCH = 2 + SWEEP_SCRATCH


class ApproxParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    beta : float
        Steepness of what is logistic in ranks, per rank.
    direct : float
        Factor on the sizes up to which pairs are summed one by one.
    """

    beta: float
    direct: float = 1.0


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
    s, x, sigma = query.scores, query.ranking.x, query.sigma
    first = query.ranking.first
    m = s.size
    if all_alike(x):
        return 0.0
    swept = m > parameters.direct * LONGEST_DIRECT
    ranks = query.scratch[0]
    slopes = query.scratch[1]
    up = query.scratch[2]
    down = query.scratch[3]
    ranks[:m] = 1.0
    if swept:
        slopes[:m] = 1.0
        add_sums(s, sigma, first, slopes, LOGISTIC, ranks)
    wide = is_wide(s, sigma)
    if not (wide or swept):
        exponentials(s, sigma, up, down)
    for i in range(0 if swept else m - 1):
        if wide:
            row_exponentials(i, s, sigma, up)
        ranks[i] += _add_ranks(i, m, up, 1.0 if wide else down[i], ranks)
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, parameters.direct, slopes)
    if gradient.size == 0:
        return loss
    if swept:
        for i in range(m):
            slopes[i] = -slopes[i]
        rest = query.scratch[2:]
        sweep_pairs(
            s, sigma, first, slopes, PairWeights(unit=False, separable=False), delta_in(rest),
            RANK_FORCES, rest, gradient, curvature,
        )  # fmt: skip
    for i in range(0 if swept else m - 1):
        if wide:
            row_exponentials(i, s, sigma, up)
        _add_row(i, slopes, up, 1.0 if wide else down[i], gradient, curvature)
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
def _add_ranks(i: int, m: int, up: Vector, scale: float, ranks: Vector) -> float:
    """Add document i to the ranks of all below it; return what they add to its own."""
    own = 0.0
    for j in range(np.uintp(i + 1), np.uintp(m)):
        u = up[j] * scale
        above = 1.0 / (1.0 + u)
        ranks[j] += above
        own += u * above
    return own


@inline
def _add_row(
    i: int, slopes: Vector, up: Vector, scale: float, gradient: Vector, curvature: Vector
) -> None:
    """Add the pairs of document i with all below it, in units of σ."""
    own_force = 0.0
    own_curvature = 0.0
    own = slopes[i]
    for j in range(np.uintp(i + 1), np.uintp(gradient.size)):
        force, added = pair_force(own - slopes[j], up[j] * scale)
        own_force += force
        gradient[j] -= force
        own_curvature += added
        curvature[j] += added
    gradient[i] += own_force
    curvature[i] += own_curvature
