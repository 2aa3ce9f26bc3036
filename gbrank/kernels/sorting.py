"""The order of a query's documents by score, stable: equal scores keep their order."""

import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.kernels.compiled import inline, plain

# From this many documents on, a radix sort is faster than one by comparison: measured.
LONG = 300
# How many moves by insertion, per document, cost as much as sorting anew.
MOVES = 6
DIGITS, BITS = 6, 11
SIGN = np.uint64(1 << 63)


@plain
def rank(s: Vector, ranking: Positions, spare: Vector, spare_ranking: Positions) -> None:
    """Sort scores in place, best first, and write to `ranking` where each of them was."""
    if s.size < LONG:
        for i in range(s.size):
            spare[i] = -s[i]
        ranking[:] = np.argsort(spare, kind="mergesort")
        for i in range(s.size):
            s[i] = -spare[ranking[i]]
        return
    for i in range(s.size):
        ranking[i] = i
    keys = s.view(np.uint64)
    _to_keys(keys)
    _sort_by_digits(keys, ranking, spare.view(np.uint64), spare_ranking)
    _from_keys(keys)


@plain
def rank_again(s: Vector, ranking: Positions) -> bool:
    """Sort scores by insertion, best first, in place, as `rank` does.

    They come in the order of an earlier ranking, which is in `ranking`: from one round of boosting
    to the next, a short list changes little. Return False if it took too many moves.
    """
    left = MOVES * s.size
    for i in range(1, s.size):
        score = s[i]
        place = ranking[i]
        j = i
        while j > 0 and (s[j - 1] < score or (s[j - 1] == score and ranking[j - 1] > place)):
            s[j] = s[j - 1]
            ranking[j] = ranking[j - 1]
            j -= 1
        s[j] = score
        ranking[j] = place
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
        own = s[i]
        before = 0
        # Unsigned indices need no wrap-around check, so that the loops vectorise.
        for j in range(np.uintp(0), np.uintp(i)):
            before += 1 if s[j] >= own else 0
        for j in range(np.uintp(i + 1), np.uintp(s.size)):
            before += 1 if s[j] > own else 0
        ranking[before] = i


@inline
def _to_keys(bits: Vector) -> None:
    """Turn the bits of floats into integers that are smaller where floats are larger."""
    for i in range(bits.size):
        if bits[i] == SIGN:  # −0 is 0
            bits[i] = np.uint64(0)
        # As integers, the bits of positive floats rise with the float, those of negative ones fall.
        if bits[i] < SIGN:
            bits[i] = ~bits[i] ^ SIGN


@inline
def _from_keys(bits: Vector) -> None:
    """Turn integers back into the bits of floats."""
    for i in range(bits.size):
        if bits[i] < SIGN:
            bits[i] = ~bits[i] ^ SIGN


@inline
def _sort_by_digits(
    keys: Vector, ranking: Positions, spare: Vector, spare_ranking: Positions
) -> None:
    """Sort integers by radix sort: one digit after another, the least significant first."""
    mask = np.uint64((1 << BITS) - 1)
    starts = np.zeros((DIGITS, 1 << BITS), np.int64)
    for i in range(keys.size):
        for d in range(DIGITS):
            starts[d, np.int64((keys[i] >> np.uint64(BITS * d)) & mask)] += 1
    for d in range(DIGITS):
        total = 0
        for b in range(starts.shape[1]):
            count = starts[d, b]
            starts[d, b] = total
            total += count
    for d in range(DIGITS):
        for i in range(keys.size):
            digit = np.int64((keys[i] >> np.uint64(BITS * d)) & mask)
            place = starts[d, digit]
            starts[d, digit] += 1
            spare[place] = keys[i]
            spare_ranking[place] = ranking[i]
        # The number of digits is even, so that the sorted keys end in the array they came in.
        keys, spare = spare, keys
        ranking, spare_ranking = spare_ranking, ranking
