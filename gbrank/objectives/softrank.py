"""SoftRank: the expected value of a measure Σ G D when scores have Gaussian noise.

Given that the noisy score of document i is x, the others are above it independently, each with
probability p_j = Φ((s_j − x)/σ), so their number is Poisson-binomial. With φ_i the density of
document i's noisy score at x, N_−i the number of others above x, and N_−ik that of all but i and k,

    E[M] = Σ_i G_i ∫ φ_i E[D(1 + N_−i)] dx
    ∂E[M]/∂s_k = Σ_i (G_k − G_i) ∫ φ_i φ_k E[D(1 + N_−ik) − D(2 + N_−ik)] dx

(the second by parts). The integrals are sums over equally spaced x that all documents share. Their
integrands are products of m functions of bandwidth 1/σ, so that steps of σ/√m leave an error of
rounding size. Where the discount is cut at a rank, only those x count with few documents above, and
few of the functions are far from one: the steps need not shrink with the list. At each x one
recursion over the documents gives the sums over i for every number of documents above, and division
by the generating function q_k + p_k z takes document k out.
Discounts that are sums of exponentials are left to `gbrank.numerics.exponential_sums`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from gbrank.common.arrays import Matrix, Vector
from gbrank.common.fields import real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.engine.structures import slice_of
from gbrank.measures.measure import Measure
from gbrank.numerics.exponential_sums import fit_discounts, sum_exponentials
from gbrank.numerics.normal_windows import (
    Integrals,
    add_curvature,
    chance_above,
    densest,
    gain_levels,
    window,
)
from gbrank.numerics.vectors import bound_steps, multiply, sum_of
from gbrank.objectives.objective import ANNEALED, Facts, MeasureObjective
from gbrank.objectives.objective_registry import register_objective

# Steps shrink with the number of documents up to this times `most_above`, not further.
SELDOM = 4


class Accuracy(NamedTuple):
    """What bounds the errors of the integrals, in units of σ.

    Parameters
    ----------
    reach : float
        Documents whose score is farther than this from x are certainly above or below it.
    step : float
        Distance between points x, times √(n + 1), n documents in a cluster.
    smooth_step : float
        The same for sums of exponentials, times log(n + 4), n documents in reach of an x.
    tail : float
        Numbers of documents above x less probable than exp(−tail) are left out.
    """

    reach: float
    step: float
    smooth_step: float
    tail: float


def accuracy_of(tolerance: float) -> Accuracy:
    """Return an accuracy with errors below `tolerance`, relative to the largest value: measured."""
    digits = -np.log(tolerance)
    return Accuracy(
        reach=-float(ndtri(tolerance / 1000)),
        step=np.pi * np.sqrt(2 / (digits + 1)),
        smooth_step=16 / digits,
        tail=digits + 9,
    )


class SoftRankParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    rates : ndarray, shape (n_rates,)
        Of the exponentials that discounts are sums of.
    drops : ndarray, shape (n_queries, n_rates)
        The drops of each query's discount, NaN if it is no such sum.
    accuracy : Accuracy
    """

    rates: Vector
    drops: Matrix
    accuracy: Accuracy


@inline
def last_nonzero(values: Vector) -> int:
    """Return the length without the zeros at the end."""
    n = values.size
    while n > 0 and values[n - 1] == 0:
        n -= 1
    return n


def soft_rank_by_exponentials(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return −E[M] and write its derivatives, for a discount that is a sum of exponentials."""
    parameters: SoftRankParameters = query.parameters
    work: Integrals = query.work
    most = scaled_gains(query.ranking.gains, work.gain)
    discounts, accuracy = query.ranking.discounts, parameters.accuracy
    drops = parameters.drops[query.number]
    n = last_nonzero(drops)
    rates, drops = slice_of(parameters.rates, 0, n), slice_of(drops, 0, n)
    value = 0.0
    start = 0
    while most > 0 and start < query.scores.size:
        end = cluster_end(start, query.scores, query.sigma, accuracy.reach, work.depth)
        if end == start + 1:
            value += work.gain[start] * discounts[start]
        else:
            levels = gain_levels(start, end, work)
            densest_window = densest(start, end, accuracy.reach, work.depth)
            step = accuracy.smooth_step / np.log(densest_window + 4.0)
            value += sum_exponentials(
                start, end, step, accuracy.reach, discounts[0], rates, drops, levels, work, out
            )
        start = end
    return finish(value, most, query, out)


def soft_rank_by_counts(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return −E[M] and write its derivatives, for any discount."""
    accuracy: Accuracy = query.parameters.accuracy
    work: Integrals = query.work
    most = scaled_gains(query.ranking.gains, work.gain)
    discounts = query.ranking.discounts
    support = last_nonzero(discounts)
    deepest = most_above(support, accuracy.tail)
    value = 0.0
    start = 0
    while most > 0 and start < query.scores.size:
        end = cluster_end(start, query.scores, query.sigma, accuracy.reach, work.depth)
        if end == start + 1:
            value += work.gain[start] * discounts[start]
        else:
            levels = gain_levels(start, end, work)
            step = accuracy.step / np.sqrt(min(end - start, SELDOM * deepest) + 1)
            value += integrate(
                start, end, step, accuracy, support, deepest, discounts, levels, work, out
            )
        start = end
    return finish(value, most, query, out)


@inline
def scaled_gains(gains: Vector, scaled: Vector) -> float:
    """Write the gains over the largest, which is returned."""
    most = gains.max()
    for i in range(gains.size if most > 0 else 0):
        scaled[i] = gains[i] / most
    return most


@inline
def cluster_end(start: int, s: Vector, sigma: float, reach: float, depth: Vector) -> int:
    """Return where a cluster ends, out of reach of the next; write how deep its documents are."""
    depth[start] = 0.0
    end = start + 1
    while end < s.size and (s[end - 1] - s[end]) / sigma <= 2 * reach:
        depth[end] = (s[start] - s[end]) / sigma
        end += 1
    return end


@inline
def finish(value: float, most: float, query: Query, out: Derivatives) -> float:
    """Return minus the value, and turn derivatives in units of σ into those by the scores."""
    scale = most * query.ranking.scale
    if most > 0:
        bound_steps(1.0, out)
        multiply(scale / query.sigma, scale / query.sigma / query.sigma, out)
    return -scale * value


@inline
def integrate(
    start: int, end: int, step: float, accuracy: Accuracy, support: int, deepest: float,
    discounts: Vector, levels: int, work: Integrals, out: Derivatives,
) -> float:  # fmt: skip
    """Return the value of a cluster and add its derivatives, in units of σ."""
    depth, density, above = work.depth, work.density, work.above
    reach = accuracy.reach
    value = 0.0
    low = start
    high = start
    for node in range(2 + int((depth[end - 1] + 2 * reach) / step)):
        x = node * step - reach
        low, high = window(x, reach, low, high, end, depth)
        if low == high:
            continue
        for j in range(np.uintp(low), np.uintp(high)):
            above[j], density[j] = chance_above(x - depth[j])
        if low + sum_of(slice_of(above, low, high)) > deepest:
            break  # later x have more documents above, and no rank so far down counts
        bottom, top = count_above(low, high, accuracy.tail, work)
        total = 0.0
        for r in range(bottom, top + 1):
            total += work.gained[r - 1] * discounts[high - r]
        value += step * total
        if out.gradient.size > 0 and high > low + 1:
            add_derivatives(low, high, bottom, top, step, support, discounts, work, out.gradient)
            drop = 0.0
            for r in range(max(bottom, 2), top + 1):
                drop += work.dense[r - 1] * (discounts[high - r] - discounts[high - r + 1])
            add_curvature(low, high, step * drop, levels, work, out.curvature)
    return value


@inline
def most_above(support: int, tail: float) -> float:
    """Return the mean number above x at which it is improbable that fewer than `support` are."""
    return support + 4 * tail / 3 + np.sqrt(16 * tail * tail / 9 + 2 * tail * support)


@inline
def tail_width(variance: float, tail: float) -> float:
    """Return a deviation from the mean of probability exp(−tail) at most (Bernstein)."""
    return tail / 3 + np.sqrt(tail * tail / 9 + 2 * tail * variance)


@inline
def count_above(low: int, high: int, tail: float, work: Integrals) -> tuple[int, int]:
    """Fill `chance`, `dense` and `gained`; return the range of r = documents − number above."""
    gains, density, above = work.gain, work.density, work.above
    count, any_, gained = work.chance, work.dense, work.gained
    top = high - low
    bottom = top
    count[top - 1] = 1.0
    any_[top - 1] = 0.0
    gained[top - 1] = 0.0
    mean = 0.0
    variance = 0.0
    for j in range(low, high):
        p = above[j]
        q = 1.0 - p
        mean += p
        variance += p * q
        width = tail_width(variance, tail)
        if bottom > max(1.0, high - low - (mean + width + 1)):
            bottom -= 1
            count[bottom - 1] = 0.0
            any_[bottom - 1] = 0.0
            gained[bottom - 1] = 0.0
        top = high - low - int(max(0.0, mean - width))
        own = density[j]
        gain = own * gains[j]
        for r in range(np.uintp(bottom - 1), np.uintp(top - 1)):
            old = count[r]
            count[r] = q * old + p * count[r + 1]
            any_[r] = q * any_[r] + p * any_[r + 1] + own * old
            gained[r] = q * gained[r] + p * gained[r + 1] + gain * old
        old = count[top - 1]
        count[top - 1] = q * old
        any_[top - 1] = q * any_[top - 1] + own * old
        gained[top - 1] = q * gained[top - 1] + gain * old
    return bottom, top


@inline
def add_derivatives(
    low: int, high: int, bottom: int, top: int, step: float, support: int, discounts: Vector,
    work: Integrals, gradient: Vector,
) -> None:  # fmt: skip
    """Add the derivatives at one x: take each document k out of Σ_i (G_k − G_i) φ_i P(N_−i)."""
    gains, density, above = work.gain, work.density, work.above
    left, slope, any_, gained = work.left, work.slope, work.dense, work.gained
    for k in range(low, high):
        left[k] = slope[k] = 0.0
    middle = low
    while middle < high and above[middle] > 0.5:
        middle += 1
    # Division is stable from the side of the more probable outcome.
    for r in range(top, max(bottom, 2, high - support + 1) - 1, -1):
        drop = discounts[high - r] - discounts[high - r + 1]
        every = any_[r - 1]
        weighted = gained[r - 1]
        for k in range(np.uintp(middle), np.uintp(high)):
            p = above[k]
            left[k] = (gains[k] * every - weighted - p * left[k]) / (1.0 - p)
            slope[k] += left[k] * drop
    for r in range(bottom, top):
        drop = discounts[high - r - 1] - discounts[high - r]
        every = any_[r - 1]
        weighted = gained[r - 1]
        for k in range(np.uintp(low), np.uintp(middle)):
            p = above[k]
            left[k] = (gains[k] * every - weighted - (1.0 - p) * left[k]) / p
            slope[k] += left[k] * drop
    for k in range(low, high):
        gradient[k] -= step * density[k] * slope[k]


@register_objective
@dataclass(frozen=True)
class SoftRank(MeasureObjective):
    """SoftRank: minus the expected measure when scores have independent Gaussian noise.

    The loss is −Z⁻¹ Σ_i G_i Σ_r P_i(r) D(r), where P_i(r) is the probability that document i has
    rank r when noise of standard deviation σ is added to each score. Unlike the paper, which takes
    the pairs of a document for independent, the distributions of ranks are exact: given the noisy
    score of document i, the others are above it independently, and this is integrated over.

    Discounts that are sums of exponentials of the rank, as log2, LETOR's, reciprocal, geometric and
    linear ones are to within 1e-7, need no distribution of ranks, and are much faster. Others, such
    as those that are cut at a rank, need it.

    Parameters
    ----------
    measure : DiscountedMeasure or str
        A measure of the form Z⁻¹ Σ G(y) D(r): NDCG, DCG, precision, recall, WTA, RBP. Its own
        `ties` and `no_relevant` play no part.
    tolerance : float
        By how much the value may be off, relative to the measure of the best order, and the
        gradient, relative to that per σ; between 1e-10 and 1e-3.

    References
    ----------
    Taylor, Guiver, Robertson & Minka 2008, "SoftRank: optimizing non-smooth rank metrics".

    Examples
    --------
    >>> from gbrank import Queries, SoftRank
    >>> bound = SoftRank("ndcg").bind([1, 0], Queries.from_sizes([2]))
    >>> bound.loss([0.0, 0.0]).round(4)  # minus the mean of NDCG over both orders
    array([-0.8155])
    """

    name = "soft"
    wanted = "be of the form Σ G(y) D(r) for SoftRank, such as 'ndcg' or 'precision@5'"
    declared = Facts(
        formula="−Z⁻¹ Σ_i G_i Σ_r P(rank of i = r) D(r), scores with noise N(0, σ²)",
        source="Taylor, Guiver, Robertson & Minka 2008, eq. 8, with exact distributions of ranks",
        cost="O(m log m); if the measure has a k, O(n k √k) for every n documents within 10 σ of "
        "each other",
        sigma=ANNEALED,
        start="ranknet",
        takes_measure=True,
    )

    tolerance: float = real(1e-4, 1e-10, 1e-3)

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Say whether the measure is a sum of gains times discounts."""
        return measure.form == "discounted"

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure's gains and discounts."""
        discounts = self.terms(labels, queries).discounts
        rates, drops = fit_discounts(discounts, queries, self.tolerance)
        return self.measure_program(
            soft_rank_by_exponentials,
            labels,
            queries,
            parameters=SoftRankParameters(rates, drops, accuracy_of(self.tolerance)),
            work=Integrals,
            other_kernel=soft_rank_by_counts,
            other_work=Integrals,
            others=np.isnan(drops).all(axis=1),
        )
