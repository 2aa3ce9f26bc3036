"""Reciprocal rank of the first relevant document."""

from dataclasses import dataclass

from gbrank.common.arrays import Vector
from gbrank.common.fields import real, whole
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Ranking, SeparableDelta, Swaps, Terms
from gbrank.engine.structures import part
from gbrank.measures.cascade import cascade_by_position, cascade_by_rank
from gbrank.measures.measure import RelevanceMeasure, truncated_terms
from gbrank.measures.measure_registry import register_measure
from gbrank.numerics.vectors import sum_of


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
    gains, last, discounts = ranking.gains, ranking.last, ranking.discounts
    start = 0
    while start < last.size:
        end = last[start]
        relevant = sum_of(part(gains, start, end))
        if relevant > 0:
            return first_two(start, end, relevant, end, discounts)[0]
        start = end
    return 0.0


def rr_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill the separable swap delta of RR.

    A swap matters only if it moves the first relevant document down, to the second one or to
    where the other stood, or brings a relevant document above it. F is the first block with a
    relevant document, R how many it has.
    """
    gains, last, discounts = ranking.gains, ranking.last, ranking.discounts
    m = last.size
    for p in range(m):
        delta.upper[p] = delta.share[p] = delta.lower[p] = delta.inside[p] = 0.0
    start = 0
    while start < m and sum_of(part(gains, start, last[start])) == 0:
        end = last[start]
        n = end - start
        reach = min(end, max(top, start))
        upper = 0.0
        for p in range(start, reach):
            upper += discounts[p]
        for p in range(start, end):
            delta.upper[p] = upper / n
            delta.share[p] = (reach - start) / n
        start = end
    if start == m:
        return
    end = last[start]
    reach = min(end, max(top, start))
    relevant = sum_of(part(gains, start, end))
    value = first_two(start, end, relevant, end, discounts)[0]
    lone, second = first_two(start, end, relevant, reach, discounts)
    joined, joined_second = first_two(start, end, relevant + 1, reach, discounts)
    step = (joined - joined_second) / (relevant + 1)
    for p in range(start, end):
        delta.inside[p] = 2 * step
        if gains[p] == 0:
            delta.upper[p] = step
        elif relevant > 1:
            delta.upper[p] = (lone - second) / relevant
        else:
            delta.upper[p] = lone
            delta.share[p] = (reach - start) / (end - start)
        if gains[p] > 0:
            delta.lower[p] = -value
    fallback = 0.0  # expected w of the second relevant document, once its block has passed
    found = False
    start = end
    while start < m:
        end = last[start]
        relevant = sum_of(part(gains, start, end))
        landing = fallback if found else first_two(start, end, relevant + 1, end, discounts)[0]
        for p in range(start, end):
            delta.lower[p] = -value if gains[p] > 0 else -landing
        if relevant > 0 and not found:
            found = True
            fallback = first_two(start, end, relevant, end, discounts)[0]
        start = end


@register_measure
@dataclass(frozen=True, repr=False)
class RR(RelevanceMeasure):
    """Reciprocal rank: 1/r for the first relevant document at rank r ≤ k, else 0.

    Parameters
    ----------
    k : int, optional
        Last rank that counts; all by default.
    threshold : float
        The smallest label that counts as relevant.

    References
    ----------
    Burges, Ragno & Le 2006, section 2; over ties: McSherry & Najork 2008.

    Examples
    --------
    >>> RR()([0, 1, 1], [3.0, 2.0, 1.0])
    0.5
    """

    name = "rr"
    aliases = ("mrr",)
    formula = "1/r for the first r ≤ k with rel_r = 1, else 0"
    source = "Burges, Ragno & Le 2006, section 2"
    value = rr_value
    swaps = Swaps(separable=rr_swaps)
    by_rank = cascade_by_rank
    by_position = cascade_by_position
    form = "cascade"

    k: int | None = whole(None, 1, optional=True)
    threshold: float = real(1.0, 0, open_low=True)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return relevance, and 1/rank up to k."""
        relevant = self.gains(labels)
        return truncated_terms(relevant, queries, "reciprocal", self.k)
