"""Binary preference."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.fields import real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Ranking, SeparableDelta, Swaps, Terms
from gbrank.engine.structures import slice_of, unpack
from gbrank.measures.measure import RelevanceMeasure
from gbrank.measures.measure_registry import register_measure
from gbrank.measures.per_query import inverse, reduce_queries
from gbrank.numerics.vectors import sum_of


class Counts(NamedTuple):
    """R and min(R, N), of each query, or of one in compiled code."""

    relevant: float | Vector
    smaller: float | Vector


@inline
def mean_capped(base: float, count: int, cap: float) -> float:
    """Return E min(base + X, cap) for X uniform on 0, ..., count."""
    total = 0.0
    for z in range(count + 1):
        total += min(base + z, cap)
    return total / (count + 1)


@inline
def slot_sums(base: float, others: int, cap: float) -> tuple[float, float, float]:
    """Return the chance that a document has fewer than `cap` others above it, in three settings.

    The document is put at random into one of the slots 0, ..., others among other documents, below
    `base` more. The settings: on its own; and after, or before, a second document that is put in
    likewise.
    """
    alone = 0.0
    after = 0.0
    before = 0.0
    for z in range(others + 1):
        if base + z < cap:
            alone += 1
            after += z + 1
            before += others - z + 1
    pairs = (others + 1) * (others + 2.0)
    return alone / (others + 1), after / pairs, before / pairs


def bpref_value(ranking: Ranking) -> float:
    """Write Σ over relevant documents of 1 − min(irrelevant above, R)/min(R, N), over R.

    In a tied block a relevant document is equally likely to have 0, 1, ... of the block's
    irrelevant documents above it.
    """
    gains, last = ranking.gains, ranking.last
    counts = unpack(ranking.constants, Counts)
    cap = counts.relevant
    total = 0.0
    above = 0.0
    start = 0
    while start < gains.size:
        end = last[start]
        relevant = sum_of(slice_of(gains, start, end))
        irrelevant = end - start - int(relevant)
        if relevant > 0:
            total += relevant * (counts.smaller - mean_capped(above, irrelevant, cap))
        above += irrelevant
        start = end
    return total * ranking.scale


def bpref_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill the separable swap delta of bpref.

    Moving a relevant document from rank a down to b costs min(n(b), R) − min(n(a), R), n counting
    irrelevant documents up to a rank, and 1 for each relevant document between that has fewer
    than R irrelevant ones above it; all divided by R min(R, N).
    """
    gains, last, scale = ranking.gains, ranking.last, ranking.scale
    cap = unpack(ranking.constants, Counts).relevant
    above = 0.0
    passed = 0.0  # for a relevant upper document
    passed_up = 0.0  # for an irrelevant upper document, which counts itself above those between
    start = 0
    while start < gains.size:
        end = last[start]
        relevant = sum_of(slice_of(gains, start, end))
        irrelevant = end - start - int(relevant)
        share = 1.0 if start < top else 0.0
        alone, after, _ = slot_sums(above, irrelevant, cap)
        alone_up, _, before_up = slot_sums(above - 1, irrelevant, cap)
        mean = mean_capped(above, irrelevant, cap)
        own = relevant * alone
        own_up = relevant * alone_up
        inside = 0.0
        mean_other = after_other = before_other = mean_other_up = 0.0
        if irrelevant > 0:
            others = irrelevant - 1
            mean_other = mean_capped(above, others, cap)
            mean_other_up = mean_capped(above + 1, others, cap)
            _, after_other, before_other = slot_sums(above, others, cap)
            pairs = (others + 1) * (others + 2.0)
            for z in range(others + 1):
                inside += 2 * (z + 1) * min(above + z + 1, cap) / pairs
                inside -= 2 * (others - z + 1) * min(above + z, cap) / pairs
                if above + z < cap:
                    inside += (
                        2 * (relevant - 1) * (z + 1) * (others - z + 1) / (pairs * (others + 3))
                    )
        for p in range(start, end):
            if gains[p] > 0:
                delta.upper[p] = (relevant - 1) * after - mean - passed - own
                delta.lower[p] = (relevant - 1) * before_up + mean + passed_up
            else:
                delta.upper[p] = relevant * after_other - mean_other - passed_up - own_up
                delta.lower[p] = relevant * before_other + mean_other_up + passed
            delta.upper[p] *= scale * share
            delta.share[p] = scale * share
            delta.inside[p] = scale * inside
        above += irrelevant
        passed += own
        passed_up += own_up
        start = end


@register_measure
@dataclass(frozen=True, repr=False)
class BPref(RelevanceMeasure):
    """Binary preference, 1/R Σ over relevant i of 1 − min(irrelevant above i, R)/min(R, N).

    R documents are relevant and N are not; 1 if all are relevant.

    Parameters
    ----------
    threshold : float
        The smallest label that counts as relevant.

    References
    ----------
    Buckley & Voorhees 2004, "Retrieval evaluation with incomplete information", as computed by
    trec_eval with every document judged.

    Examples
    --------
    >>> BPref()([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    0.75
    """

    name = "bpref"
    formula = "1/R Σ over relevant i of 1 − min(irrelevant above i, R)/min(R, N)"
    source = "Buckley & Voorhees 2004"
    value = bpref_value
    swaps = Swaps(separable=bpref_swaps)
    truncatable = False

    threshold: float = real(1.0, 0, open_low=True)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return relevance and, per query, 1/(R min(R, N)), R and min(R, N)."""
        relevant = self.gains(labels)
        count = reduce_queries(np.add, relevant, queries)
        smaller = np.maximum(np.minimum(count, queries.sizes - count), 1.0)
        return Terms(
            relevant, count > 0, scale=inverse(count) / smaller, constants=Counts(count, smaller)
        )
