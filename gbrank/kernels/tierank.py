"""The expected tied measure Σ G D when scores are rounded at random to integers, exactly.

A document whose score lies between the integers v and v + 1 belongs to segment v; independently
of the others it rounds down to v or up to v + 1. Those that round up stand above those that round
down, so one random *boundary* per segment, its first position plus the number of its documents
that round up, splits it. Two boundaries in succession enclose a tied block: what the upper segment
rounds down and, if it is the next integer below, the lower one rounds up. (Where integers between
two segments are skipped, an empty segment, with a certain boundary, stands between them.)

Boundaries are independent and Poisson-binomial. With P(t) the probability of boundary t,
W(t) = E[gain that rounds up; t], G the segment's gain, and A(a, b) the mean discount of positions
a + 1, ..., b, the value is the sum over blocks of

    Σ_{a, b} A(a, b) [(G P(a) − W(a)) P(b) + P(a) W(b)].

Its derivative by a document's probability q of rounding up needs P and W without the document,
which are had by dividing the polynomial p + q z out of theirs, from the end where that is stable.
"""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline

__all__ = ["SCRATCH", "tied_expectation"]

# Boundaries less likely than this (some 9 standard deviations off) are left out.
NEGLIGIBLE = 1e-20

# Rows, each as wide as two lists: what is known of each document, ...
LEVEL, UP, SLOPE, GAIN, PLACE, INVERSE, REST, REST_GAIN, TOTAL, OWN = range(10)
# ... and of each boundary: probability, gain above it, and the derivative of the value by the
# first, and by the second as the mean discount in the block above and in the one below.
CHANCE, RISEN, BY_CHANCE, ABOVE, BELOW = range(5)
BOUNDARIES = (10, 15)
SCRATCH = 2 * 20


def tied_expectation(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Write the derivatives of minus the expected tied measure, and return it.

    `documents` are label and gain, `table` the cumulative discounts from 0.
    """
    rows = work.reshape((work.shape[0] // 2, 2 * work.shape[1]))
    n = s.size
    least = documents[1, 0]
    for i in range(n):
        least = min(least, documents[1, i])
    for i in range(n):
        rows[PLACE, i] = i
        rows[GAIN, i] = query[0] * (documents[1, i] - least)
        round_score(s[i] / sigma, i, params[0] > 0, rows)
    # A gain that all documents share is worth the same in every order.
    value = query[0] * least * table[n]

    upper, lower = BOUNDARIES
    begin = end = 0
    low, high, gain = count_up(0, 0, rows, rows[upper:])
    while True:
        stop = end
        if end < n and (begin == end or rows[LEVEL, begin] - rows[LEVEL, end] == 1):
            stop = end_of_segment(end, n, s, rows)
        next_low, next_high, next_gain = count_up(end, stop, rows, rows[lower:])
        value += tie(low, high, gain, next_low, next_high, table, rows[upper:], rows[lower:])
        if gradient.size > 0:
            leave_out(begin, end, low, high, rows, rows[upper:])
        if end == n:
            break
        begin, end = end, stop
        low, high, gain = next_low, next_high, next_gain
        upper, lower = lower, upper

    if gradient.size > 0:
        first_order = 1.0 / sigma
        second_order = min(max(first_order * first_order, 1e-290), 1e290)
        mean = 0.0
        for i in range(n):
            own = rows[GAIN, i] * rows[OWN, i]
            rows[OWN, i] = rows[SLOPE, i] * (own + abs(rows[TOTAL, i] - own))
            mean += rows[OWN, i] / n
        for i in range(n):
            place = np.int64(rows[PLACE, i])
            gradient[place] = -rows[SLOPE, i] * rows[TOTAL, i] * first_order
            curvature[place] = (rows[OWN, i] + params[1] * mean) * second_order
    return -value


@inline
def round_score(x: float, i: int, linear: bool, rows: Matrix) -> None:
    """Write which integer x + 1/2 is rounded down to, the probability of up, and its slope."""
    level = np.floor(x)
    t = 0.5 + (x - level) if np.isfinite(x) else 0.5
    if t >= 1.0:
        level += 1.0
        t -= 1.0
    rows[LEVEL, i] = level
    rows[UP, i] = t if linear else t * t * (3.0 - 2.0 * t)
    rows[SLOPE, i] = 1.0 if linear else 6.0 * t * (1.0 - t)


@inline
def end_of_segment(begin: int, n: int, s: Vector, rows: Matrix) -> int:
    """Return the position after the last document that is rounded down to the same integer."""
    level = rows[LEVEL, begin]
    score = s[np.int64(rows[PLACE, begin])]
    end = begin + 1
    while end < n and rows[LEVEL, end] == level:
        if not np.isfinite(level) and s[np.int64(rows[PLACE, end])] != score:
            break
        end += 1
    return end


@inline
def count_up(begin: int, end: int, rows: Matrix, boundary: Matrix) -> tuple[int, int, float]:
    """Find the distribution of a segment's boundary; return its first and last value, and G."""
    chance = boundary[CHANCE]
    risen = boundary[RISEN]
    low = high = begin
    total = 0.0
    chance[begin] = 1.0
    risen[begin] = 0.0
    for i in range(begin, end):
        up = rows[UP, i]
        gain = rows[GAIN, i]
        down = 1.0 - up
        total += gain
        high += 1
        chance[high] = 0.0
        risen[high] = 0.0
        for t in range(np.uintp(high), np.uintp(low), -1):
            risen[t] = down * risen[t] + up * (risen[t - 1] + gain * chance[t - 1])
            chance[t] = down * chance[t] + up * chance[t - 1]
        chance[low] *= down
        risen[low] *= down
        while chance[high] < NEGLIGIBLE:
            high -= 1
        while chance[low] < NEGLIGIBLE:
            low += 1
    # One more at either end: what a document without a choice would do.
    if low > begin:
        low -= 1
        chance[low] = 0.0
        risen[low] = 0.0
    if high < end:
        high += 1
        chance[high] = 0.0
        risen[high] = 0.0
    boundary[BY_CHANCE, low : high + 1] = 0.0
    boundary[ABOVE, low : high + 1] = 0.0
    boundary[BELOW, low : high + 1] = 0.0
    return low, high, total


@inline
def tie(
    low: int, high: int, gain: float, next_low: int, next_high: int, cumulated: Vector,
    upper: Matrix, lower: Matrix,
) -> float:  # fmt: skip
    """Return the expected worth of the block between two boundaries, and add its derivatives."""
    value = 0.0
    chance = lower[CHANCE]
    risen = lower[RISEN]
    by_chance = lower[BY_CHANCE]
    above = lower[ABOVE]
    for a in range(low, high + 1):
        here = upper[CHANCE, a]
        fallen = gain * here - upper[RISEN, a]
        start = cumulated[a]
        per_chance = 0.0
        per_gain = 0.0
        for b in range(np.uintp(max(next_low, a + 1)), np.uintp(next_high + 1)):
            mean = (cumulated[b] - start) / (np.float64(b) - np.float64(a))
            per_chance += mean * chance[b]
            per_gain += mean * risen[b]
            by_chance[b] += mean * fallen
            above[b] += mean * here
        value += fallen * per_chance + here * per_gain
        upper[BY_CHANCE, a] += gain * per_chance + per_gain
        upper[BELOW, a] += per_chance
    return value


@inline
def leave_out(begin: int, end: int, low: int, high: int, rows: Matrix, boundary: Matrix) -> None:
    """Write the derivatives of the value by each document's probability of rounding up.

    OWN is the part, per gain, that the document itself wins by it.
    """
    chance = boundary[CHANCE]
    risen = boundary[RISEN]
    above = boundary[ABOVE]
    below = boundary[BELOW]
    by_chance = boundary[BY_CHANCE]
    up = rows[UP]
    gain = rows[GAIN]
    inverse = rows[INVERSE]
    rest = rows[REST]
    rest_gain = rows[REST_GAIN]
    total = rows[TOTAL]
    own = rows[OWN]
    middle = begin  # up falls from begin to end
    while middle < end and up[middle] > 0.5:
        middle += 1
    for i in range(begin, end):
        inverse[i] = 1.0 / max(up[i], 1.0 - up[i])
        rest[i] = 0.0
        rest_gain[i] = 0.0
        total[i] = 0.0
        own[i] = 0.0
    for t in range(low, high):
        slope = by_chance[t + 1] - by_chance[t]
        now = above[t + 1] - below[t + 1]
        bend = now - (above[t] - below[t])
        won = above[t + 1] - below[t]
        for i in range(np.uintp(middle), np.uintp(end)):
            odds = up[i] * inverse[i]
            w = risen[t] * inverse[i] - odds * (rest_gain[i] + gain[i] * rest[i])
            r = chance[t] * inverse[i] - odds * rest[i]
            rest_gain[i] = w
            rest[i] = r
            total[i] += r * (slope + gain[i] * now) + w * bend
            own[i] += r * won
    for t in range(high - 1, low - 1, -1):
        slope = by_chance[t + 1] - by_chance[t]
        now = above[t + 1] - below[t + 1]
        bend = now - (above[t] - below[t])
        won = above[t + 1] - below[t]
        for i in range(np.uintp(begin), np.uintp(middle)):
            odds = inverse[i] - 1.0
            r = chance[t + 1] * inverse[i] - odds * rest[i]
            w = risen[t + 1] * inverse[i] - odds * rest_gain[i] - gain[i] * r
            rest_gain[i] = w
            rest[i] = r
            total[i] += r * (slope + gain[i] * now) + w * bend
            own[i] += r * won
