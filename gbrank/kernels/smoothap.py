"""Average precision of soft ranks, by direct summation over pairs."""

from typing import Any

import numpy as np

from gbrank.kernels.approx import pair_force
from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.ranks import all_alike
from gbrank.kernels.units import LONGEST_STEP, bound_steps, to_score_units

__all__ = ["smooth_average_precision"]


def smooth_average_precision(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return −1/R Σ_i x_i ĉ_i/r̂_i, r̂_i and ĉ_i the soft ranks among all and among relevant ones.

    With P_i = ĉ_i/r̂_i and a_i = x_i/(R r̂_i), the gradient of the loss is
    Σ_j (a_i (x_j − P_i) − a_j (x_i − P_j)) p (1 − p)/σ, p the probability that i is above j.
    """
    m = s.size
    x = documents[0, :m]
    if all_alike(x):
        return 0.0
    up = work[0]
    down = work[1]
    ranks = work[2]
    precisions = work[3]
    wide = is_wide(s, sigma)
    if not wide:
        exponentials(s, sigma, up, down)
    ranks[:m] = 1.0
    precisions[:m] = 1.0  # the ranks among relevant documents, first
    for i in range(m - 1):
        if wide:
            row_exponentials(i, s, sigma, up)
        _add_ranks(i, x, up, 1.0 if wide else down[i], ranks, precisions)
    loss = 0.0
    for i in range(m):
        precisions[i] /= ranks[i]
        loss -= query[0] * x[i] * precisions[i]
    if gradient.size == 0:
        return loss
    shares = ranks
    for i in range(m):
        shares[i] = query[0] * x[i] / ranks[i]
    for i in range(m - 1):
        if wide:
            row_exponentials(i, s, sigma, up)
        _push(i, x, shares, precisions, up, 1.0 if wide else down[i], gradient, curvature)
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


@inline
def _add_ranks(
    i: int, x: Vector, up: Vector, scale: float, ranks: Vector, relevant_ranks: Vector
) -> None:
    """Add the pairs of document i with all below it to both ranks."""
    rank = 0.0
    relevant_rank = 0.0
    for j in range(np.uintp(i + 1), np.uintp(x.size)):
        u = up[j] * scale
        above = 1.0 / (1.0 + u)
        ranks[j] += above
        rank += u * above
        relevant_ranks[j] += x[i] * above
        relevant_rank += x[j] * u * above
    ranks[i] += rank
    relevant_ranks[i] += relevant_rank


@inline
def _push(
    i: int, x: Vector, shares: Vector, precisions: Vector, up: Vector, scale: float,
    gradient: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Add the pairs of document i with all below it, in units of σ."""
    push = 0.0
    bend = 0.0
    for j in range(np.uintp(i + 1), np.uintp(x.size)):
        weight = shares[i] * (x[j] - precisions[i]) - shares[j] * (x[i] - precisions[j])
        force, bent = pair_force(weight, up[j] * scale)
        push += force
        gradient[j] -= force
        bend += bent
        curvature[j] += bent
    gradient[i] += push
    curvature[i] += bend
