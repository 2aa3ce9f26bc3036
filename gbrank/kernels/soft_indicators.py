"""Soft indicators, "is document i at position j", and measures of them.

Documents stand in rank order, so that position j is centred on the score of document j. Weights
exp(−(s_i − s_j)²/σ) that would round to nothing are left out: sums run over the neighbours only.
Few neighbours are summed one by one, many by boxes (`gbrank.kernels.gauss_transform`).
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.exponentials import fast_exp
from gbrank.kernels.gauss_transform import add_by_boxes, lay_out
from gbrank.kernels.newton_steps import multiply, size_as_curvature
from gbrank.kernels.reductions import all_alike

# Up to this many neighbours below a document, on average, are summed one by one: measured.
MOST_NEIGHBOURS = 125
SCRATCH = 4 + 8
NEGLIGIBLE_EXPONENT = 60.0  # exp(−60) is far below the precision of a sum that holds a 1


class SmoothParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    most_neighbours : float
        Up to how many neighbours of a document, on average, are summed one by one.
    """

    most_neighbours: float = MOST_NEIGHBOURS


def smooth_measure(
    query: Query,
    measure: MeasureFunctions,
    parameters: SmoothParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return minus the measure at ḡ_j = Σ_i x_i h_ij, h_ij = softmax_i(−(s_i − s_j)²/σ).

    With b = ∂M/∂ḡ, which `by_position` gives, ∂ḡ_j/∂s_p = −(2/σ)(s_p − s_j) h_pj (x_p − ḡ_j), and
    the opposite of their sum over p is added at p = j.
    """
    s, x, sigma, scratch = query.scores, query.ranking.x, query.sigma, query.scratch
    m = s.size
    if all_alike(x):
        return 0.0
    total, slopes, means = scratch[0], scratch[1], scratch[2]
    width = np.sqrt(sigma)
    most = parameters.most_neighbours
    boxed = m > most and count_neighbours(s, width) > most * m
    if boxed:
        places = scratch[3, :m]
        lay_out(s, width, places)
        average_in_boxes(x, places, scratch[4:], total, means)
    else:
        average(s, x, width, total, means)
    loss = -measure.by_position(query.ranking, means, slopes)
    if gradient.size == 0:
        return loss
    for i in range(m):
        slopes[i] /= total[i]
    if boxed:
        add_in_boxes(x, means, slopes, places, scratch[4:], gradient)
    else:
        add_neighbours(s, x, width, means, slopes, gradient)
    size_as_curvature(gradient, curvature)
    multiply(2 / width, 2 / width / longest_step(s, width), gradient, curvature)
    return loss


@inline
def average(s: Vector, x: Vector, width: float, total: Vector, means: Vector) -> None:
    """Write the sum of the weights at each position, and the mean x."""
    m = s.size
    total[:m] = 1.0
    means[:m] = x
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
            weighted += weight * x[j]
            total[j] += weight
            means[j] += weight * x[i]
        total[i] += weights
        means[i] += weighted
    for j in range(m):
        means[j] /= total[j]


@inline
def add_neighbours(
    s: Vector, x: Vector, width: float, means: Vector, slopes: Vector, gradient: Vector
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
            here = slopes[i] * (x[j] - means[i])  # document j at position i
            there = slopes[j] * (x[i] - means[j])
            force = fast_exp(-gap * gap) * gap * (there + here)
            total += force
            gradient[j] -= force
        gradient[i] += total


@inline
def average_in_boxes(
    x: Vector, places: Vector, scratch: Matrix, total: Vector, means: Vector
) -> None:
    """Do as `average`, by boxes."""
    m = x.size
    weights, sums = scratch[0:2], scratch[2:4]
    weights[0, :m] = 1.0
    weights[1, :m] = x
    sums[:, :m] = 0.0
    add_by_boxes(False, places, weights, sums)
    for j in range(m):
        total[j] = sums[0, j]
        means[j] = sums[1, j] / sums[0, j]


@inline
def add_in_boxes(
    x: Vector, means: Vector, slopes: Vector, places: Vector, scratch: Matrix, gradient: Vector
) -> None:  # fmt: skip
    """Do as `add_neighbours`, by boxes."""
    m = x.size
    weights, sums = scratch[0:4], scratch[4:8]
    weights[0, :m] = 1.0
    weights[1, :m] = x
    for j in range(m):
        weights[2, j] = slopes[j]
        weights[3, j] = slopes[j] * means[j]
    sums[:, :m] = 0.0
    add_by_boxes(True, places, weights, sums)
    for i in range(m):
        there = x[i] * sums[2, i] - sums[3, i]
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
