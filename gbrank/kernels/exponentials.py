"""Exponentials: one per document instead of one per pair, or a polynomial in loops over pairs."""

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.kernels.compiled import inline

# exp(±700) is finite, so scores within 1400 σ of each other share one exponential per document.
WIDEST = 1400.0
# Coefficients of exp(t − 1/8), the highest power first.
TAYLOR = np.exp(-0.125) / np.array([362880.0, 40320, 5040, 720, 120, 24, 6, 2, 1, 1])


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
