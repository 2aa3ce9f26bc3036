"""Soft indicators, "is document i at position j", and measures of them.

Documents stand in rank order, so that position j is centred on the score of document j. Weights
exp(−(s_i − s_j)²/σ) that would round to nothing are left out: sums run over the neighbours only.
Where these are few they are summed one by one, else by boxes (`gbrank.kernels.gauss_transform`).
"""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.distances import add_distances
from gbrank.kernels.gauss_transform import FEW, GAUSSIAN, GAUSSIAN_SLOPE, add_by_boxes, lay_out
from gbrank.kernels.logistic import RANKS, SLOPES, all_alike
from gbrank.kernels.newton_steps import multiply

__all__ = ["MOST_NEIGHBOURS", "SCRATCH", "smooth_measure"]

# Up to so many neighbours below a document, on average, are summed one by one: measured.
MOST_NEIGHBOURS = 125
SCRATCH = 16
NEGLIGIBLE = 60.0  # exp(−60) is far below the precision of a sum that holds a 1


def smooth_measure(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return minus the measure at ḡ_j = Σ_i x_i h_ij, h_ij = softmax_i(−(s_i − s_j)²/σ).

    `prepare` is the measure's `by_place`; ``params[0]`` is the share of the mean curvature that
    every document gets, ``params[1]`` up to how many neighbours to sum one by one. With
    b = ∂M/∂ḡ, ∂ḡ_j/∂s_p = −(2/σ)(s_p − s_j) h_pj (x_p − ḡ_j), and the opposite of their sum over p
    is added at p = j. The curvature bounds the part of the second
    derivative that the exponentials' own bend gives: (2/σ) Σ_j |b_j| h_pj |x_p − ḡ_j|, and likewise
    at the centre.
    """
    m = s.size
    if all_alike(documents[0, :m]):
        return 0.0
    x = documents[0, :m]
    total = work[0]
    slopes = work[1]
    state = work[2:]
    means = state[RANKS]
    width = np.sqrt(sigma)
    boxed = m > params[1] and count_neighbours(s, sigma) > params[1] * m
    if boxed:
        lay_out(s, width, work[4])
        average_in_boxes(x, work)
    else:
        average(s, x, sigma, total, means)
    prepare(-1, m, first, last, x, query, table, state, slopes)
    loss = -state[SLOPES, 0]
    if gradient.size == 0:
        return loss
    for i in range(m):
        slopes[i] /= total[i]
        curvature[i] += abs(slopes[i] * (x[i] - means[i]))
    if boxed:
        push_in_boxes(x, work, gradient, curvature)
    else:
        push(s, x, sigma, width, means, slopes, gradient, curvature)
    rescale(params[0], width, gradient, curvature)
    return loss


@inline
def average(s: Vector, x: Vector, sigma: float, total: Vector, means: Vector) -> None:
    """Write the sum of the weights at each position, and the mean x."""
    m = s.size
    total[:m] = 1.0
    means[:m] = x
    for i in range(m - 1):
        for j in range(i + 1, m):
            weight = neighbour(s[i], s[j], sigma)
            if weight == 0.0:
                break
            total[i] += weight
            total[j] += weight
            means[i] += weight * x[j]
            means[j] += weight * x[i]
    for j in range(m):
        means[j] /= total[j]


@inline
def push(
    s: Vector, x: Vector, sigma: float, width: float, means: Vector, slopes: Vector,
    gradient: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Add all pairs of neighbours, in units of √σ, the width."""
    m = s.size
    for i in range(m - 1):
        for j in range(i + 1, m):
            weight = neighbour(s[i], s[j], sigma)
            if weight == 0.0:
                break
            here = weight * slopes[i] * (x[j] - means[i])  # document j at position i
            there = weight * slopes[j] * (x[i] - means[j])
            force = (s[i] - s[j]) / width * (there + here)
            gradient[i] += force
            gradient[j] -= force
            bend = abs(here) + abs(there)
            curvature[i] += bend
            curvature[j] += bend


@inline
def average_in_boxes(x: Vector, work: Matrix) -> None:
    """Do as `average`, from places in the fifth row."""
    m = x.size
    weights = work[5:7]
    sums = work[7:9]
    weights[0, :m] = 1.0
    weights[1, :m] = x
    sums[:, :m] = 0.0
    add_by_boxes(GAUSSIAN, FEW, False, work[4, :m], weights, work[4, :m], sums)
    for j in range(m):
        work[0, j] = sums[0, j]
        work[2, j] = sums[1, j] / sums[0, j]


@inline
def push_in_boxes(x: Vector, work: Matrix, gradient: Vector, curvature: Vector) -> None:
    """Do as `push`, from places in the fifth row."""
    m = x.size
    slopes = work[1]
    means = work[2]
    weights = work[5:9]
    sums = work[9:13]
    weights[0, :m] = 1.0
    weights[1, :m] = x
    for j in range(m):
        weights[2, j] = slopes[j]
        weights[3, j] = slopes[j] * means[j]
    sums[:, :m] = 0.0
    add_by_boxes(GAUSSIAN_SLOPE, FEW, True, work[4, :m], weights, work[4, :m], sums)
    for i in range(m):
        there = x[i] * sums[2, i] - sums[3, i]
        here = slopes[i] * (sums[1, i] - means[i] * sums[0, i])
        gradient[i] += there + here
        slopes[i] = abs(slopes[i])
        curvature[i] *= -1.0  # what comes twice
    add_distances(work[4, :m], x, means, slopes, work[5:], curvature)


@inline
def count_neighbours(s: Vector, sigma: float) -> int:
    """Return the number of pairs whose weight is not negligible."""
    pairs = 0
    top = 0
    for i in range(s.size):
        while neighbour(s[top], s[i], sigma) == 0.0:
            top += 1
        pairs += i - top
    return pairs


@inline
def neighbour(a: float, b: float, sigma: float) -> float:
    """Return exp(−(a − b)²/σ), or 0 where it is negligible."""
    gap = abs(a - b)
    exponent = gap / sigma * gap
    return np.exp(-exponent) if exponent < NEGLIGIBLE else 0.0


@inline
def rescale(floor: float, width: float, gradient: Vector, curvature: Vector) -> None:
    """Go from derivatives in units of √σ, the width; add a share of the mean curvature."""
    curvature += floor * curvature.sum() / curvature.size
    multiply(2 / width, 2 / width / width, gradient, curvature)
