"""SoftRank: the expected value of a measure Σ G D when scores have Gaussian noise.

Given that the noisy score of document i is x, the others are above it independently, each with
probability p_j = Φ((s_j − x)/σ), so their number is Poisson-binomial. With φ_i the density of
document i's noisy score at x, N_−i the number of others above x, and N_−ik that of all but i and k,

    E[M] = Σ_i G_i ∫ φ_i E[D(1 + N_−i)] dx
    ∂E[M]/∂s_k = Σ_i (G_k − G_i) ∫ φ_i φ_k E[D(1 + N_−ik) − D(2 + N_−ik)] dx

(the second by parts). The integrals are sums over equally spaced x that all documents share. Their
integrands are products of m functions of bandwidth 1/σ, so that steps of σ/√m leave an error of
rounding size. Where the discount is smooth, so are they, and steps of σ/log m are enough. Where it
is cut at a rank, only those x count with few documents above, and few of the functions are far from
one: the steps need not shrink with the list. A document whose
score is far above or below x stays there with certainty; the others are the window of x. At each x
one recursion over the window gives the sums over i for every number of documents above, and
division by the generating function q_k + p_k z takes document k out. All lengths are in units of σ.
"""

from dataclasses import dataclass
from math import erfc
from typing import NamedTuple

import numpy as np

from gbrank.common.checks import Positions, Vector
from gbrank.common.fields import Real
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query, Ranking
from gbrank.engine.numba_internals import slice_of
from gbrank.engine.sorting import rank
from gbrank.measures.measure import Measure
from gbrank.numerics.vectors import all_alike, bound_steps, multiply, sum_of

from .objective import ANNEALED, Facts, MeasureObjective
from .objective_registry import register_objective


class SoftWork(NamedTuple):
    """Work arrays of the integration.

    The last three have one entry per number of documents above x, from the largest to 0: its
    probability, and Σ_i φ_i P(N_−i) without and with G_i.
    """

    above: Vector  # the chance that a document's noise takes it above x
    density: Vector  # of its noisy score at x
    left: Vector
    slope: Vector
    order: Positions  # of documents by falling gain
    spare: Positions
    chance: Vector
    dense: Vector
    gained: Vector


def soft_rank(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return −E[M] and write its derivatives."""
    work: SoftWork = query.work
    digits = query.parameters  # −log of the tolerance
    s = query.scores
    sigma = query.sigma
    ranking = query.ranking
    m = query.scores.size
    gains = ranking.gains
    discounts = ranking.discounts
    lists = slice_of(work, 0, m)
    order = lists.order
    for n in range(m):
        lists.left[n] = gains[n]
    rank(lists.left, order, lists.slope, lists.spare)
    reach = np.sqrt(2 * digits + 10)  # measured; documents beyond are certainly above x, or below
    tail = digits + 9  # numbers of documents above x less probable than exp(−tail) are left out
    support, deepest, step = steps_of(discounts, m, digits, tail)
    value = 0.0
    first = low = high = 0
    x = step - reach  # below the score of the document `first`
    while low < m:
        while high < m and (s[first] - s[high]) / sigma < x + reach:
            high += 1
        while low < high and (s[first] - s[low]) / sigma <= x - reach:
            low += 1
        if low == high:
            first = high
            x = step - reach
            continue
        for j in range(np.uintp(low), np.uintp(high)):
            z = x - (s[first] - s[j]) / sigma
            work.above[j] = 0.5 * erfc(-z / np.sqrt(2))
            work.density[j] = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
        if low + sum_of(slice_of(work.above, low, high)) > deepest:
            break  # later x have more documents above, and no rank so far down counts
        bottom, top = count_above(low, high, tail, gains, work)
        drop = 0.0
        for r in range(bottom, top + 1):
            value += step * work.gained[r - 1] * discounts[high - r]
            if r > 1:
                drop += work.dense[r - 1] * (discounts[high - r] - discounts[high - r + 1])
        if out.gradient.size > 0 and not all_alike(slice_of(gains, low, high)):
            add_gradient(low, high, bottom, top, step, support, ranking, work, out.gradient)
            add_curvature(low, high, step * drop, gains, order, work.density, out.curvature)
        x += step
    bound_steps(1.0, out)
    multiply(ranking.scale / sigma, ranking.scale / sigma / sigma, out)
    return -ranking.scale * value


@inline
def steps_of(discounts: Vector, m: int, digits: float, tail: float) -> tuple[int, float, float]:
    """Return the last rank that counts, how many above x matter, and the steps between x."""
    # how far the discount is from a smooth one
    support = 0
    roughness = 0.0
    for n in range(m):
        support = support if discounts[n] == 0 else n + 1
        if 0 < n < m - 1:
            change = abs(discounts[n - 1] - 2 * discounts[n] + discounts[n + 1])
            roughness = max(roughness, change * n * n)
    # With more documents above x on average, fewer than `support` are improbable.
    deepest = support + 4 * tail / 3 + np.sqrt(16 * tail * tail / 9 + 2 * tail * support)
    step = np.pi * np.sqrt(2 / (digits + 1) / (min(m, 4 * deepest) + 1))
    if roughness < 2 * discounts[0]:
        step = max(step, 14 / digits / np.log(m + 4.0))
    return support, deepest, step


@inline
def count_above(low: int, high: int, tail: float, gains: Vector, work: SoftWork) -> tuple[int, int]:
    """Fill `chance`, `dense` and `gained`; return the range of r = documents − number above."""
    count = work.chance
    dense = work.dense
    gained = work.gained
    top = bottom = high - low
    count[top - 1] = 1.0
    dense[top - 1] = gained[top - 1] = 0.0
    mean = variance = 0.0
    for j in range(low, high):
        p = work.above[j]
        density = work.density[j]
        q = 1.0 - p
        gain = density * gains[j]
        mean += p
        variance += p * q
        # A deviation from the mean of probability exp(−tail) at most (Bernstein).
        width = tail / 3 + np.sqrt(tail * tail / 9 + 2 * tail * variance)
        if bottom > max(1.0, high - low - (mean + width + 1)):
            bottom -= 1
            count[bottom - 1] = dense[bottom - 1] = gained[bottom - 1] = 0.0
        top = high - low - int(max(0.0, mean - width))
        count[top] = dense[top] = gained[top] = 0.0
        # Unsigned indices need no wrap-around check.
        for r in range(np.uintp(bottom - 1), np.uintp(top)):
            old = count[r]
            count[r] = q * old + p * count[r + 1]
            dense[r] = q * dense[r] + p * dense[r + 1] + density * old
            gained[r] = q * gained[r] + p * gained[r + 1] + gain * old
    return bottom, top


@inline
def add_gradient(
    low: int, high: int, bottom: int, top: int, step: float, support: int, ranking: Ranking,
    work: SoftWork, gradient: Vector,
) -> None:  # fmt: skip
    """Add the slopes at one x: take each document k out of Σ_i (G_k − G_i) φ_i P(N_−i)."""
    gains = ranking.gains
    discounts = ranking.discounts
    above = work.above
    left = work.left
    slope = work.slope
    middle = low
    for k in range(low, high):
        left[k] = slope[k] = 0.0
        middle += above[k] > 0.5
    # Division is stable from the side of the more probable outcome.
    for r in range(top, max(bottom, 2, high - support + 1) - 1, -1):
        drop = discounts[high - r] - discounts[high - r + 1]
        every = work.dense[r - 1]
        weighted = work.gained[r - 1]
        for k in range(np.uintp(middle), np.uintp(high)):
            p = above[k]
            left[k] = (gains[k] * every - weighted - p * left[k]) / (1.0 - p)
            slope[k] += left[k] * drop
    for r in range(bottom, top):
        drop = discounts[high - r - 1] - discounts[high - r]
        every = work.dense[r - 1]
        weighted = work.gained[r - 1]
        for k in range(np.uintp(low), np.uintp(middle)):
            p = above[k]
            left[k] = (gains[k] * every - weighted - (1.0 - p) * left[k]) / p
            slope[k] += left[k] * drop
    for k in range(low, high):
        gradient[k] -= step * work.density[k] * slope[k]


@inline
def add_curvature(
    low: int, high: int, weight: float, gains: Vector, order: Positions, density: Vector,
    curvature: Vector,
) -> None:  # fmt: skip
    """Add weight Σ_i |G_k − G_i| φ_i φ_k / Σ_i φ_i to the documents k of a window."""
    total = total_gain = 0.0
    for k in range(low, high):
        total += density[k]
        total_gain += density[k] * gains[k]
    better = better_gain = 0.0  # sums over documents that are worth as much or more
    end = 0
    for n in range(order.size):
        while end < order.size and gains[order[end]] == gains[order[n]]:
            if low <= order[end] < high:
                better += density[order[end]]
                better_gain += density[order[end]] * gains[order[end]]
            end += 1
        k = order[n]
        if low <= k < high:
            spread = gains[k] * (total - 2 * better) - (total_gain - 2 * better_gain)
            curvature[k] += weight / total * density[k] * max(spread, 0.0)


@register_objective
@dataclass(frozen=True)
class SoftRank(MeasureObjective):
    """SoftRank: minus the expected measure when scores have independent Gaussian noise.

    The loss is −Z⁻¹ Σ_i G_i Σ_r P_i(r) D(r), where P_i(r) is the probability that document i has
    rank r when noise of standard deviation σ is added to each score. Unlike in the
    paper, the distributions of ranks are exact: given the noisy score of document i, the others are
    above it independently.

    On one thread a gradient takes 0.2 ms for 30 documents, 0.5 ms for 100, 10 ms for 1,000 and
    280 ms for 10,000; with a measure cut at rank 10, at most 30 ms.

    Parameters
    ----------
    measure : DiscountedMeasure or str
        A measure of the form Z⁻¹ Σ G(y) D(r): NDCG, DCG, precision, recall, WTA, RBP. Its own
        `ties` and `no_relevant` have no effect.
    tolerance : float
        By how much the value may be off, relative to the measure of the best order, and the
        gradient, relative to that per σ; between 1e-10 and 1e-3.

    Notes
    -----
    - Formula: −Z⁻¹ Σ_i G_i Σ_r P(rank of i = r) D(r), scores with noise N(0, σ²)
    - Source: Taylor, Guiver, Robertson & Minka 2008, eq. 8, with exact distributions of ranks
    - Cost: O(n √n log n) for n documents within 10 σ; O(n k √k) if the measure has a k

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
    declared = Facts(sigma=ANNEALED, start="ranknet", takes_measure=True)

    tolerance: float = Real(1e-4, 1e-10, high=1e-3)

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Return whether the measure is a sum of gains times discounts."""
        return measure.form == "discounted"

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure's gains and discounts."""
        digits = float(-np.log(self.tolerance))
        return self.measure_program(soft_rank, labels, queries, parameters=digits, work=SoftWork)
