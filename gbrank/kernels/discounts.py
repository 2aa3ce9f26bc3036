"""Discounts at any real rank, with their derivative: the one place where their formulas stand."""

import numpy as np

from gbrank.kernels.compiled import Vector, inline

__all__ = ["FLAT", "GEOMETRIC", "LETOR", "LOG2", "RECIPROCAL", "UNKNOWN", "discount_at", "fill"]

UNKNOWN, LOG2, LETOR, RECIPROCAL, FLAT, GEOMETRIC = -1.0, 0.0, 1.0, 2.0, 3.0, 4.0


@inline
def discount_at(kind: float, parameter: float, rank: float) -> tuple[float, float]:
    """Return D(r) and D′(r) for a rank r ≥ 1."""
    value = 1.0
    slope = 0.0
    if kind == LOG2:
        value = 1 / np.log2(1 + rank)
        slope = -value * value / (np.log(2.0) * (1 + rank))
    elif kind == LETOR:
        if rank > 2:
            value = 1 / np.log2(rank)
            slope = -value * value / (np.log(2.0) * rank)
    elif kind == RECIPROCAL:
        value = 1 / rank
        slope = -value * value
    elif kind == GEOMETRIC:
        value = (1 - parameter) * parameter ** (rank - 1)
        slope = value * np.log(parameter)
    return value, slope


@inline
def fill(kind: float, parameter: float, out: Vector) -> None:
    """Write the discounts of ranks 1, 2, ..."""
    for p in range(out.size):
        out[p] = discount_at(kind, parameter, p + 1.0)[0]
