"""Soft indicators, "is document i at position j", and measures of them, by direct summation.

Documents stand in rank order, so that position j is centred on the score of document j. Weights
exp(−(s_i − s_j)²/σ) that would round to nothing are left out: sums run over the neighbours only.
"""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.ranks import RANKS, SLOPES, all_alike

__all__ = ["smooth_measure"]

NEGLIGIBLE = 60.0  # exp(−60) is far below the precision of a sum that holds a 1


def smooth_measure(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return minus the measure at ḡ_j = Σ_i x_i h_ij, h_ij = softmax_i(−(s_i − s_j)²/σ).

    `prepare` is the measure's `by_place`; ``params[0]`` is the share of the mean curvature that
    every document gets. With b = ∂M/∂ḡ, ∂ḡ_j/∂s_p = −(2/σ)(s_p − s_j) h_pj (x_p − ḡ_j), and the
    opposite of their sum over p is added at p = j. The curvature bounds the part of the second
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
    prepare(-1, m, first, last, x, query, table, state, slopes)
    loss = -state[SLOPES, 0]
    if gradient.size == 0:
        return loss
    for i in range(m):
        slopes[i] /= total[i]
        curvature[i] += abs(slopes[i] * (x[i] - means[i]))
    for i in range(m - 1):
        for j in range(i + 1, m):
            weight = neighbour(s[i], s[j], sigma)
            if weight == 0.0:
                break
            here = weight * slopes[i] * (x[j] - means[i])  # document j at position i
            there = weight * slopes[j] * (x[i] - means[j])
            push = (s[i] - s[j]) * (there + here)
            gradient[i] += push
            gradient[j] -= push
            bend = abs(here) + abs(there)
            curvature[i] += bend
            curvature[j] += bend
    rescale(params[0], sigma, gradient, curvature)
    return loss


@inline
def neighbour(a: float, b: float, sigma: float) -> float:
    """Return exp(−(a − b)²/σ), or 0 where it is negligible."""
    gap = abs(a - b)
    exponent = gap / sigma * gap
    return np.exp(-exponent) if exponent < NEGLIGIBLE else 0.0


@inline
def rescale(floor: float, sigma: float, gradient: Vector, curvature: Vector) -> None:
    """Multiply by 2/σ, and add a share of the mean curvature."""
    factor = min(2 / sigma, 1e300)
    mean = floor * curvature.sum() / curvature.size
    for i in range(gradient.size):
        gradient[i] *= factor
        curvature[i] = (curvature[i] + mean) * factor
