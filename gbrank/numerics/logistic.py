"""Logistic functions of scores and ranks, and what pairs of documents need of them.

Pairs share one exponential per document: with the upper document a and the lower document b,
u = exp(−(s_a − s_b)/σ) ≤ 1 gives all that is needed without overflow.
"""

from typing import Any

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.engine.compiling import Function, inline
from gbrank.engine.contract import Derivatives

# exp(±700) is finite, so scores within 1400 σ of each other share one exponential per document.
WIDEST = 1400.0


@inline
def is_wide(s: Vector, sigma: float) -> bool:
    """Say whether the scores, best first, are too far apart for `exponentials`."""
    return not (s[0] - s[s.size - 1]) / sigma <= WIDEST


@inline
def exponentials(s: Vector, sigma: float, up: Vector, down: Vector) -> None:
    """Fill up and down so that up[j] down[i] = exp((s_j − s_i)/σ), unless scores are wide."""
    if not is_wide(s, sigma):
        middle = 0.5 * s[0] + 0.5 * s[s.size - 1]
        for i in range(s.size):
            up[i] = np.exp((s[i] - middle) / sigma)
            down[i] = 1.0 / up[i]


@inline
def row_exponentials(
    i: int, wide: bool, s: Vector, sigma: float, up: Vector, down: Vector
) -> float:
    """Return the c with c up[j] = exp((s_j − s_i)/σ) for every j below i; fill `up` if wide."""
    if wide:
        for j in range(i + 1, s.size):
            up[j] = np.exp((s[j] - s[i]) / sigma)
    return 1.0 if wide else down[i]


@inline
def logistic(z: float) -> float:
    """Return 1 / (1 + exp(−z)), for any z."""
    u = np.exp(-abs(z))
    return 1 / (1 + u) if z >= 0 else u / (1 + u)


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
        kept = logistic(beta * (k + 0.5 - rank))
        slope = -beta * kept * (1 - kept)
    return kept, slope


@inline
def add_row(
    i: int, begin: int, end: int, labels: Vector, weights: Vector, up: Vector, scale: float,
    out: Derivatives,
) -> float:  # fmt: skip
    """Add the pairs of document i with begin, ..., end − 1, in units of σ; return their Σ|λ|."""
    own_force = 0.0
    own_curvature = 0.0
    total = 0.0
    label = labels[i]
    # Unsigned indices need no wrap-around check, so that the loop vectorises.
    for j in range(np.uintp(begin), np.uintp(end)):
        u = up[j] * scale
        inverse = 1.0 / (1.0 + u)
        difference = label - labels[j]
        below = weights[j] * inverse
        above = below * u
        signed = above if difference > 0 else (-below if difference < 0 else 0.0)
        added = above * inverse if difference != 0 else 0.0
        own_force -= signed
        own_curvature += added
        total += abs(signed)
        out.gradient[j] += signed
        out.curvature[j] += added
    out.gradient[i] += own_force
    out.curvature[i] += own_curvature
    return total


@inline
def row_loss(
    i: int, begin: int, end: int, s: Vector, labels: Vector, weights: Vector, up: Vector,
    scale: float, sigma: float,
) -> float:  # fmt: skip
    """Return the loss of the pairs of document i with begin, ..., end − 1."""
    total = 0.0
    for j in range(begin, end):
        if labels[i] != labels[j]:
            total += weights[j] * np.log1p(up[j] * scale)
        if labels[i] < labels[j]:
            total += weights[j] * ((s[i] - s[j]) / sigma)
    return total


@inline
def pair_force(weight: float, u: float) -> tuple[float, float]:
    """Return weight p (1 − p), p = 1/(1 + u), and the curvature of its logistic majoriser.

    A negative weight pulls the upper document, above with probability p, further up.
    """
    above = 1.0 / (1.0 + u)
    force = weight * u * above * above
    right = above if weight < 0 else u * above
    return force, abs(force) * right


@inline
def add_rank_forces(
    weight: Function, own: Any, s: Vector, sigma: float, up: Vector, down: Vector, out: Derivatives
) -> None:
    """Add all pairs of weights weight(i, j, own), in units of σ, given what `exponentials` fill."""
    wide = is_wide(s, sigma)
    for i in range(s.size - 1):
        scale = row_exponentials(i, wide, s, sigma, up, down)
        own_force = 0.0
        own_curvature = 0.0
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            force, added = pair_force(weight(i, j, own), up[j] * scale)
            own_force += force
            out.gradient[j] -= force
            own_curvature += added
            out.curvature[j] += added
        out.gradient[i] += own_force
        out.curvature[i] += own_curvature
