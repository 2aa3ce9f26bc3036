"""Recursive division of a list by x, until all x of a part are equal.

The documents of a pair of different x are in different halves of exactly one part. A sum over such
pairs goes through the parts, adds the pairs between the halves of each, and divides it: at most
log2(m) levels of m documents each, fewer if x takes few values. `members` holds the positions of a
part's documents, best score first, and `ordered` all x, ascending; parts are ranges of both.
"""

from gbrank.common.checks import Positions, Vector
from gbrank.engine.compiling import inline
from gbrank.engine.sorting import rank

# More parts never contain one another: a first half's first half has at most half of the documents.
DEEPEST = 128


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
def middle_split(ordered: Vector) -> int:
    """Return where a new value begins, as near to the middle as possible."""
    half = ordered.size // 2
    before = half
    while before > 0 and ordered[before - 1] == ordered[half]:
        before -= 1
    after = half + 1
    while after < ordered.size and ordered[after] == ordered[half]:
        after += 1
    nearer = half - before <= after - half or after == ordered.size
    return before if nearer and before > 0 else after
