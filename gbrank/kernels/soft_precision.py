"""Average precision of soft ranks: pair by pair in short lists, by sweeps in longer ones."""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.exponentials import exponentials, is_wide, row_exponentials
from gbrank.kernels.logistic import all_alike
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units
from gbrank.kernels.soft_ranks import pair_force
from gbrank.kernels.swaps import INSIDE, LOWER, SHARE, UPPER
from gbrank.kernels.sweeps import LOGISTIC, RANK_FORCES, add_sums, sweep_pairs

__all__ = ["LONGEST_DIRECT", "SCRATCH", "smooth_average_precision"]

# Up to so many documents, all pairs are summed one by one: where the times meet, as measured.
LONGEST_DIRECT = 1000
SCRATCH = 16


def smooth_average_precision(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return −1/R Σ_i x_i ĉ_i/r̂_i, r̂_i and ĉ_i the soft ranks among all and among relevant ones.

    ``params[0]`` is up to how many documents to go pair by pair. With P_i = ĉ_i/r̂_i and
    a_i = x_i/(R r̂_i), the gradient of the loss is
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
    swept = m > params[0]
    wide = is_wide(s, sigma)
    if not (wide or swept):
        exponentials(s, sigma, up, down)
    ranks[:m] = 1.0
    precisions[:m] = 1.0  # the ranks among relevant documents, first
    if swept:
        up[:m] = 1.0
        for own in range(2):
            add_sums(s, sigma, first, x if own else up[:m], LOGISTIC, precisions if own else ranks)
    for i in range(0 if swept else m - 1):
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
    if swept:
        _sweep(s, sigma, x, work, gradient, curvature)
    for i in range(0 if swept else m - 1):
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


@inline
def _sweep(
    s: Vector, sigma: float, x: Vector, work: Matrix, gradient: Vector, curvature: Vector
) -> None:
    """Do as `_push` for all pairs; a and P are in rows 2 and 3 of `work`.

    A relevant and an irrelevant document weigh a P, of the relevant one; then, among relevant
    documents alone, two of them weigh the difference of their a (1 − P).
    """
    shares = work[2]
    precisions = work[3]
    scores = work[0]
    values = work[1]
    heads = work[4].view(np.int64)
    forces = work[5]
    bends = work[6]
    state = work[7:11]
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
            state[UPPER, n] = 1.0 if alone else pull
            state[SHARE, n] = 0.0 if alone else 1.0 - x[i]
            state[LOWER, n] = 0.0 if alone else pull
            # Of tied documents the relevant ones stand first, and are alike.
            state[INSIDE, n] = state[INSIDE, n - 1] if tied else state[UPPER, n]
            forces[n] = 0.0
            bends[n] = 0.0
            n += 1
        sweep_pairs(
            scores[:n], sigma, heads[:n], values[:n], False, True, state, RANK_FORCES, work[11:],
            forces[:n], bends[:n],
        )  # fmt: skip
        n = 0
        for i in range(s.size):
            if alone and x[i] == 0:
                continue
            gradient[i] += forces[n]
            curvature[i] += bends[n]
            n += 1
