"""Measures of a user who goes down the list and stops: RR and ERR, made smooth.

The gain of a document is the probability of stopping there: 1 or 0 for RR, graded for ERR.
"""

from gbrank.common.arrays import Vector
from gbrank.engine.contract import Ranking
from gbrank.numerics.logistic import logistic, truncation

# exp(−FAR), and a share of NEGLIGIBLE, are lost in rounding.
FAR, NEGLIGIBLE = 40.0, 1e-22


def cascade_by_rank(
    ranking: Ranking, ranks: Vector, beta: float, direct: float, slopes: Vector
) -> float:
    """Return Σ_i x_i T(r̂_i)/r̂_i Π_{j ≠ i} (1 − x_j σ(β(r̂_i − r̂_j))) and write its slopes.

    x are the gains.
    """
    x = ranking.gains
    m = x.size
    total = 0.0
    largest = 0.0
    slopes[:m] = 0.0
    for a in range(m):
        if x[a] == 0:
            continue
        rank = ranks[a]
        kept, kept_slope = truncation(rank, ranking.cut, beta)
        passed = 1.0
        for b in range(m):
            gap = beta * (rank - ranks[b])
            if gap < -FAR or passed < NEGLIGIBLE * largest:
                break
            if x[b] > 0 and b != a:
                passed *= 1 - x[b] * logistic(gap)
        if passed < NEGLIGIBLE * largest:
            break  # documents further down are reached even less often
        reached = passed * x[a] / rank
        largest = max(largest, reached * kept)
        for b in range(m):
            gap = beta * (rank - ranks[b])
            if gap < -FAR:
                break
            if x[b] > 0 and b != a:
                before = logistic(gap)
                left = 1 - x[b] * before
                # (1 − before) / left is 1 for a document at which everybody stops
                share = 1.0 if x[b] == 1 else (1 - before) / left
                change = reached * kept * beta * x[b] * before * share
                slopes[a] -= change
                slopes[b] += change
        total += reached * kept
        slopes[a] += reached * (kept_slope - kept / rank)
    return total


def cascade_by_position(ranking: Ranking, means: Vector, slopes: Vector) -> float:
    """Return Σ_j w_j ḡ_j Π_{l < j} (1 − ḡ_l) and write its slopes."""
    discounts = ranking.discounts
    m = ranking.gains.size
    below = 0.0  # what reaching the position below is worth
    for p in range(m - 1, -1, -1):
        slopes[p] = discounts[p] - below
        below = discounts[p] * means[p] + (1 - means[p]) * below
    reached = 1.0
    for p in range(m):
        slopes[p] *= reached
        reached *= 1 - means[p]
    return below
