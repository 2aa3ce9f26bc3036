"""Rows of separable swap deltas."""

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.contract import SeparableDelta


@inline
def delta_in(scratch: Matrix) -> SeparableDelta:
    """Return the first four rows of a scratch as the parts of a delta."""
    return SeparableDelta(scratch[0], scratch[1], scratch[2], scratch[3])


@inline
def separable_row(i: int, last: Positions, x: Vector, delta: SeparableDelta, out: Vector) -> None:
    """Write the expected delta of the pairs (i, j) for every j below i."""
    # Unsigned indices need no wrap-around check, so that the loops vectorise.
    xi = x[i]
    inside = delta.inside[i]
    upper = delta.upper[i]
    share = delta.share[i]
    lower = delta.lower
    for j in range(np.uintp(i + 1), np.uintp(last[i])):
        out[j] = abs(xi - x[j]) * inside
    for j in range(np.uintp(last[i]), np.uintp(x.size)):
        out[j] = abs(xi - x[j]) * (upper + share * lower[j])
