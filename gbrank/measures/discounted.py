"""Measures Z⁻¹ Σ G(y) D(r): DCG, NDCG, precision, recall, winner takes all, RBP, exposure."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gbrank.common.checks import ArgumentError, Function, Mask, Vector
from gbrank.common.fields import Integer, Parameter, Real
from gbrank.data.queries import Queries
from gbrank.engine.contract import Ranking, SeparableDelta, Swaps, Terms
from gbrank.engine.numba_internals import unpack
from gbrank.numerics.logistic import truncation

from .gains import (
    LINEAR_REMEDY,
    Discount,
    DiscountFormula,
    Gain,
    check_discount,
    check_gain,
    discount_at,
    gain_values,
    geometric_discount,
)
from .measure import RankMeasure, RelevanceMeasure, TruncatedRelevance
from .measure_registry import register_measure
from .per_query import inverse


def discounted_value(ranking: Ranking) -> float:
    """Write Σ G D: a tied block shares the mean of its discounts (McSherry & Najork 2008)."""
    last = ranking.last
    total = 0.0
    start = 0
    while start < last.size:
        end = last[start]
        gains = 0.0
        discounts = 0.0
        for p in range(start, end):
            gains += ranking.gains[p]
            discounts += ranking.discounts[p]
        total += gains * discounts / (end - start)
        start = end
    return total * ranking.scale


def discounted_swaps(ranking: Ranking, top: int, delta: SeparableDelta) -> None:
    """Fill the separable swap delta |G_a − G_b| E|D_a − D_b|."""
    last = ranking.last
    discounts = ranking.discounts
    scale = ranking.scale
    start = 0
    while start < last.size:
        end = last[start]
        n = end - start
        if n == 1:  # most are: no sums, no divisions
            delta.upper[start] = scale * discounts[start] if start < top else 0.0
            delta.share[start] = scale if start < top else 0.0
            delta.lower[start] = -discounts[start]
            delta.inside[start] = 0.0
            start = end
            continue
        reach = min(end, max(top, start))  # positions before it touch the top
        total = 0.0
        reached = 0.0
        inside = 0.0
        below = 0.0  # sum of the discounts after p, inside the block
        for p in range(end - 1, start - 1, -1):
            if p < reach:
                reached += discounts[p]
                inside += (end - 1 - p) * discounts[p] - below
            below += discounts[p]
            total += discounts[p]
        for p in range(start, end):
            delta.upper[p] = scale * reached / n
            delta.share[p] = scale * (reach - start) / n
            delta.lower[p] = -total / n
            delta.inside[p] = scale * 2.0 * inside / (n * (n - 1.0))
        start = end


def discounted_by_rank(ranking: Ranking, ranks: Vector, beta: float, slopes: Vector) -> float:
    """Write Σ G D(r̂) T(r̂), T the smooth truncation at k, and its slope by each rank."""
    gains = ranking.gains
    scale = ranking.scale
    cut = ranking.cut
    discount = unpack(ranking.constants, DiscountFormula)
    total = 0.0
    for p in range(gains.size):
        rank = ranks[p]
        value, slope = discount_at(discount.kind, discount.parameter, rank)
        kept, kept_slope = truncation(rank, cut, beta)
        total += gains[p] * value * kept
        slopes[p] = scale * gains[p] * (slope * kept + value * kept_slope)
    return scale * total


def discounted_by_position(ranking: Ranking, means: Vector, slopes: Vector) -> float:
    """Write Σ D(j) ḡ_j and its slopes."""
    discounts = ranking.discounts
    scale = ranking.scale
    total = 0.0
    for p in range(ranking.gains.size):
        total += discounts[p] * means[p]
        slopes[p] = scale * discounts[p]
    return scale * total


class DiscountedMeasure(RankMeasure):
    """Base class of measures Z⁻¹ Σ_i G(y_i) D(r_i): subclasses say what G, D and Z are.

    D is the attribute `discount`, 1 by default, up to rank `k` if there is one.
    """

    value = discounted_value
    swaps = Swaps(separable=discounted_swaps)
    by_rank: ClassVar[Function | None] = discounted_by_rank
    by_position = discounted_by_position
    form = "discounted"


@register_measure
@dataclass(frozen=True, repr=False)
class DCG(DiscountedMeasure):
    """Discounted cumulative gain, Σ_{r ≤ k} G(y) D(r).

    Parameters
    ----------
    k : int, optional
        Cutoff rank; the whole list by default.
    gain : {"exp2", "linear"}, list, tuple or callable
        Gain of a label; see `gbrank.measures.gains.gain_values`.
    discount : {"log2", "letor", "reciprocal", "flat", "linear"}, or another
        Discount of a position: a name, `geometric_discount` or a callable; see
        `gbrank.measures.gains.discount_values`.

    Notes
    -----
    - Formula: Σ_{r ≤ k} G(y_r) D(r)
    - Source: Järvelin & Kekäläinen 2002

    References
    ----------
    Järvelin & Kekäläinen 2002, "Cumulated gain-based evaluation of IR techniques".

    Examples
    --------
    >>> DCG(k=2, gain="linear")([3, 2, 1], [2.0, 1.0, 0.0])
    4.2618595071429155
    """

    name = "dcg"

    k: int | None = Integer(None, 1)
    gain: Gain = Parameter("exp2", check_gain)
    discount: Discount = Parameter("log2", check_discount)

    def gains(self, labels: Vector) -> Vector:
        """Return G(y)."""
        return gain_values(self.gain, labels)


@register_measure
class NDCG(DCG):
    """Normalized discounted cumulative gain, DCG@k over its largest possible value.

    Parameters
    ----------
    k, gain, discount
        As for `DCG`.

    Notes
    -----
    - Formula: Σ_{r ≤ k} G(y_r) D(r) / Z, Z the same in the best order

    References
    ----------
    Järvelin & Kekäläinen 2002; ties as in McSherry & Najork 2008, "Computing information
    retrieval performance measures efficiently in the presence of tied scores".

    Examples
    --------
    >>> NDCG(k=10)([2, 0, 1], [0.3, 0.1, 0.2])
    1.0
    >>> round(NDCG()([2, 1], [0.0, 0.0]), 4)  # the mean over both orders
    0.8984
    """

    name = "ndcg"
    bounded_by = "discounts"

    def normalizers(self, gains: Vector, discounts: Vector, queries: Queries) -> Vector:
        """Return the ideal DCG of each query."""
        best_first = np.lexsort((-gains, queries.index))
        ideal: Vector = np.add.reduceat(gains[best_first] * discounts, queries.starts)
        if not np.isfinite(ideal).all():
            raise ArgumentError(
                "gain", "must keep the ideal DCG finite", repr(self.gain), f" {LINEAR_REMEDY}"
            )
        return ideal


@register_measure
class Precision(TruncatedRelevance, DiscountedMeasure):
    """Precision at k: the share of relevant documents among the first k.

    Parameters
    ----------
    k : int, optional
        Cutoff rank; by default the length of the list, of retrieved documents. A list
        shorter than k still divides by k.
    threshold : float
        The smallest label that counts as relevant.

    Notes
    -----
    - Formula: Σ_{r ≤ k} rel_r / k
    - Source: as in trec_eval

    Examples
    --------
    >>> Precision(k=2)([1, 0, 1], [3.0, 2.0, 1.0])
    0.5
    """

    name = "precision"
    aliases = ("p",)

    def normalizers(self, gains: Vector, discounts: Vector, queries: Queries) -> Vector:
        """k, or the length of the list."""
        return self._divisors(queries.sizes.astype(np.float64))

    def _divisors(self, sizes: Vector) -> Vector:
        return sizes if self.k is None else np.full(len(sizes), float(self.k))

    def _terms_of_runs(self, terms: Terms, queries: Queries, unretrieved: Mask) -> Terms:
        sizes = queries.reduce(np.add, (~unretrieved).astype(np.float64))
        terms = super()._terms_of_runs(terms, queries, unretrieved)
        return replace(terms, scale=inverse(self._divisors(sizes)))


@register_measure
class Recall(TruncatedRelevance, DiscountedMeasure):
    """Recall at k: the share of the relevant documents that are among the first k.

    Parameters
    ----------
    k : int, optional
        Last rank that counts; all by default (when recall is 1).
    threshold : float
        The smallest label that counts as relevant.

    Notes
    -----
    - Formula: Σ_{r ≤ k} rel_r / R
    - Source: as in trec_eval

    Examples
    --------
    >>> Recall(k=1)([1, 0, 1], [3.0, 2.0, 1.0])
    0.5
    """

    name = "recall"

    def normalizers(self, gains: Vector, discounts: Vector, queries: Queries) -> Vector:
        """Return the number of relevant documents."""
        return queries.reduce(np.add, gains)


@register_measure
class Judged(Precision):
    """Share of the first k documents that somebody has judged.

    Beside labels by name it is of the one that is called "judged", which TREC runs have.

    Parameters
    ----------
    k : int, optional
        Cutoff rank; by default the length m of the list. Of documents that were never
        retrieved (score −inf), none counts, in m neither.
    threshold : float
        The smallest label of a document that is judged.

    Notes
    -----
    - Formula: Σ_{r ≤ k} judged_r / min(k, m)
    - Source: as in ir_measures
    - Labels: floats ≥ 0, judged from `threshold`

    Examples
    --------
    >>> Judged(k=2)([1, 0, 1], [3.0, 2.0, 1.0])
    0.5
    """

    name = "judged"
    usual_label = "judged"

    def _divisors(self, sizes: Vector) -> Vector:
        return sizes if self.k is None else np.minimum(sizes, self.k)


@register_measure
@dataclass(frozen=True, repr=False)
class RPrecision(RelevanceMeasure, DiscountedMeasure):
    """R-precision: the share of relevant documents among the first R, R their number in the query.

    Parameters
    ----------
    threshold : float
        The smallest label that counts as relevant.

    Notes
    -----
    - Formula: Σ_{r ≤ R} rel_r / R
    - Source: as in trec_eval

    Examples
    --------
    >>> RPrecision()([1, 0, 1], [3.0, 2.0, 1.0])
    0.5
    """

    name = "r_precision"
    aliases = ("rprec",)
    by_rank = None  # R is another one in each query

    threshold: float = Real(1.0, above=0)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return relevance, 1/R, and 1 up to rank R."""
        relevant = self.gains(labels)
        count = queries.reduce(np.add, relevant)
        discounts = (queries.places < np.repeat(count, queries.sizes)).astype(np.float64)
        return Terms(relevant, count > 0, scale=inverse(count), discounts=discounts)


@register_measure
@dataclass(frozen=True, repr=False)
class WTA(RelevanceMeasure, DiscountedMeasure):
    """Winner takes all: 1 if the first document is relevant, else 0.

    Parameters
    ----------
    threshold : float
        The smallest label that counts as relevant.

    Notes
    -----
    - Formula: rel_1
    - Source: Burges, Ragno & Le 2006, section 2

    References
    ----------
    Burges, Ragno & Le 2006, section 2.

    Examples
    --------
    >>> WTA()([0, 1], [2.0, 1.0])
    0.0
    """

    name = "wta"
    last_rank = 1

    threshold: float = Real(1.0, above=0)


@register_measure
@dataclass(frozen=True, repr=False)
class RBP(RelevanceMeasure, DiscountedMeasure):
    """Rank-biased precision, (1 − p) Σ_{r ≤ k} rel(r) p^(r − 1).

    Parameters
    ----------
    p : float in ]0, 1[
        The probability that the user goes on to the next document.
    k : int, optional
        Cutoff rank; the whole list by default.
    threshold : float
        The smallest label that counts as relevant.

    Notes
    -----
    - Formula: (1 − p) Σ_{r ≤ k} rel_r p^{r − 1}
    - Source: Moffat & Zobel 2008

    References
    ----------
    Moffat & Zobel 2008, "Rank-biased precision for measurement of retrieval effectiveness".

    Examples
    --------
    >>> RBP(p=0.5)([1, 0, 1], [3.0, 2.0, 1.0])
    0.625
    """

    name = "rbp"

    p: float = Real(0.8, above=0, below=1)
    k: int | None = Integer(None, 1)
    threshold: float = Real(1.0, above=0)

    @property
    def discount(self) -> Discount:
        """The discount (1 − p) p^(r − 1)."""
        return geometric_discount(self.p)


@register_measure
@dataclass(frozen=True, repr=False)
class Exposure(TruncatedRelevance, DiscountedMeasure):
    """Share of the attention that goes to a group of documents, such as those of small sellers.

    Attention falls with the rank as the discount D does. The label says which documents are of the
    group, by name: ``exposure@10[small]`` with ``labels={"small": ...}``.

    Parameters
    ----------
    k : int, optional
        Cutoff rank; the whole list by default.
    threshold : float
        The smallest label of a document of the group.
    discount : {"log2", "letor", "reciprocal", "flat", "linear"}, or another
        Attention by rank; as for `DCG`.

    Notes
    -----
    - Formula: Σ_{r ≤ k} group_r D(r) / Σ_{r ≤ k} D(r)
    - Source: Singh & Joachims 2018, section 3
    - Labels: floats ≥ 0, of the group from `threshold`

    References
    ----------
    A. Singh, T. Joachims. Fairness of exposure in rankings. KDD 2018, section 3.

    Examples
    --------
    >>> round(Exposure()([1, 0], [2.0, 1.0]), 4)  # 1 of 1 + 1 / log2(3)
    0.6131
    """

    name = "exposure"

    discount: Discount = Parameter("log2", check_discount)

    def normalizers(self, gains: Vector, discounts: Vector, queries: Queries) -> Vector:
        """Return the attention that there is."""
        return np.add.reduceat(discounts, queries.starts)
