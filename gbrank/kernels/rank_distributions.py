"""SoftRank: the expected value of a measure Σ G D when scores have Gaussian noise.

Given that the noisy score of document i is x, the others are above it independently, each with
probability p_j = Φ((s_j − x)/σ), so their number is Poisson-binomial. With φ_i the density of
document i's noisy score at x, N_−i the number of others above x, and N_−ik that of all but i and k,

    E[M] = Σ_i G_i ∫ φ_i E[D(1 + N_−i)] dx
    ∂E[M]/∂s_k = Σ_i (G_k − G_i) ∫ φ_i φ_k E[D(1 + N_−ik) − D(2 + N_−ik)] dx

(the second by parts). The integrals are sums over equally spaced x that all documents share. Their
integrands are products of m functions of bandwidth 1/σ, so that steps of σ/√m leave an error of
rounding size. Where the discount is cut at a rank, only those x count that few documents are above,
and few of the functions are far from one: the steps need not shrink with the list. At each x one
recursion over the documents gives the sums over i for every number of documents above, and division
by the generating function q_k + p_k z takes document k out.
Long lists are left to `gbrank.kernels.rank_exponentials`, if their discounts allow it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.kernels.addition import sum_of
from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.newton_steps import bound_steps, multiply
from gbrank.kernels.rank_exponentials import sum_exponentials

__all__ = ["LONGEST_DIRECT", "SCRATCH", "SoftRankParameters", "soft_rank"]

# Up to so many documents within reach of each other are counted one by one: measured.
LONGEST_DIRECT = 150
# More points of integration per document are few documents at each: they are counted.
DENSEST = 4

# Farther than REACH σ from its score, a document is certainly above or below: Φ(−7.5) = 3e-14.
REACH = 7.5
# Distance of the x, in σ/√(n + 1), n documents: the sums' error is about exp(−2 (π / STEP)²).
STEP = 0.9
# Documents that are seldom above x count for less: all for this times the mean number above.
SELDOM = 4
# Numbers of documents above x less probable than exp(−TAIL) are left out.
TAIL = 32.0

# The rows of scratch. Those after GAIN hold one entry per number of documents above x, from the
# largest to 0: COUNT its probability, ANY and GAINED Σ_i φ_i P(N_−i) without and with G_i.
DEPTH, GAIN, DENSITY, ABOVE, LEFT, SLOPE, COUNT, ANY, GAINED = range(9)
SCRATCH = 9


class SoftRankParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    rates : ndarray, shape (n_rates,)
        Of the exponentials that discounts are sums of.
    drops : ndarray, shape (n_queries, n_rates)
        The drops of each query's discount, NaN if it is no such sum.
    tables : ndarray
        What sums by boxes need of each rate: see `gbrank.kernels.rank_exponentials.make_tables`.
    longest : float
        Up to how many documents of a cluster are counted.
    """

    rates: Vector
    drops: Matrix
    tables: NDArray[np.float64]
    longest: float


def soft_rank(
    query: Query,
    measure: MeasureFunctions,
    parameters: SoftRankParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Compute −E[M] and its derivatives, for clusters of documents out of each other's reach."""
    s, x, table, sigma = query.scores, query.ranking.x, query.ranking.table, query.sigma
    work = query.scratch
    m = s.size
    drops = parameters.drops[query.number]
    fitted = drops.size > 0 and drops[0] == drops[0]
    longest = parameters.longest if fitted else np.inf
    most = x.max()
    if most == 0:
        return 0.0
    depth = work[DEPTH]
    gains = work[GAIN]
    for i in range(m):
        gains[i] = x[i] / most
    support = table.size
    while support > 0 and table[support - 1] == 0:
        support -= 1
    deepest = most_above(support)
    value = 0.0
    start = 0
    while start < m:
        depth[start] = 0.0
        end = start + 1
        while end < m and (s[end - 1] - s[end]) / sigma <= 2 * REACH:
            depth[end] = (s[start] - s[end]) / sigma
            end += 1
        step = STEP / np.sqrt(min(end - start, SELDOM * deepest) + 1)
        if end - start > longest and depth[end - 1] + 2 * REACH < DENSEST * step * (end - start):
            value += sum_exponentials(
                start, end, step, REACH, table[0], parameters.rates, drops, parameters.tables,
                depth, gains, work[DENSITY:], gradient, curvature,
            )  # fmt: skip
        else:
            value += integrate(start, end, step, support, deepest, table, work, gradient, curvature)
        start = end
    scale = most * query.ranking.scale
    bound_steps(1.0, gradient, curvature)
    multiply(scale / sigma, scale / sigma / sigma, gradient, curvature)
    return -scale * value


@inline
def integrate(
    start: int, end: int, step: float, support: int, deepest: float, table: Vector, work: Matrix,
    gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return the value of a cluster and add its derivatives, in units of σ."""
    depth, gains, density, above = work[DEPTH], work[GAIN], work[DENSITY], work[ABOVE]
    by_gain = start + np.argsort(gains[start:end])
    density[start:end] = 0.0
    value = 0.0
    low = start
    high = start
    for node in range(2 + int((depth[end - 1] + 2 * REACH) / step)):
        x = node * step - REACH
        while high < end and depth[high] < x + REACH:
            high += 1
        while low < high and depth[low] <= x - REACH:
            density[low] = 0.0
            low += 1
        if low == high:
            continue
        for j in range(low, high):
            z = x - depth[j]
            density[j] = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
            above[j] = 0.5 * math.erfc(-z * np.sqrt(0.5))
        if low + sum_of(above[low:high]) > deepest:
            break  # all that follow are above as well, and no rank so far down counts
        bottom, top = count_above(low, high, work)
        total = 0.0
        for r in range(bottom, top + 1):
            total += work[GAINED, r - 1] * table[high - r]
        value += step * total
        if gradient.size > 0 and high > low + 1:
            add_derivatives(low, high, bottom, top, step, support, table, work, gradient)
            add_curvature(low, high, bottom, top, step, by_gain, table, work, curvature)
    return value


@inline
def most_above(support: int) -> float:
    """Return the mean number above x at which it is improbable that fewer than `support` are."""
    return support + 4 * TAIL / 3 + np.sqrt(16 * TAIL * TAIL / 9 + 2 * TAIL * support)


@inline
def tail_width(variance: float) -> float:
    """Return by how much a number misses its mean with probability exp(−TAIL) (Bernstein)."""
    return TAIL / 3 + np.sqrt(TAIL * TAIL / 9 + 2 * TAIL * variance)


@inline
def count_above(low: int, high: int, work: Matrix) -> tuple[int, int]:
    """Fill COUNT, ANY and GAINED; return the range of r = documents − number above."""
    gains, density, above = work[GAIN], work[DENSITY], work[ABOVE]
    count, any_, gained = work[COUNT], work[ANY], work[GAINED]
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
        width = tail_width(variance)
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
    low: int, high: int, bottom: int, top: int, step: float, support: int, table: Vector,
    work: Matrix, gradient: Vector,
) -> None:  # fmt: skip
    """Add the derivatives at one x: take each document k out of Σ_i (G_k − G_i) φ_i P(N_−i)."""
    gains, density, above = work[GAIN], work[DENSITY], work[ABOVE]
    left, slope, any_, gained = work[LEFT], work[SLOPE], work[ANY], work[GAINED]
    left[low:high] = 0.0
    slope[low:high] = 0.0
    middle = low
    while middle < high and above[middle] > 0.5:
        middle += 1
    # Division is stable from the side of the more probable outcome.
    for r in range(top, max(bottom, 2, high - support + 1) - 1, -1):
        drop = table[high - r] - table[high - r + 1]
        every = any_[r - 1]
        weighted = gained[r - 1]
        for k in range(np.uintp(middle), np.uintp(high)):
            p = above[k]
            left[k] = (gains[k] * every - weighted - p * left[k]) / (1.0 - p)
            slope[k] += left[k] * drop
    for r in range(bottom, top):
        drop = table[high - r - 1] - table[high - r]
        every = any_[r - 1]
        weighted = gained[r - 1]
        for k in range(np.uintp(low), np.uintp(middle)):
            p = above[k]
            left[k] = (gains[k] * every - weighted - (1.0 - p) * left[k]) / p
            slope[k] += left[k] * drop
    for k in range(low, high):
        gradient[k] -= step * density[k] * slope[k]


@inline
def add_curvature(
    low: int, high: int, bottom: int, top: int, step: float, by_gain: Positions, table: Vector,
    work: Matrix, curvature: Vector,
) -> None:  # fmt: skip
    """Add Σ_i |G_k − G_i| φ_i φ_k times the mean drop of the discount at x."""
    gains, density, any_ = work[GAIN], work[DENSITY], work[ANY]
    drop = 0.0
    for r in range(max(bottom, 2), top + 1):
        drop += any_[r - 1] * (table[high - r] - table[high - r + 1])
    total = sum_of(density[low:high])
    total_gain = 0.0
    for k in range(low, high):
        total_gain += density[k] * gains[k]
    mass = 0.0
    gain = 0.0
    for k in by_gain:
        mass += density[k]
        gain += density[k] * gains[k]
        spread = gains[k] * (2 * mass - total) - (2 * gain - total_gain)
        curvature[k] += step * density[k] * max(spread, 0.0) * drop / total
