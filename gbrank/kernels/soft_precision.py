"""Average precision of soft ranks: pair by pair in short lists, by sweeps in longer ones."""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query, delta_in
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.reductions import all_alike
from gbrank.kernels.soft_ranks import pair_force
from gbrank.kernels.sweeps import (
    LOGISTIC,
    RANK_FORCES,
    SWEEP_SCRATCH,
    PairWeights,
    add_sums,
    sweep_pairs,
)

# Up to this many documents, all pairs are summed one by one: the measured break-even point.
LONGEST_DIRECT = 1000
SCRATCH = 4 + SWEEP_SCRATCH + 5 + 4  # of pairs, of sweeps, of their documents, of a delta


class SmoothAPParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    own : float
        How much a document counts as above itself, in its rank among relevant ones.
    longest : float
        Up to how many documents pairs are summed one by one.
    """

    own: float = 1.0
    longest: float = LONGEST_DIRECT


def smooth_average_precision(
    query: Query,
    measure: MeasureFunctions,
    parameters: SmoothAPParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return −1/R Σ_i x_i ĉ_i/r̂_i, r̂_i and ĉ_i the soft ranks among all and among relevant ones.

    ĉ_i counts the document itself as `own`. With P_i = ĉ_i/r̂_i and
    a_i = x_i/(R r̂_i), the gradient of the loss is
    Σ_j (a_i (x_j − P_i) − a_j (x_i − P_j)) p (1 − p)/σ, p the probability that i is above j.
    """
    s, x, sigma, scratch = query.scores, query.ranking.x, query.sigma, query.scratch
    first, scale = query.ranking.first, query.ranking.scale
    m = s.size
    if all_alike(x):
        return 0.0
    up, down, ranks, precisions = scratch[0], scratch[1], scratch[2], scratch[3]
    swept = m > parameters.longest
    ranks[:m] = 1.0
    precisions[:m] = parameters.own  # at first, the ranks among relevant documents
    if swept:
        up[:m] = 1.0
        for own in range(2):
            add_sums(s, sigma, first, x if own else up[:m], LOGISTIC, precisions if own else ranks)
    else:
        _add_ranks(s, sigma, x, up, down, ranks, precisions)
    loss = 0.0
    for i in range(m):
        precisions[i] /= ranks[i]
        loss -= scale * x[i] * precisions[i]
    if gradient.size == 0:
        return loss
    shares = ranks
    for i in range(m):
        shares[i] = scale * x[i] / ranks[i]
    if swept:
        _sweep(s, sigma, x, shares, precisions, scratch[4:], gradient, curvature)
    else:
        _add_forces(s, sigma, x, shares, precisions, up, down, gradient, curvature)
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


@inline
def _add_ranks(
    s: Vector, sigma: float, x: Vector, up: Vector, down: Vector, ranks: Vector,
    relevant_ranks: Vector,
) -> None:  # fmt: skip
    """Add to both ranks of each document, pair by pair; fill `up` and `down`."""
    exponentials(s, sigma, up, down)
    wide = is_wide(s, sigma)
    for i in range(s.size - 1):
        scale = row_exponentials(i, wide, s, sigma, up, down)
        rank = 0.0
        relevant_rank = 0.0
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            u = up[j] * scale
            above = 1.0 / (1.0 + u)
            ranks[j] += above
            rank += u * above
            relevant_ranks[j] += x[i] * above
            relevant_rank += x[j] * u * above
        ranks[i] += rank
        relevant_ranks[i] += relevant_rank


@inline
def _add_forces(
    s: Vector, sigma: float, x: Vector, shares: Vector, precisions: Vector, up: Vector,
    down: Vector, gradient: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Add all pairs, in units of σ."""
    wide = is_wide(s, sigma)
    for i in range(s.size - 1):
        scale = row_exponentials(i, wide, s, sigma, up, down)
        own_force = 0.0
        own_curvature = 0.0
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            weight = shares[i] * (x[j] - precisions[i]) - shares[j] * (x[i] - precisions[j])
            force, added = pair_force(weight, up[j] * scale)
            own_force += force
            gradient[j] -= force
            own_curvature += added
            curvature[j] += added
        gradient[i] += own_force
        curvature[i] += own_curvature


@inline
def _sweep(
    s: Vector, sigma: float, x: Vector, shares: Vector, precisions: Vector, scratch: Matrix,
    gradient: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Do as `_add_forces`, by sweeps.

    A pair of a relevant and an irrelevant document has weight a P, of the former; then, among
    relevant documents alone, a pair has the difference of their a (1 − P) as weight.
    """
    rest = scratch[SWEEP_SCRATCH:]
    scores, values, heads = rest[0], rest[1], rest[2].view(np.int64)
    forces, curvatures, delta = rest[3], rest[4], delta_in(rest[5:])
    for alone in range(2):
        n = 0
        for i in range(s.size):
            if alone and x[i] == 0:
                continue
            pull = shares[i] * precisions[i]  # 0 if it is irrelevant
            tied = n > 0 and scores[n - 1] == s[i]
            scores[n] = s[i]
            heads[n] = heads[n - 1] if tied else n
            values[n] = pull - shares[i] if alone else x[i]
            delta.upper[n] = 1.0 if alone else pull
            delta.share[n] = 0.0 if alone else 1.0 - x[i]
            delta.lower[n] = 0.0 if alone else pull
            # Of tied documents the relevant ones stand first, and are alike.
            delta.inside[n] = delta.inside[n - 1] if tied else delta.upper[n]
            forces[n] = 0.0
            curvatures[n] = 0.0
            n += 1
        sweep_pairs(
            scores[:n], sigma, heads[:n], values[:n], PairWeights(unit=False, separable=True),
            delta, RANK_FORCES, scratch, forces[:n], curvatures[:n],
        )  # fmt: skip
        n = 0
        for i in range(s.size):
            if alone and x[i] == 0:
                continue
            gradient[i] += forces[n]
            curvature[i] += curvatures[n]
            n += 1
