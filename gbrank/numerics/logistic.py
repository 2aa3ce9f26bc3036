"""Logistic functions of scores and ranks, and what pairs of documents need of them.

Pairs share one exponential per document: with the upper document a and the lower document b,
u = exp(−(s_a − s_b)/σ) ≤ 1 gives all that is needed without overflow.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gbrank.common.checks import Function, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives

# exp(±700) is finite, so scores within 1400 σ of each other share one exponential per document.
WIDEST = 1400.0


class LogisticPairs(NamedTuple):
    """The scores of a list, best first, and the exponentials that its pairs share."""

    s: Vector
    sigma: float
    wide: bool  # whether scores are too far apart for these
    up: Vector
    down: Vector


@inline
def logistic_pairs(s: Vector, sigma: float, up: Vector, down: Vector) -> LogisticPairs:
    """Return the pairs of a list; up[j] down[i] = exp((s_j − s_i)/σ), unless scores are wide."""
    wide = not (s[0] - s[s.size - 1]) / sigma <= WIDEST
    if not wide:
        middle = 0.5 * s[0] + 0.5 * s[s.size - 1]
        for i in range(s.size):
            up[i] = np.exp((s[i] - middle) / sigma)
            down[i] = 1.0 / up[i]
    return LogisticPairs(s, sigma, wide, up, down)


@inline
def scale_of_row(i: int, begin: int, end: int, pairs: LogisticPairs) -> float:
    """Return the c with c up[j] = exp((s_j − s_i)/σ) for begin ≤ j < end; fill `up` if wide."""
    if pairs.wide:
        for j in range(begin, end):
            pairs.up[j] = np.exp((pairs.s[j] - pairs.s[i]) / pairs.sigma)
    return 1.0 if pairs.wide else pairs.down[i]


@inline
def logistic_slope(z: float) -> tuple[float, float]:
    """Return 1 / (1 + exp(−z)) and its derivative, precise even where the former is near 1."""
    u = np.exp(-abs(z))
    p = 1 / (1 + u)
    return p if z >= 0 else u * p, u * p * p


@inline
def truncation(rank: float, k: float, beta: float) -> tuple[float, float]:
    """Return how far a rank is within the first k, 1/(1 + exp(β (r − k − ½))), and its slope."""
    kept = 1.0
    slope = 0.0
    if k < np.inf:
        z = beta * (k + 0.5 - rank)
        u = np.exp(-abs(z))
        kept = 1 / (1 + u) if z >= 0 else u / (1 + u)
        slope = -beta * kept * (1 - kept)
    return kept, slope


@inline
def add_row(
    i: int, begin: int, end: int, labels: Vector, weights: Vector, pairs: LogisticPairs,
    out: Derivatives,
) -> float:  # fmt: skip
    """Add the pairs of document i with begin, ..., end − 1, in units of σ.

    Return their Σ|λ|; or their loss, if there is nothing to add to.
    """
    scale = scale_of_row(i, begin, end, pairs)
    total = 0.0
    label = labels[i]
    if out.gradient.size == 0:
        for j in range(begin, end):
            if label != labels[j]:
                total += weights[j] * np.log1p(pairs.up[j] * scale)
            if label < labels[j]:
                total += weights[j] * ((pairs.s[i] - pairs.s[j]) / pairs.sigma)
        return total
    force = 0.0
    curvature = 0.0
    # Unsigned indices need no wrap-around check, so that the loop vectorises.
    for j in range(np.uintp(begin), np.uintp(end)):
        u = pairs.up[j] * scale
        inverse = 1.0 / (1.0 + u)
        difference = label - labels[j]
        below = weights[j] * inverse
        above = below * u
        signed = above if difference > 0 else (-below if difference < 0 else 0.0)
        added = above * inverse if difference != 0 else 0.0
        force -= signed
        curvature += added
        total += abs(signed)
        out.gradient[j] += signed
        out.curvature[j] += added
    out.gradient[i] += force
    out.curvature[i] += curvature
    return total


# The value of a pair, and what it adds to two vectors: see `add_pairs`.
PairSums: TypeAlias = tuple[float, float, float, float, float]


@inline
def add_pairs(
    row: Function, chances: Function, pair: Function, pairs: Any, data: Any, n: int,
    first: Vector, second: Vector,
) -> float:  # fmt: skip
    """Add to two vectors what each pair i < j of n documents gives both; return Σ of its values.

    ``pair(i, j, chances(i, j, scale, pairs), data)`` returns its value, and what is added to
    first[i], first[j], second[i] and second[j]; the scale is ``row(i, i + 1, n, pairs)``.
    """
    total = 0.0
    for i in range(n - 1):
        scale = row(i, i + 1, n, pairs)
        first_sum = 0.0
        second_sum = 0.0
        # Unsigned indices need no wrap-around check, so that the loop vectorises.
        for j in range(np.uintp(i + 1), np.uintp(n)):
            value, first_i, first_j, second_i, second_j = pair(
                i, j, chances(i, j, scale, pairs), data
            )
            total += value
            first_sum += first_i
            first[j] += first_j
            second_sum += second_i
            second[j] += second_j
        first[i] += first_sum
        second[i] += second_sum
    return total


@inline
def no_scale(i: int, begin: int, end: int, pairs: Any) -> float:
    """Return the scale of rows that need none."""
    return 1.0
