"""Sums and checks of a vector, for loops; NumPy's own sum would add in another order in each."""

from gbrank.common.arrays import Vector
from gbrank.kernels.compiled import inline


@inline
def sum_of(values: Vector) -> float:
    """Return the sum."""
    total = 0.0
    for value in values:
        total += value
    return total


@inline
def all_alike(x: Vector) -> bool:
    """Say whether all documents are worth the same, so that there is nothing to rank."""
    for p in range(1, x.size):
        if x[p] != x[0]:
            return False
    return True
