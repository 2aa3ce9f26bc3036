"""Measures of a user who goes down the list and stops: RR and ERR, made smooth.

x is the probability of stopping at a document: 1 or 0 for RR, graded for ERR.
"""

from gbrank.kernels.compiled import Matrix, Positions, Vector
from gbrank.kernels.logistic import RANKS, SLOPES, logistic, truncation

__all__ = ["cascade_by_place", "cascade_by_rank"]

# Where exp(−FAR) and a share of NEGLIGIBLE are lost in rounding.
FAR, NEGLIGIBLE = 40.0, 1e-22


def cascade_by_rank(
    i: int, top: int, first: Positions, last: Positions,
    x: Vector, query: Vector, table: Vector, state: Matrix, out: Vector,
) -> None:  # fmt: skip
    """Write Σ_i x_i T(r̂_i)/r̂_i Π_{j ≠ i} (1 − x_j σ(β(r̂_i − r̂_j))) and its slopes."""
    m = x.size
    beta = state[SLOPES, 0]
    total = 0.0
    largest = 0.0
    out[:m] = 0.0
    for a in range(m):
        if x[a] == 0:
            continue
        rank = state[RANKS, a]
        kept, kept_slope = truncation(rank, query[1], beta)
        passed = 1.0
        for b in range(m):
            gap = beta * (rank - state[RANKS, b])
            if gap < -FAR or passed < NEGLIGIBLE * largest:
                break
            if x[b] > 0 and b != a:
                passed *= 1 - x[b] * logistic(gap)
        if passed < NEGLIGIBLE * largest:
            break  # who stands further down is reached even less often
        reached = passed * x[a] / rank
        largest = max(largest, reached * kept)
        for b in range(m):
            gap = beta * (rank - state[RANKS, b])
            if gap < -FAR:
                break
            if x[b] > 0 and b != a:
                before = logistic(gap)
                left = 1 - x[b] * before
                # (1 − before) / left is 1 for a document at which everybody stops
                share = 1.0 if x[b] == 1 else (1 - before) / left
                bend = reached * kept * beta * x[b] * before * share
                out[a] -= bend
                out[b] += bend
        total += reached * kept
        out[a] += reached * (kept_slope - kept / rank)
    state[SLOPES, 0] = total


def cascade_by_place(
    i: int, top: int, first: Positions, last: Positions,
    x: Vector, query: Vector, table: Vector, state: Matrix, out: Vector,
) -> None:  # fmt: skip
    """Write Σ_j w_j ḡ_j Π_{l < j} (1 − ḡ_l) and its slopes."""
    m = x.size
    below = 0.0  # what reaching the position below is worth
    for p in range(m - 1, -1, -1):
        out[p] = table[p] - below
        below = table[p] * state[RANKS, p] + (1 - state[RANKS, p]) * below
    reached = 1.0
    for p in range(m):
        out[p] *= reached
        reached *= 1 - state[RANKS, p]
    state[SLOPES, 0] = below
