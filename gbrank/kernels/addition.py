"""Sums inside loops. Each loop would compile NumPy's anew, with its own order of terms."""

from gbrank.common.arrays import Vector
from gbrank.kernels.compiled import inline


@inline
def sum_of(values: Vector) -> float:
    """Return the sum."""
    total = 0.0
    for value in values:
        total += value
    return total
