"""Discounts at any real rank, with their derivative: the one place where their formulas stand."""

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.kernels.compiled import inline

UNKNOWN, LOG2, LETOR, RECIPROCAL, FLAT, GEOMETRIC, LINEAR = -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0


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
    elif kind == LINEAR:
        value = 1 - rank / parameter
        slope = -1 / parameter
    return value, slope


@inline
def fill(kind: float, parameters: Vector, ranks: Vector, out: Vector) -> None:
    """Write the discounts of ranks, each with a parameter of its own."""
    for p in range(out.size):
        out[p] = discount_at(kind, parameters[p], ranks[p])[0]
