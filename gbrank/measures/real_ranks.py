"""Measures of ranks that are no integers: a measure declares two functions and their derivatives.

A measure is Σ_i W(g_i, r_i, c_i) T(r_i) over documents of gain g and rank r. T is the smooth
truncation at k. c_i begins at 1, and A(c, g_j, p_ij) adds to it, or multiplies it by, what every
other document j is to document i: p_ij = 1/(1 + exp(−β(r_i − r_j))) says how far j is above i.
Documents of gain 0 are worth nothing, and nothing to the others. (Qin, Liu & Li 2010, section 4.3
and appendix B.2.)
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.checks import Function, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Ranking
from gbrank.engine.numba_internals import unpack
from gbrank.numerics.logistic import truncation

# exp(−FAR) is lost in rounding, and so is what is reached with the chance NEGLIGIBLE.
FAR = 40.0
NEGLIGIBLE = 1e-22


class RealRanksWork(NamedTuple):
    """The derivatives that `above` returns, for each j."""

    changes: Vector


@inline
def measure_of_real_ranks(
    above: Function, worth: Function, ranking: Ranking, ranks: Vector, beta: float, slopes: Vector
) -> float:
    """Return the measure, and write its derivatives by ranks, which rise.

    ``above(c, g_j, p, 1 − p)`` returns A, and p (1 − p) ∂A/∂p, over c where A is a product;
    ``worth(g_i, r_i, c_i)`` returns W, ∂W/∂r and ∂W/∂c, times c where A is a product. A document
    with a negligible c, and all below it, are worth nothing.
    """
    gains = ranking.gains
    changes = unpack(ranking.memory, RealRanksWork).changes
    m = ranking.gains.size
    total = 0.0
    slopes[:m] = 0.0
    for i in range(m):
        if gains[i] == 0:
            continue
        c = 1.0
        end = 0
        while end < m and c >= NEGLIGIBLE:
            gap = beta * (ranks[i] - ranks[end])
            if gap < -FAR:
                break
            changes[end] = 0.0
            if gains[end] > 0 and end != i:
                u = np.exp(-abs(gap)) if gap < FAR else 0.0
                large = 1.0 / (1.0 + u)
                small = u * large
                p, q = (large, small) if gap >= 0 else (small, large)
                c, changes[end] = above(c, gains[end], p, q)
            end += 1
        if c < NEGLIGIBLE:
            break
        kept, kept_slope = truncation(ranks[i], ranking.cut, beta)
        value, by_rank, by_sum = worth(gains[i], ranks[i], c)
        total += kept * value
        slope = kept * by_rank + kept_slope * value
        for j in range(end):
            change = kept * by_sum * beta * changes[j]
            slope += change
            slopes[j] -= ranking.scale * change
        slopes[i] += ranking.scale * slope
    return ranking.scale * total
