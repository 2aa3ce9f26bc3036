"""Recursive division of a list by x, until all x of a part are equal.

The documents of a pair of different x are in different halves of exactly one part. A sum over such
pairs goes through the parts, adds the pairs between the halves of each, and divides it: at most
log2(m) levels of m documents each, fewer if x takes few values. `members` holds the positions of a
part's documents, best score first, and `ordered` all x, ascending; parts are ranges of both.
"""

import numpy as np

from gbrank.common.values import Positions, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.numba_internals import slice_of
from gbrank.engine.sorting import rank


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
def partition(members: Positions, x: Vector, cut: float, spare: Positions) -> int:
    """Move documents of x ≥ cut behind the others, in stable order; return where they begin."""
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
    for t in range(moved):
        members[kept + t] = spare[t]
    return kept


@inline
def parts_of(ordered: Vector, small: int) -> list[tuple[int, int, int]]:
    """Return begin, middle and end of all parts, in an order in which they can be divided.

    Parts of up to `small` documents are not divided again.
    """
    parts = []
    waiting = [(0, ordered.size)]
    while len(waiting) > 0:
        begin, end = waiting.pop()
        if ordered[begin] == ordered[end - 1]:
            continue
        middle = begin + middle_split(slice_of(ordered, begin, end))
        parts.append((begin, middle, end))
        if end - begin > small:
            smaller_first = middle - begin < end - middle  # popped first, so that few wait
            waiting.append((middle, end) if smaller_first else (begin, middle))
            waiting.append((begin, middle) if smaller_first else (middle, end))
    return parts


@inline
def middle_split(ordered: Vector) -> int:
    """Return where a new value begins, as near to the middle as possible."""
    half = ordered.size // 2
    before = np.searchsorted(ordered, ordered[half])
    after = np.searchsorted(ordered, ordered[half], side="right")
    nearer = half - before <= after - half or after == ordered.size
    return before if nearer and before > 0 else after
