"""Average precision."""

import numpy as np

from gbrank.common.checks import Vector
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Ranking, SeparableDelta, Swaps
from gbrank.engine.numba_internals import slice_of
from gbrank.numerics.vectors import sum_of

from .measure import TruncatedRelevance
from .measure_registry import register_measure
from .real_ranks import RealRanksWork, measure_of_real_ranks


def ap_value(ranking: Ranking) -> float:
    """Write Σ over relevant documents of precision at their rank, averaged over ties.

    A position of a tied block (R relevant of n) holds a relevant document with probability R/n,
    and then t earlier positions of the block hold t (R − 1)/(n − 1) others on average.
    """
    gains = ranking.gains
    last = ranking.last
    discounts = ranking.discounts
    total = 0.0
    above = 0.0  # relevant documents in earlier blocks
    start = 0
    while start < gains.size:
        end = last[start]
        n = end - start
        relevant = sum_of(slice_of(gains, start, end))
        others = (relevant - 1) / (n - 1) if n > 1 else 0.0
        for p in range(start, end):
            total += relevant / n * discounts[p] * (above + 1 + (p - start) * others)
        above += relevant
        start = end
    return total * ranking.scale


@inline
def swap_inside(
    start: int, end: int, reach: int, above: float, relevant: float, discounts: Vector
) -> float:
    """Return the expected change of R·AP when a relevant and another document of a block swap."""
    n = end - start
    others = (relevant - 1) / (n - 2) if n > 2 else 0.0
    change = 0.0
    for p in range(start, end):
        t = p - start
        below = end - 1 - p
        reaching = min(t, reach - start)  # upper places above p that touch the top
        if p < reach:
            change += below * (above + 1 + t * others) * discounts[p]
        change += reaching * (others * (below + 1 - t) - above - 1) * discounts[p]
    return change * 2.0 / (n * (n - 1.0))


def ap_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill the separable swap delta of AP.

    With C the number of relevant documents up to a rank and w = 1/rank (0 beyond k), swapping the
    documents at ranks a < b, one of them relevant, changes R·AP by
    (C(a − 1) + 1) w(a) − C*(b) w(b) + Σ w over relevant documents between, C*(b) counting one
    of the pair. Expectations over tied blocks follow from the mean number of relevant documents
    before a position, given what stands there.
    """
    gains, last, discounts, scale = ranking.gains, ranking.last, ranking.discounts, ranking.scale
    above = 0.0  # relevant documents in earlier blocks
    passed = 0.0  # expected Σ w over the relevant documents of earlier blocks
    start = 0
    while start < gains.size:
        end = last[start]
        n = end - start
        reach = min(end, max(top, start))
        share = (reach - start) / n
        relevant = sum_of(slice_of(gains, start, end))
        block = 0.0
        for p in range(start, end):
            block += relevant / n * discounts[p]
        for kind in range(2):  # the block's irrelevant, then its relevant documents
            others = (relevant - kind) / (n - 1) if n > 1 else 0.0
            upper = 0.0
            lower = 0.0
            for p in range(start, end):
                t = p - start
                if p < reach:
                    upper += (above + 1 + t * others) * discounts[p]
                # for each position: how many of our document's n places are before it, after it
                upper += others * discounts[p] * min(t, reach - start)
                lower += others * discounts[p] * (end - 1 - p)
                lower -= (above + kind + t * others) * discounts[p]
            for p in range(start, end):
                if gains[p] == kind:
                    delta.upper[p] = scale * (upper / n - share * (passed + block))
                    delta.share[p] = scale * share
                    delta.lower[p] = passed + lower / n
        inside = 0.0
        if n > 1 and 0 < relevant < n:
            inside = swap_inside(start, end, reach, above, relevant, discounts)
        for p in range(start, end):
            delta.inside[p] = scale * inside
        above += relevant
        passed += block
        start = end


@inline
def relevant_above(c: float, gain: float, p: float, q: float) -> tuple[float, float]:
    """Return c + g p, and its derivative times p (1 − p); q is 1 − p."""
    return c + gain * p, gain * p * q


@inline
def precision_here(gain: float, rank: float, c: float) -> tuple[float, float, float]:
    """Return g c/r and its derivatives by r and c."""
    share = gain / rank
    return share * c, -share * c / rank, share


def ap_by_rank(ranking: Ranking, ranks: Vector, beta: float, slopes: Vector) -> float:
    """Write Σ over relevant i of T(r̂_i)/r̂_i (1 + Σ_j σ(β(r̂_i − r̂_j))), j relevant, and its slopes.

    Qin, Liu & Li 2010, section 4.3 and appendix B.2.
    """
    return measure_of_real_ranks(relevant_above, precision_here, ranking, ranks, beta, slopes)


def ap_by_position(ranking: Ranking, means: Vector, slopes: Vector) -> float:
    """Write Σ_j w_j ḡ_j Σ_{l ≤ j} ḡ_l and its slopes (Chapelle & Wu 2010, section 4.2)."""
    discounts = ranking.discounts
    scale = ranking.scale
    m = ranking.gains.size
    total = 0.0
    above = 0.0
    for p in range(m):
        above += means[p]
        total += discounts[p] * means[p] * above
        slopes[p] = discounts[p] * above
    below = 0.0
    for p in range(m - 1, -1, -1):
        below += discounts[p] * means[p]
        slopes[p] = scale * (slopes[p] + below)
    return scale * total


@register_measure
class AP(TruncatedRelevance):
    """Average precision, Σ over relevant documents at rank r ≤ k of precision at r, over min(R, k).

    Parameters
    ----------
    k : int, optional
        Cutoff rank; the whole list by default.
    threshold : float
        The smallest label that counts as relevant; R documents are.

    Notes
    -----
    - Formula: Σ_{r ≤ k} rel_r (Σ_{q ≤ r} rel_q)/r / min(R, k)
    - Source: Burges, Ragno & Le 2006, section 2

    References
    ----------
    Burges, Ragno & Le 2006, section 2; over ties: McSherry & Najork 2008.

    Examples
    --------
    >>> round(AP()([1, 0, 1], [3.0, 2.0, 1.0]), 4)
    0.8333
    """

    name = "ap"
    aliases = ("map",)
    value = ap_value
    swaps = Swaps(separable=ap_swaps)
    by_rank = ap_by_rank
    by_position = ap_by_position
    form = "paired"
    bounded_by = "shares"
    work = RealRanksWork
    discount = "reciprocal"

    def normalizers(self, gains: Vector, discounts: Vector, queries: Queries) -> Vector:
        """Return min(R, k)."""
        count = queries.reduce(np.add, gains)
        return count if self.k is None else np.minimum(count, self.k)
