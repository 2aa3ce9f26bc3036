"""The order of a query's documents by score, stable: equal scores keep their order."""

import numpy as np

from gbrank.common.checks import Positions, Vector

from .compiling import inline, standalone
from .numba_internals import bits_of, stack_matrix

# From this many documents on, a radix sort is faster than to count what is before: measured.
LONG = 120
# How many moves by insertion, per document, cost as much as sorting anew.
MOVES = 6
DIGITS = 8
BITS = 8
VALUES = 1 << BITS  # of a digit
SIGN = np.uint64(1 << 63)


@standalone
def rank(s: Vector, ranking: Positions, spare: Vector, spare_ranking: Positions) -> None:
    """Sort scores in place, best first, and write to `ranking` where each of them was.

    The leading digits order nearly all documents, and insertion the others; if it takes too many
    moves, all digits do.
    """
    for i in range(s.size):
        ranking[i] = i
    # In any order, a document moves past a quarter of the others.
    if s.size < 4 * MOVES and rank_again(s, ranking):
        return
    first = DIGITS // 2
    while True:
        _sort_by_digits(s, ranking, spare, spare_ranking, first)
        if first > 0 and rank_again(s, ranking):
            return
        first = DIGITS // 2 - first


@standalone
def rank_again(s: Vector, ranking: Positions) -> bool:
    """Sort scores by insertion, best first, in place, as `rank` does.

    They come in the order of an earlier ranking, which is in `ranking`: from one round of boosting
    to the next, a short list changes little. Return False if it took too many moves.
    """
    left = MOVES * s.size
    for i in range(1, s.size):
        score = s[i]
        document = ranking[i]
        j = i
        while j > 0 and (s[j - 1] < score or (s[j - 1] == score and ranking[j - 1] > document)):
            s[j] = s[j - 1]
            ranking[j] = ranking[j - 1]
            j -= 1
        s[j] = score
        ranking[j] = document
        left -= i - j
        if left < 0:
            return False
    return True


@inline
def rank_by_counting(s: Vector, ranking: Positions) -> None:
    """Write the place of the score of each rank, best first; for short lists in any order.

    A document's rank is the number of scores before it. To compare them as vectors costs less than
    to sort, up to `LONG` of them.
    """
    for i in range(s.size):
        score = s[i]
        before = 0
        # Unsigned indices need no wrap-around check, so that the loops vectorise.
        for j in range(np.uintp(0), np.uintp(i)):
            before += 1 if s[j] >= score else 0
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            before += 1 if s[j] > score else 0
        ranking[before] = i


@inline
def _turned(bits: np.uint64) -> np.uint64:
    """Turn the bits of a float into an integer that is smaller where floats are larger; or back.

    As integers, the bits of positive floats rise with the float, those of negative ones fall.
    """
    return ~bits ^ SIGN if bits < SIGN else bits


@inline
def _sort_by_digits(
    s: Vector, ranking: Positions, spare: Vector, spare_ranking: Positions, first: int
) -> None:
    """Sort scores by half of their digits, from `first` on, the least significant first."""
    keys = bits_of(s, np.uint64)
    spare_keys = bits_of(spare, np.uint64)
    for i in range(keys.size):
        keys[i] = _turned(np.uint64(0) if keys[i] == SIGN else keys[i])  # −0 is 0
    mask = np.uint64(VALUES - 1)
    starts = bits_of(stack_matrix(1, VALUES)[0], np.int64)
    for d in range(DIGITS // 2):
        for value in range(VALUES):
            starts[value] = 0
        for i in range(keys.size):
            starts[np.int64((keys[i] >> np.uint64(BITS * (first + d))) & mask)] += 1
        total = 0
        for value in range(VALUES):
            count = starts[value]
            starts[value] = total
            total += count
        for i in range(keys.size):
            digit = np.int64((keys[i] >> np.uint64(BITS * (first + d))) & mask)
            target = starts[digit]
            starts[digit] += 1
            spare_keys[target] = keys[i]
            spare_ranking[target] = ranking[i]
        # Half of the digits is an even number: the sorted keys end in the array they came in.
        keys, spare_keys = spare_keys, keys
        ranking, spare_ranking = spare_ranking, ranking
    bits = bits_of(s, np.uint64)
    for i in range(bits.size):
        bits[i] = _turned(bits[i])
