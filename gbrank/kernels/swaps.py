"""Expected swap deltas that separate into a part of the upper and a part of the lower document.

For a pair of documents in different tied blocks, the expected change of many measures when the
two swap ranks is |x_a − x_b| (U_a + P_a V_b), with a above b; inside a block it is
|x_a − x_b| C_a. Such a measure declares ``swaps = (prepare, SEPARABLE)``, and its `prepare` fills
the rows UPPER, SHARE, LOWER and INSIDE of `state` with U, P, V and C. Kernels then need no call
per row, and can sum such weights faster than pair by pair.

A measure of which this holds between blocks only has a row function, and declares
``separable_between = True``; long lists then take from its rows the pairs inside blocks. One whose
delta is the first constant of the query times the number of pairs of documents that the swap flips
declares ``counts_flips = True``. Its x are 0, 1, ..., without gaps, and for the documents of any
two of these the delta is separable, with parts that depend on both: `prepare`, called with the
higher one for `i` and the lower one for `top`, fills the rows of their documents.
"""

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline

__all__ = ["INSIDE", "LOWER", "SEPARABLE", "SHARE", "UPPER", "separable_weights"]

UPPER, SHARE, LOWER, INSIDE = 0, 1, 2, 3

# Stands for the row function of a measure whose state says all.
SEPARABLE = None


@inline
def separable_weights(i: int, last: Positions, x: Vector, state: Matrix, out: Vector) -> None:
    """Write the expected delta of the pairs (i, j) for every j below i."""
    # Unsigned indices need no wrap-around check, so that the loops vectorise.
    xi = x[i]
    inside = state[INSIDE, i]
    upper = state[UPPER, i]
    share = state[SHARE, i]
    for j in range(np.uintp(i + 1), np.uintp(last[i])):
        out[j] = abs(xi - x[j]) * inside
    for j in range(np.uintp(last[i]), np.uintp(x.size)):
        out[j] = abs(xi - x[j]) * (upper + share * state[LOWER, j])
