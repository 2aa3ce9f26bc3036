"""Soft ranks, and measures of them: pair by pair in short lists, by sweeps in longer ones."""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.logistic import RANKS, SLOPES, SPARE, all_alike
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.sweeps import LOGISTIC, RANK_FORCES, add_sums, sweep_pairs

__all__ = ["LONGEST_DIRECT", "SCRATCH", "approximate_measure", "pair_force"]

# Up to so many documents, pairs are summed one by one: where the times meet, as measured, between
# 1,500 (five grades) and 2,400 (a continuous label).
LONGEST_DIRECT = 1600
SCRATCH = 11


def approximate_measure(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} 1/(1 + exp((s_i − s_j)/σ)).

    `prepare` is the measure's `by_rank`; ``params[0]`` is β, ``params[1]`` a factor on
    the sizes up to which to go pair by pair. With d = ∂M/∂r̂ the gradient of the
    loss is Σ_j (d_i − d_j) p (1 − p)/σ, p the probability that the pair is in the wrong order.
    Each pair is majorised by a logistic loss of the same slope, whose curvature is
    |d_i − d_j| p (1 − p)²/σ².
    """
    m = s.size
    if all_alike(documents[0, :m]):
        return 0.0
    swept = m > params[1] * LONGEST_DIRECT
    ranks = work[RANKS]
    slopes = work[2]
    up = work[SCRATCH - 2]
    down = work[SCRATCH - 1]
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
    work[SLOPES, 0] = params[0]
    work[SLOPES, 1] = params[1]
    prepare(-1, m, first, last, documents[0, :m], query, table, work, slopes)
    loss = -work[SLOPES, 0]
    if gradient.size == 0:
        return loss
    if swept:
        for i in range(m):
            slopes[i] = -slopes[i]
        sweep_pairs(
            s, sigma, first, slopes, False, False, work, RANK_FORCES, work[SPARE:],
            gradient, curvature,
        )  # fmt: skip
    for i in range(0 if swept else m - 1):
        if wide:
            row_exponentials(i, s, sigma, up)
        _push(i, slopes, up, 1.0 if wide else down[i], gradient, curvature)
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
def _push(
    i: int, slopes: Vector, up: Vector, scale: float, gradient: Vector, curvature: Vector
) -> None:
    """Add the pairs of document i with all below it, in units of σ."""
    push = 0.0
    bend = 0.0
    own = slopes[i]
    for j in range(np.uintp(i + 1), np.uintp(gradient.size)):
        force, bent = pair_force(own - slopes[j], up[j] * scale)
        push += force
        gradient[j] -= force
        bend += bent
        curvature[j] += bent
    gradient[i] += push
    curvature[i] += bend
