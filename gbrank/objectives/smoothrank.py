"""SmoothRank: measures of soft indicators, "is document i at position j".

Documents stand in rank order, so that position j is centred on the score of document j. Weights
exp(−(s_i − s_j)²/σ) that would round to nothing are left out: sums run over the neighbours only.
Few neighbours are summed one by one, many by boxes (`gbrank.numerics.gauss_transform`).
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.checks import Matrix, Vector
from gbrank.data.queries import Queries
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.engine.numba_internals import slice_of
from gbrank.numerics.gauss_transform import Summand, lay_out, sum_by_boxes
from gbrank.numerics.vectors import all_alike, multiply, size_as_curvature

from .objective import Facts, MeasureObjective
from .objective_registry import register_objective

# Up to this many neighbours below a document, on average, are summed one by one: measured.
MOST_NEIGHBOURS = 125
NEGLIGIBLE_EXPONENT = 60.0  # exp(−60) is far below the precision of a sum that holds a 1
# Coefficients of exp(t − 1/8), the highest power first.
TAYLOR = np.exp(-0.125) / np.array([362880.0, 40320, 5040, 720, 120, 24, 6, 2, 1, 1])


class SmoothWork(NamedTuple):
    """The work arrays; the last two are matrices, a row for each sum by boxes."""

    total: Vector
    slopes: Vector
    means: Vector
    places: Vector
    weights: Matrix
    sums: Matrix


def smooth_measure(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Return minus the measure at ḡ_j = Σ_i G_i h_ij, h_ij = softmax_i(−(s_i − s_j)²/σ).

    With b = ∂M/∂ḡ, which `by_position` gives, ∂ḡ_j/∂s_p = −(2/σ)(s_p − s_j) h_pj (G_p − ḡ_j), and
    the opposite of their sum over p is added at p = j.
    """
    s = query.scores
    gains = query.ranking.gains
    sigma = query.sigma
    work = query.work
    m = s.size
    if all_alike(gains):
        return 0.0
    total = work.total
    slopes = work.slopes
    means = work.means
    places = slice_of(work.places, 0, m)
    width = np.sqrt(sigma)
    most = query.parameters  # neighbours of a document that are summed one by one
    boxed = m > most and count_neighbours(s, width) > most * m
    if boxed:
        lay_out(s, width, places)
        average_in_boxes(gains, places, work, total, means)
    else:
        average(s, gains, width, total, means)
    loss = -measure.by_position(query.ranking, means, slopes)
    if out.gradient.size == 0:
        return loss
    for i in range(m):
        slopes[i] /= total[i]
    if boxed:
        add_in_boxes(gains, means, slopes, places, work, out.gradient)
    else:
        add_neighbours(s, gains, width, means, slopes, out.gradient)
    size_as_curvature(out)
    multiply(2 / width, 2 / width / longest_step(s, width), out)
    return loss


@inline
def average(s: Vector, gains: Vector, width: float, total: Vector, means: Vector) -> None:
    """Write the sum of the weights at each position, and the mean gain."""
    m = s.size
    for j in range(m):
        total[j] = 1.0
        means[j] = gains[j]
    inverse = 1.0 / width
    stop = 1
    for i in range(m - 1):
        stop = neighbours_end(i, stop, s, width)
        weights = 0.0
        weighted = 0.0
        for j in range(np.uintp(i + 1), np.uintp(stop)):
            gap = (s[i] - s[j]) * inverse
            weight = fast_exp(-gap * gap)
            weights += weight
            weighted += weight * gains[j]
            total[j] += weight
            means[j] += weight * gains[i]
        total[i] += weights
        means[i] += weighted
    for j in range(m):
        means[j] /= total[j]


@inline
def add_neighbours(
    s: Vector, gains: Vector, width: float, means: Vector, slopes: Vector, gradient: Vector
) -> None:
    """Add all pairs of neighbours, in units of √σ, the width."""
    m = s.size
    inverse = 1.0 / width
    stop = 1
    for i in range(m - 1):
        stop = neighbours_end(i, stop, s, width)
        total = 0.0
        for j in range(np.uintp(i + 1), np.uintp(stop)):
            gap = (s[i] - s[j]) * inverse
            here = slopes[i] * (gains[j] - means[i])  # document j at position i
            there = slopes[j] * (gains[i] - means[j])
            change = fast_exp(-gap * gap) * gap * (there + here)
            total += change
            gradient[j] -= change
        gradient[i] += total


@inline
def average_in_boxes(
    gains: Vector, places: Vector, work: SmoothWork, total: Vector, means: Vector
) -> None:
    """Write what `average` writes, by boxes."""
    m = gains.size
    weights = work.weights[:2]
    sums = work.sums[:2]
    for j in range(m):
        weights[0, j] = 1.0
        weights[1, j] = gains[j]
    sum_by_boxes(Summand(slope=False), places, weights, sums)
    for j in range(m):
        total[j] = sums[0, j]
        means[j] = sums[1, j] / sums[0, j]


@inline
def add_in_boxes(
    gains: Vector, means: Vector, slopes: Vector, places: Vector, work: SmoothWork, gradient: Vector
) -> None:
    """Add what `add_neighbours` adds, by boxes; `average_in_boxes` has filled two rows."""
    weights = work.weights
    sums = work.sums
    for j in range(gains.size):
        weights[2, j] = slopes[j]
        weights[3, j] = slopes[j] * means[j]
    sum_by_boxes(Summand(slope=True), places, weights, sums)
    for i in range(gains.size):
        there = gains[i] * sums[2, i] - sums[3, i]
        here = slopes[i] * (sums[1, i] - means[i] * sums[0, i])
        gradient[i] += there + here


@inline
def longest_step(s: Vector, width: float) -> float:
    """Return w/(1 + w²/v) for width w and scores of variance v: about w, unless w² is above v.

    A width far beyond the scores' spread says little about their order.
    """
    mean = 0.0
    for score in s:
        mean += (score - s[0]) / s.size
    variance = 0.0
    for score in s:
        variance += (score - s[0] - mean) ** 2 / s.size
    return width / (1 + width / variance * width) if variance > 0 else width


@inline
def count_neighbours(s: Vector, width: float) -> int:
    """Return the number of pairs whose weight is not negligible."""
    pairs = 0
    stop = 1
    for i in range(s.size):
        stop = neighbours_end(i, stop, s, width)
        pairs += stop - i - 1
    return pairs


@inline
def neighbours_end(i: int, stop: int, s: Vector, width: float) -> int:
    """Return the first document from max(i + 1, stop) on that is no neighbour of document i."""
    stop = max(i + 1, stop)
    while stop < s.size and ((s[i] - s[stop]) / width) ** 2 < NEGLIGIBLE_EXPONENT:
        stop += 1
    return stop


@inline
def fast_exp(x: float) -> float:
    """Return exp(x), −64 ≤ x ≤ 0, to 1e-13: a loop over it uses vectors, unlike the library's.

    exp(x/256) is a Taylor polynomial around the middle of its range.
    """
    t = x / 256 + 0.125
    value = TAYLOR[0]
    for n in range(1, TAYLOR.size):
        value = value * t + TAYLOR[n]
    for _ in range(8):
        value *= value
    return value


@register_objective
class SmoothRank(MeasureObjective):
    """SmoothRank: minus a measure of soft indicators of which document is at which position.

    h_ij = softmax over i of −(s_i − s_d(j))²/σ says how far document i is at position j, where
    document d(j) is. With ḡ_j = Σ_i G_i h_ij in place of the gain of the document at position j,
    NDCG is Σ_j D(j) ḡ_j / Z; AP is Σ_j ḡ_j (Σ_{l ≤ j} ḡ_l)/j / R; RR and ERR are
    Σ_j ḡ_j/j Π_{l < j} (1 − ḡ_l). σ is in squared score units. (The paper's other
    smooth AP, of soft ranks, is `SmoothAP`.)

    Where all scores of a query are equal the gradient is zero: training needs initial scores. At a
    tie of unequal gains, a kink, the gradient is that with the larger gain first. A query whose
    documents all have the same gain has loss 0. The curvature is |gradient| plus its mean over the
    query, divided by the longest step: √σ, or less if the scores' spread is smaller.

    Parameters
    ----------
    measure : Measure or str
        Any measure of what is at each position: NDCG, DCG, precision, recall, WTA, RBP, AP, RR,
        ERR. Its own `ties` and `no_relevant` have no effect.

    Notes
    -----
    - Formula: −M(ḡ), ḡ_j = Σ_i G_i h_ij, h_ij = softmax_i(−(s_i − s_{d(j)})²/σ)
    - Source: Chapelle & Wu 2010, eq. 7, 8
    - Cost: O(m n) for n neighbors within 8√σ of a document
    - Fast: O(m log m) where n is above 250

    References
    ----------
    Chapelle & Wu 2010, "Gradient descent optimization of smoothed information retrieval
    metrics", equations 7, 8 and 10, and section 4.2.

    Examples
    --------
    >>> from gbrank import Queries, SmoothRank
    >>> bound = SmoothRank("ndcg").bind([2, 0, 1], Queries.from_sizes([3]))
    >>> bound.loss([3.0, 2.0, 1.0], sigma=1e-3).round(4)  # minus NDCG
    array([-0.9639])
    """

    name = "smooth"
    needs = "by_position"
    wanted = "be a function of the gains by position for SmoothRank"
    declared = Facts(
        sigma_unit="squared score",
        sigma="geometric(0.1, 0.01, unit='spread')",  # widths of 0.3 to 0.1 spreads
        start="ranknet",
        needs_start=True,
        takes_measure=True,
    )

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the measure of soft indicators."""
        return self.measure_program(
            smooth_measure,
            labels,
            queries,
            ["by_position"],
            parameters=float(MOST_NEIGHBOURS),
            work=SmoothWork,
            rows={"weights": 4, "sums": 4},
        )
