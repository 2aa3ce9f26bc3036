"""Sums inside of loops. NumPy's own would be a copy in each loop, each with an order of its own."""

from gbrank.kernels.compiled import Vector, inline


@inline
def sum_of(values: Vector) -> float:
    """Return the sum."""
    total = 0.0
    for value in values:
        total += value
    return total
