"""Hinge and squared hinge on pairs, by direct summation."""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector
from gbrank.kernels.units import to_score_units

__all__ = ["HINGE", "SQUARED", "hinge_pairs"]

HINGE, SQUARED = 1.0, 2.0

# A gap in units of σ beyond which it only matters that nothing overflows.
WIDEST = 1e100


def hinge_pairs(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Sum max(0, margin − (s_i − s_j)/σ), or half its square, over all pairs y_i > y_j.

    The curvature is the number of active pairs. At the kink a pair counts half: the mean of the
    slopes on both sides.
    """
    m = s.size
    labels = documents[0, :m]
    power = params[0]
    margin = params[1]
    loss = 0.0
    for i in range(m - 1):
        push = 0.0
        bend = 0.0
        label = labels[i]
        # Unsigned indices need no wrap-around check, so that the loop vectorises.
        for j in range(np.uintp(i + 1), np.uintp(m)):
            gap = min((s[i] - s[j]) / sigma, WIDEST)
            difference = label - labels[j]
            sign = 1.0 if difference > 0 else (-1.0 if difference < 0 else 0.0)
            short = margin - sign * gap
            active = abs(sign) * (1.0 if short > 0 else (0.5 if short == 0 else 0.0))
            slope = active * short if power == SQUARED else active
            loss += active * short * (0.5 * short if power == SQUARED else 1.0)
            if gradient.size > 0:
                gradient[j] += sign * slope
                curvature[j] += active
                push -= sign * slope
                bend += active
        if gradient.size > 0:
            gradient[i] += push
            curvature[i] += bend
    to_score_units(sigma, gradient, curvature)
    return loss
