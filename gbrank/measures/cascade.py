"""Measures of a user who goes down the list and stops: RR and ERR.

The gain of a document is the probability of stopping there: 1 or 0 for RR, graded for ERR.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from gbrank.common.checks import Function, Vector, check_entries
from gbrank.common.fields import Integer, Real
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Ranking, SeparableDelta, Swaps
from gbrank.engine.numba_internals import slice_of, unpack
from gbrank.numerics.vectors import sum_of

from .measure import RankMeasure, TruncatedRelevance
from .measure_registry import register_measure
from .real_ranks import RealRanksWork, measure_of_real_ranks

# Smaller chances of going on are lost in rounding; blocks up to SHORT are gone through whole.
LEAST_LOG = np.log(1e-22)
SHORT = 32


@inline
def going_on(c: float, gain: float, p: float, q: float) -> tuple[float, float]:
    """Return c (1 − g p), and its derivative times p (1 − p)/c; q is 1 − p."""
    left = 1 - gain + gain * q
    return c * left, -gain * p * q / left


@inline
def stopping(gain: float, rank: float, c: float) -> tuple[float, float, float]:
    """Return g c/r, and its derivatives by r, and by c times c."""
    value = gain * c / rank
    return value, -value / rank, value


def cascade_by_rank(ranking: Ranking, ranks: Vector, beta: float, slopes: Vector) -> float:
    """Return Σ_i g_i T(r̂_i)/r̂_i Π_{j ≠ i} (1 − g_j σ(β(r̂_i − r̂_j))) and write its slopes."""
    return measure_of_real_ranks(going_on, stopping, ranking, ranks, beta, slopes)


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


@inline
def first_two(
    start: int, end: int, marked: float, reach: int, discounts: Vector
) -> tuple[float, float]:
    """Return E[w(t1)] and E[w(t2)], both only where t1 < reach.

    t1 and t2 are the positions of the first two of `marked` documents placed at random in
    start, ..., end − 1; w(t2) is 0 if there is no second one.
    """
    none_seen = 1.0
    one_seen = 0.0
    first = 0.0
    second = 0.0
    for p in range(start, end):
        left = end - p
        hit = none_seen * min(marked / left, 1.0)
        hit_again = one_seen * min((marked - 1) / left, 1.0)
        second += hit_again * discounts[p]
        one_seen -= hit_again
        none_seen -= hit
        if p < reach:
            first += hit * discounts[p]
            one_seen += hit
    return first, second


def rr_value(ranking: Ranking) -> float:
    """Write the expected w at the first relevant document of the first block that has one."""
    gains = ranking.gains
    last = ranking.last
    start = 0
    while start < last.size and gains[start] == 0:  # the largest of a block
        start = last[start]
    if start == last.size:
        return 0.0
    relevant = sum_of(slice_of(gains, start, last[start]))
    return first_two(start, last[start], relevant, last[start], ranking.discounts)[0]


def rr_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill the separable swap delta of RR.

    A swap matters only if it moves the first relevant document down, to the second one or to
    where the other stood, or brings a relevant document above it.
    """
    gains = ranking.gains
    last = ranking.last
    discounts = ranking.discounts
    blocks = 0  # that have relevant documents, so far; two count
    value = 0.0  # expected w of the first relevant document
    fallback = 0.0  # ... of the second one, if it is in the second block
    start = 0
    while start < last.size:
        end = last[start]
        reach = min(end, max(top, start))
        relevant = sum_of(slice_of(gains, start, end))
        upper = step = share = 0.0
        if blocks == 0:
            value = first_two(start, end, relevant, end, discounts)[0]
            first, second = first_two(start, end, relevant, reach, discounts)
            upper = (first - second) / max(relevant, 1.0)
            first, second = first_two(start, end, relevant + 1, reach, discounts)
            step = (first - second) / (relevant + 1)
            share = (reach - start) / (end - start)
        landing = fallback
        if blocks < 2:
            landing = first_two(start, end, relevant + 1, end, discounts)[0]
        for p in range(start, end):
            delta.upper[p] = upper if gains[p] > 0 else step
            delta.share[p] = share if gains[p] == relevant else 0.0  # no other one is relevant
            delta.lower[p] = -value if gains[p] > 0 else -landing
            delta.inside[p] = 2 * step
        if relevant > 0 and blocks < 2:
            blocks += 1
            fallback = first_two(start, end, relevant, end, discounts)[0]
        start = end


@register_measure
class RR(TruncatedRelevance):
    """Reciprocal rank: 1/r for the first relevant document at rank r ≤ k, else 0.

    Parameters
    ----------
    k : int, optional
        Cutoff rank; the whole list by default.
    threshold : float
        The smallest label that counts as relevant.

    Notes
    -----
    - Formula: 1/r for the first r ≤ k with rel_r = 1, else 0
    - Source: Burges, Ragno & Le 2006, section 2

    References
    ----------
    Burges, Ragno & Le 2006, section 2; over ties: McSherry & Najork 2008.

    Examples
    --------
    >>> RR()([0, 1, 1], [3.0, 2.0, 1.0])
    0.5
    """

    name = "rr"
    aliases: ClassVar[tuple[str, ...]] = ("mrr",)
    value = rr_value
    swaps = Swaps(separable=rr_swaps)
    by_rank: ClassVar[Function | None] = cascade_by_rank
    by_position = cascade_by_position
    work = RealRanksWork
    discount = "reciprocal"


@register_measure
class HitRate(RR):
    """Hit rate: 1 if a relevant document is among the first k, else 0.

    Parameters
    ----------
    k : int, optional
        Cutoff rank; the whole list by default.
    threshold : float
        The smallest label that counts as relevant.

    Notes
    -----
    - Formula: 1 if rel_r = 1 for an r ≤ k, else 0
    - Source: success in trec_eval

    Examples
    --------
    >>> HitRate(k=1)([0, 1, 1], [3.0, 2.0, 1.0])
    0.0
    """

    name = "hit_rate"
    aliases = ("hit", "success")
    by_rank = None  # `cascade_by_rank` has 1/r
    discount = "flat"


class ERRWork(NamedTuple):
    """The work arrays of `cascade_by_rank`, what `err_row` keeps for each document, and means."""

    real_ranks: RealRanksWork
    before: Vector
    inside: Vector
    means: Vector


@inline
def survival_means(
    start: int, end: int, without: int, and_without: int, depth: int, gains: Vector, means: Vector
) -> None:
    """Fill means[t] with the mean of Π (1 − gain) over all t-subsets of a block.

    Two positions can be left out (−1 for none). Only t ≤ depth − start is filled, since deeper
    ranks do not count.
    """
    means[0] = 1.0
    count = 0
    for p in range(start, end if depth > start else start):
        if p in (without, and_without):
            continue
        count += 1
        stay = 1 - gains[p]
        deepest = min(count, depth - start)
        if deepest == count:
            means[count] = stay * means[count - 1]
            deepest -= 1
        for t in range(deepest, 0, -1):
            share = t / count
            means[t] = share * stay * means[t - 1] + (1 - share) * means[t]


@inline
def depth_of(start: int, end: int, gains: Vector, last_rank: float) -> int:
    """Return up to which position a tied block counts.

    The mean of Π (1 − x) over t documents is at most the t-th power of the mean of 1 − x
    (Maclaurin's inequality).
    """
    depth = end if end <= last_rank else int(last_rank)
    if end - start > SHORT and gains[start] > 0:  # the largest
        going_on = np.log1p(-sum_of(slice_of(gains, start, end)) / (end - start))
        depth = int(min(depth, start + 1 + LEAST_LOG / going_on))
    return depth


@inline
def drop(discounts: Vector, p: int, m: int) -> float:
    """Return w(p) − w(p + 1)."""
    return discounts[p] - (discounts[p + 1] if p + 1 < m else 0.0)


def err_value(ranking: Ranking) -> float:
    """Write Σ w(r) (Q(r − 1) − Q(r)), Q(r) the expected Π (1 − x) over the first r documents."""
    gains = ranking.gains
    last = ranking.last
    discounts = ranking.discounts
    cut = ranking.cut
    m = gains.size
    means = unpack(ranking.memory, ERRWork).means
    total = 0.0
    before = 1.0
    start = 0
    while start < min(m, cut):
        end = last[start]
        depth = depth_of(start, end, gains, cut)
        survival_means(start, end, -1, -1, depth, gains, means)
        for p in range(start, depth):
            total += discounts[p] * before * (means[p - start] - means[p - start + 1])
        for p in range(start, end):
            before *= 1 - gains[p]
        start = end
    return total


def err_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill the swap delta of ERR between blocks.

    ERR = Σ_r (w(r) − w(r + 1)) (1 − Q(r)), Q(r) = Π_{q ≤ r} (1 − x_q). A swap of the documents at
    a < b changes Q(r) for a ≤ r < b by |x_a − x_b| Π over the others: a sum over the rest of the
    upper block, the blocks between, and the lower block up to b.
    """
    gains, last, discounts, cut = ranking.gains, ranking.last, ranking.discounts, ranking.cut
    work = unpack(ranking.memory, ERRWork)
    m = gains.size
    means = work.means
    before = 1.0
    passed = 0.0  # Σ (w(r) − w(r + 1)) Q(r) over earlier blocks
    start = 0
    while start < m:
        end = last[start]
        n = end - start
        reach = min(end, max(top, start)) - start
        block = 0.0
        depth = depth_of(start, end, gains, cut)
        survival_means(start, end, -1, -1, depth, gains, means)
        for t in range(1, min(n, depth - start) + 1):
            block += drop(discounts, start + t - 1, m) * before * means[t]
        for p in range(start, end):
            work.before[p] = before
            if p > start and gains[p] == gains[p - 1]:
                delta.upper[p] = delta.upper[p - 1]
                delta.share[p] = delta.share[p - 1]
                delta.lower[p] = delta.lower[p - 1]
                continue
            upper = 0.0
            lower = 0.0
            survival_means(start, end, p, -1, depth, gains, means)
            for t in range(1, min(n, depth - start) + 1):
                change = drop(discounts, start + t - 1, m) * before
                upper += change * min(t, reach) / n * means[t - 1]
                if t < n:
                    lower += change * (1 - t / n) * means[t]
            share = reach / n / (1 - gains[p])
            delta.upper[p] = upper - share * (passed + block)
            delta.share[p] = share
            delta.lower[p] = passed + lower
        for p in range(start, end):
            before *= 1 - gains[p]
        passed += block
        start = end


def err_row(ranking: Ranking, i: int, stop: int, top: int, out: Vector) -> None:
    """Write the expected delta of the pairs (i, j) for every j below i of the same score."""
    gains = ranking.gains
    discounts = ranking.discounts
    work = unpack(ranking.memory, ERRWork)
    start = ranking.first[i]
    end = ranking.last[i]
    m = gains.size
    n = end - start
    reach = min(end, max(top, start)) - start
    new = i == start or gains[i] != gains[i - 1]  # equal x stand side by side
    depth = depth_of(start, end, gains, ranking.cut) if new else start
    inside = 0.0
    for j in range(i + 1, end):
        if new:
            if gains[j] != gains[j - 1]:
                inside = 0.0
                survival_means(start, end, i, j, depth, gains, work.means)
                for t in range(1, min(n - 1, depth - start) + 1):
                    chance = 2.0 * min(t, reach) * (n - t) / (n * (n - 1.0))
                    inside += drop(discounts, start + t - 1, m) * chance * work.means[t - 1]
            work.inside[j] = inside
        out[j] = abs(gains[i] - gains[j]) * work.inside[j] * work.before[i]


@register_measure
@dataclass(frozen=True, repr=False)
class ERR(RankMeasure):
    """Expected reciprocal rank, Σ_{r ≤ k} 1/r R_r Π_{q < r} (1 − R_q), R = (2^y − 1)/2^max_grade.

    The mean over tied orders costs O(n t), and the swap deltas of LambdaRank O(n t g²), for n tied
    documents of g distinct labels, of which a user goes through t at most (and t ≤ k).

    Parameters
    ----------
    k : int, optional
        Cutoff rank; the whole list by default.
    max_grade : float in ]0, 16]
        The largest label there can be; 4 is the convention of web search. It is not taken from
        the labels at hand, so that values are comparable between data sets.

    Notes
    -----
    - Formula: Σ_{r ≤ k} p_r/r Π_{q < r} (1 − p_q), p_r = (2^{y_r} − 1)/2^{y_max}
    - Source: Chapelle, Metzler, Zhang & Grinspan 2009
    - Labels: floats from 0 to `max_grade`

    References
    ----------
    Chapelle, Metzler, Zhang & Grinspan 2009, "Expected reciprocal rank for graded relevance".

    Examples
    --------
    >>> ERR(max_grade=1)([1, 0, 1], [3.0, 2.0, 1.0]).__round__(4)
    0.5833
    """

    name = "err"
    value = err_value
    swaps = Swaps(separable=err_swaps, row=err_row)
    by_rank = cascade_by_rank
    by_position = cascade_by_position
    work = ERRWork
    discount = "reciprocal"

    k: int | None = Integer(None, 1)
    max_grade: float = Real(4.0, above=0, high=16)

    def gains(self, labels: Vector) -> Vector:
        """Return the probability of stopping at each document."""
        largest = f"max_grade={self.max_grade} for ERR (set it to the largest possible label)"
        check_entries(labels > self.max_grade, labels, "labels", f"must be at most {largest}")
        return (np.exp2(labels) - 1) / 2**self.max_grade
