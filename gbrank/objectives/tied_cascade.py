"""TieRank for cascade measures (RR, ERR): Σ_i x_i D(r_i) Π (1 − x_j) over j above i, exactly.

Scores are rounded to integers at random as in `gbrank.objectives.tierank`. Ties are broken
by a number τ drawn uniformly from [0, 1] for each document, lower first; that is the mean over all
orders. Given that i is on integer v with number τ, the others are above it independently, j with
probability a_j = P(j above v) + τ P(j on v), so that the value is

    Σ_v ∫ Σ_i x_i P(i on v) Σ_r D(r + 1) [z^r] Π_{j ≠ i} (1 − a_j + a_j (1 − x_j) z) dτ.

For n documents that may be on v the integrand is a polynomial of degree n − 1 in τ: Gauss–Legendre
quadrature with n/2 nodes is exact; as it varies on a scale of 1/√n, 4 √n + 8 nodes are as good to
rounding. Products without one document, which derivatives need, are found by dividing it out.
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Query
from gbrank.numerics.random_rounding import (
    NEGLIGIBLE,
    Rounded,
    TieParameters,
    next_segment,
    set_up,
    write_derivatives,
)

TINY = 1e-300

# The ratio of successive numbers of nodes, so that few rules serve lists of all lengths.
GROWTH = 1.15


class CascadeParameters(NamedTuple):
    """The parameters of the kernel: how scores are rounded, and rules of quadrature on [0, 1].

    Parameters
    ----------
    rounding : TieParameters
    counts : ndarray of int
        How many nodes each rule has, ascending.
    starts : ndarray of int
        Where each rule begins in `nodes` and `weights`, and where the last one ends.
    nodes, weights : ndarray
    """

    rounding: TieParameters
    counts: Positions
    starts: Positions
    nodes: Vector
    weights: Vector


def cascade_parameters(rounding: TieParameters, longest: int) -> CascadeParameters:
    """Return parameters for lists of up to `longest` documents."""
    counts = [1]
    while counts[-1] < n_nodes(longest):
        counts.append(max(counts[-1] + 1, int(GROWTH * counts[-1])))
    rules = [np.polynomial.legendre.leggauss(count) for count in counts]
    return CascadeParameters(
        rounding,
        np.array(counts),
        np.cumsum([0, *counts]),
        np.concatenate([0.5 + 0.5 * nodes for nodes, _ in rules]),
        np.concatenate([0.5 * weights for _, weights in rules]),
    )


@inline
def n_nodes(n: int) -> int:
    """Return how many nodes make the integral over n documents exact, or as good to rounding."""
    return int(min((n + 1) // 2, 4 * np.sqrt(n) + 8))


class CascadeWork(NamedTuple):
    """The work arrays; the last two are the coefficients of Π and of Σ_i x_i P(on v) Π."""

    documents: Rounded
    discounts: Vector
    product: Vector
    stopped: Vector


def tied_cascade(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the expected tied measure, and write its derivatives."""
    parameters: CascadeParameters = query.parameters
    s = query.scores
    work: CascadeWork = query.work
    documents = work.documents
    n = set_up(query, parameters.rounding, documents)
    value = 0.0
    begin = end = 0
    reached = 1.0
    while end < n or begin < end:
        stop = next_segment(begin, end, n, s, documents)
        if stop > begin:
            value += level(
                begin, end, stop, reached, out.gradient.size > 0, query.ranking.discounts,
                parameters, work,
            )  # fmt: skip
        for i in range(begin, end):
            reached *= 1.0 - documents.gain[i]
        if reached < NEGLIGIBLE:
            break
        begin, end = end, stop

    if out.gradient.size > 0:
        write_derivatives(n, 1.0, query.sigma, parameters.rounding, documents, out)
    return -value


@inline
def level(
    begin: int, end: int, stop: int, reached: float, derive: bool, all_discounts: Vector,
    parameters: CascadeParameters, work: CascadeWork,
) -> float:  # fmt: skip
    """Return the value of one integer, and add its derivatives.

    Documents begin, ..., end − 1 are on it or above, the others up to stop on it or below.
    """
    n = stop - begin
    discounts = work.discounts
    for r in range(n):
        discounts[r] = all_discounts[begin + r]
    discounts[n] = 0.0
    if discounts[0] == 0:
        return 0.0
    rule = np.searchsorted(parameters.counts, n_nodes(n))
    value = 0.0
    for node in range(parameters.starts[rule], parameters.starts[rule + 1]):
        tau = parameters.nodes[node]
        weight = reached * parameters.weights[node]
        low, high = multiply(begin, end, stop, tau, work)
        for r in range(low, high + 1):
            value += weight * discounts[r] * work.stopped[r]
        if derive:
            divide(begin, end, stop, tau, weight, low, high, work)
    return value


@inline
def factor(i: int, end: int, tau: float, documents: Rounded) -> tuple[float, float, float]:
    """Return the coefficients of a document's factor, 1 − a and a (1 − x), and x P(on v)."""
    up = documents.up[i]
    x = documents.gain[i]
    here = 1.0 - up if i < end else up
    above = up + tau * here if i < end else tau * here
    return 1.0 - above, above * (1.0 - x), x * here


@inline
def multiply(begin: int, end: int, stop: int, tau: float, work: CascadeWork) -> tuple[int, int]:
    """Find the products at one node; return the lowest and the highest power."""
    product, stopped = work.product, work.stopped
    low = high = 0
    mass = 1.0
    product[0] = 1.0
    stopped[0] = 0.0
    for i in range(begin, stop):
        below, passed, won = factor(i, end, tau, work.documents)
        high += 1
        product[high] = 0.0
        stopped[high] = 0.0
        for r in range(np.uintp(high), np.uintp(low), -1):
            stopped[r] = below * stopped[r] + passed * stopped[r - 1] + won * product[r]
            product[r] = below * product[r] + passed * product[r - 1]
        stopped[low] = below * stopped[low] + won * product[low]
        product[low] *= below
        mass *= below + passed
        while high > low and product[high] < NEGLIGIBLE * mass:
            high -= 1
        while low < high and product[low] < NEGLIGIBLE * mass:
            low += 1
    return low, high


@inline
def divide(
    begin: int,
    end: int,
    stop: int,
    tau: float,
    weight: float,
    low: int,
    high: int,
    work: CascadeWork,
) -> None:
    """Add the derivatives by each document's probability of rounding up to `total`."""
    discounts = work.discounts
    product, stopped = work.product, work.stopped
    for i in range(begin, stop):
        below, passed, won = factor(i, end, tau, work.documents)
        x = work.documents.gain[i]
        inverse = 1.0 / max(below, passed, TINY)
        rest = 0.0
        rest_stopped = 0.0
        own = 0.0
        others = 0.0
        if below >= passed:
            for r in range(np.uintp(low), np.uintp(min(high + 1, stop - begin))):
                before = rest_stopped
                rest = (product[r] - passed * rest) * inverse
                rest_stopped = (stopped[r] - won * rest - passed * before) * inverse
                own += discounts[r] * rest
                others += ((1.0 - x) * discounts[r + 1] - discounts[r]) * rest_stopped
        else:
            for r in range(np.uintp(high), np.uintp(max(low - 1, 0)), -1):
                before = rest
                rest = (product[r] - below * rest) * inverse
                rest_stopped = (stopped[r] - won * before - below * rest_stopped) * inverse
                own += discounts[r - 1] * rest
                others += ((1.0 - x) * discounts[r] - discounts[r - 1]) * rest_stopped
        if i < end:
            work.documents.total[i] += weight * ((1.0 - tau) * others - x * own)
        else:
            work.documents.total[i] += weight * (tau * others + x * own)
