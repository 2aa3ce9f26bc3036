"""Lists divided at values of x, until all x of a part are equal.

A pair of different x is in different halves of just one part. What sums such pairs visits the
parts, sums the pairs of one document from either half, and divides: at most log2(m) levels, fewer
if x takes few values, of m documents each. `members` holds the positions of a part's documents,
best score first, and `ordered` the x of all documents, ascending, so that parts are ranges of both.
"""

import numpy as np

from gbrank.kernels.compiled import Positions, Vector, inline
from gbrank.kernels.sorting import rank

# More than a stack of parts can hold, if the larger one waits.
WAITING = 128


@inline
def order_by(
    x: Vector, ordered: Vector, members: Positions, spare: Vector, spare_members: Positions
) -> None:
    """Make one part of all documents."""
    for p in range(x.size):
        ordered[p] = -x[p]
    rank(ordered, members, spare, spare_members)
    for p in range(x.size):
        ordered[p] = -ordered[p]
        members[p] = p


@inline
def middle_split(ordered: Vector) -> int:
    """Return where a new value begins, as near to the middle as possible."""
    half = ordered.size // 2
    before = np.searchsorted(ordered, ordered[half])
    after = np.searchsorted(ordered, ordered[half], side="right")
    nearer = half - before <= after - half or after == ordered.size
    return before if nearer and before > 0 else after


@inline
def partition(members: Positions, x: Vector, cut: float, spare: Positions) -> int:
    """Move documents of x ≥ cut behind the others, else keeping the order; return where to."""
    kept = 0
    moved = 0
    for t in range(members.size):
        p = members[t]
        spare[moved] = p
        members[kept] = p
        if x[p] >= cut:
            moved += 1
        else:
            kept += 1
    members[kept:] = spare[:moved]
    return kept


@inline
def wait(parts: Positions, waiting: int, begin: int, middle: int, end: int) -> int:
    """Put both halves of a part on the stack, the larger one first; return its height."""
    smaller = middle - begin < end - middle
    for half in range(2):
        low = half == smaller
        parts[waiting + half, 0] = begin if low else middle
        parts[waiting + half, 1] = middle if low else end
    return waiting + 2
