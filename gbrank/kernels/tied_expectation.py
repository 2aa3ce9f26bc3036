"""The expected tied measure when scores are rounded at random to integers, exactly.

The measure is Σ_i g_i D(r_i) (1 + c Σ g_j over j above i), with gains g and discounts D: c is 0 for
NDCG and its like; 1, with g the relevance and D(r) = 1/r, for average precision.

A document whose score lies between the integers v and v + 1 belongs to segment v; independently
of the others it rounds down to v or up to v + 1. Those that round up stand above those that round
down, so one random *boundary* per segment, its first position plus the number of its documents
that round up, splits it. Two successive boundaries enclose a tied block: the documents of the upper
segment that round down and those of the lower one that round up. (Where integers between two
segments are skipped, an empty segment, with a certain boundary, is put between them.)

Boundaries are independent and Poisson-binomial. With P(t) the probability of boundary t,
W(t) = E[gain that rounds up; t], G the segment's gain, and A(a, b) the mean discount of positions
a + 1, ..., b, the value at c = 0 is the sum over blocks of

    Σ_{a, b} A(a, b) [(G P(a) − W(a)) P(b) + P(a) W(b)].

At c = 1 products of two gains come in, and with them Q(t) = E[Σ g_i g_j over pairs i ≠ j that
round up; t] and B(a, b), the mean of D(r) over pairs of positions of a block, r the lower one.

The derivative by a document's probability q of rounding up needs P, W and Q without the document,
which are found by dividing the polynomial p + q z out of theirs, from the end that is stable.
"""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.newton_steps import multiply, size_as_curvature
from gbrank.kernels.noise import uniform
from gbrank.kernels.reductions import all_alike

# Boundaries less likely than this (some 9 standard deviations off) are left out.
NEGLIGIBLE = 1e-20

# Rows, each as wide as two lists: what is known of each document, ...
LEVEL, UP, SLOPE, GAIN, PLACE, INVERSE, TOTAL, REST, REST_GAIN, REST_PAIRS = range(10)
# ... of each boundary: P, W and Q, and the derivatives of the value by them, ...
CHANCE, RISEN, PAIRS, BY_CHANCE, BY_RISEN, BY_PAIRS = range(6)
BOUNDARIES = (10, 16)
# ... and of the first t positions: Σ D(r) and Σ (r − 1) D(r).
SUMS = 22
DISCOUNTS, MOMENTS = range(2)
SCRATCH = 2 * 24


class TieParameters(NamedTuple):
    """The parameters of TieRank's kernels.

    Parameters
    ----------
    paired : bool
        Whether c is 1.
    linear : bool
        Whether φ is linear.
    per_label : float
        How many documents of each label to draw; infinity for all.
    """

    paired: bool
    linear: bool
    per_label: float = np.inf


def tied_expectation(
    query: Query,
    measure: MeasureFunctions,
    parameters: TieParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return minus the expected tied measure, and write its derivatives.

    x is the gain, `table` holds the discounts.
    """
    s, ranking = query.scores, query.ranking
    rows = in_pairs(query.scratch)
    paired = parameters.paired
    n = set_up(query, parameters, rows)
    scale = ranking.scale
    sums = rows[SUMS:]
    sum_up(ranking.table, sums)
    if n < s.size:
        best = best_value(ranking.x, paired, sums)
        drawn = best_value(rows[GAIN, :n], paired, sums)
        scale *= best / drawn if drawn > 0 else 0.0

    value = 0.0
    upper, lower = BOUNDARIES
    begin = end = 0
    passed = 0.0
    low, high, gain = count_up(0, 0, paired, rows, rows[upper:])
    while True:
        stop = next_segment(begin, end, n, s, rows)
        next_low, next_high, next_gain = count_up(end, stop, paired, rows, rows[lower:])
        value += tie(
            low, high, gain, passed, next_low, next_high, paired, sums, rows[upper:], rows[lower:]
        )
        if gradient.size > 0:
            leave_out(begin, end, low, high, paired, rows, rows[upper:])
        if end == n:
            break
        passed += gain
        begin, end = end, stop
        low, high, gain = next_low, next_high, next_gain
        upper, lower = lower, upper

    if gradient.size > 0:
        write_derivatives(n, scale, query.sigma, rows, gradient, curvature)
    return -scale * value


@inline
def in_pairs(scratch: Matrix) -> Matrix:
    """Return rows of scratch that are as wide as two lists."""
    return scratch.reshape((scratch.shape[0] // 2, 2 * scratch.shape[1]))


@inline
def set_up(query: Query, parameters: TieParameters, rows: Matrix) -> int:
    """Choose documents and write what is known of each of them; return how many they are."""
    s = query.scores
    n = choose(query.labels, parameters.per_label, query.noise, rows)
    for i in range(n):
        place = np.int64(rows[PLACE, i])
        rows[GAIN, i] = query.ranking.x[place]
        rows[TOTAL, i] = 0.0
        round_score(s[place] / query.sigma, i, parameters.linear, rows)
    return n


@inline
def choose(labels: Vector, per_label: float, noise: int, rows: Matrix) -> int:
    """Draw up to `per_label` documents of each label; return how many, their places in PLACE."""
    keys = rows[REST]
    for i in range(labels.size):
        keys[i] = uniform(noise, i)
    n = 0
    for i in range(labels.size):
        before = 0
        if per_label < labels.size:
            for j in range(labels.size):
                before += labels[j] == labels[i] and keys[j] < keys[i]
        if before < per_label:
            rows[PLACE, n] = i
            n += 1
    return n


@inline
def sum_up(table: Vector, sums: Matrix) -> None:
    """Write the sums of the discounts, and their first moments, up to each position."""
    total = 0.0
    moment = 0.0
    sums[DISCOUNTS, 0] = 0.0
    sums[MOMENTS, 0] = 0.0
    for p in range(table.size):
        total += table[p]
        moment += table[p] * p
        sums[DISCOUNTS, p + 1] = total
        sums[MOMENTS, p + 1] = moment


@inline
def best_value(gains: Vector, paired: bool, sums: Matrix) -> float:
    """Return the measure of the best order, before normalisation."""
    discounts = sums[DISCOUNTS]
    rising = np.sort(gains)
    total = 0.0
    above = 0.0
    for i in range(rising.size):
        gain = rising[rising.size - 1 - i]
        total += gain * (discounts[i + 1] - discounts[i]) * (1.0 + (above if paired else 0.0))
        above += gain
    return total


@inline
def round_score(x: float, i: int, linear: bool, rows: Matrix) -> None:
    """Write to which integer x + 1/2 rounds down, the probability of up, and its slope."""
    level = np.floor(x)
    t = 0.5 + (x - level) if np.isfinite(x) else 0.5
    if t >= 1.0:
        level += 1.0
        t -= 1.0
    rows[LEVEL, i] = level
    rows[UP, i] = t if linear else t * t * (3.0 - 2.0 * t)
    rows[SLOPE, i] = 1.0 if linear else 6.0 * t * (1.0 - t)


@inline
def next_segment(begin: int, end: int, n: int, s: Vector, rows: Matrix) -> int:
    """Return where the segment ends that begins at `end` and follows begin, ..., end − 1.

    It is empty if `end` is, or if the first document there is not on the next integer below.
    """
    if end == n or (begin < end and rows[LEVEL, begin] - rows[LEVEL, end] != 1):
        return end
    level = rows[LEVEL, end]
    score = s[np.int64(rows[PLACE, end])]
    stop = end + 1
    while stop < n and rows[LEVEL, stop] == level:
        if not np.isfinite(level) and s[np.int64(rows[PLACE, stop])] != score:
            break
        stop += 1
    return stop


@inline
def write_derivatives(
    n: int, scale: float, sigma: float, rows: Matrix,
    gradient: Vector, curvature: Vector,
) -> None:  # fmt: skip
    """Write derivatives by scores, negated, from those in TOTAL; none if all gains are equal."""
    if all_alike(rows[GAIN, :n]):
        return
    for i in range(n):
        rows[TOTAL, i] *= rows[SLOPE, i]
    size_as_curvature(rows[TOTAL, :n], rows[REST, :n])
    for i in range(n):  # documents that are not drawn have no curvature either
        place = np.int64(rows[PLACE, i])
        gradient[place] = -rows[TOTAL, i]
        curvature[place] = rows[REST, i]
    multiply(scale / sigma, scale / sigma / sigma, gradient, curvature)


@inline
def count_up(
    begin: int, end: int, paired: bool, rows: Matrix, boundary: Matrix
) -> tuple[int, int, float]:
    """Find P, W and Q of a segment's boundary; return its first and last value, and G."""
    chance = boundary[CHANCE]
    risen = boundary[RISEN]
    pairs = boundary[PAIRS]
    low = high = begin
    total = 0.0
    chance[begin] = 1.0
    risen[begin] = 0.0
    pairs[begin] = 0.0
    for i in range(begin, end):
        up = rows[UP, i]
        gain = rows[GAIN, i]
        down = 1.0 - up
        total += gain
        high += 1
        clear(high, boundary)
        if paired:
            for t in range(np.uintp(high), np.uintp(low), -1):
                pairs[t] = down * pairs[t] + up * (pairs[t - 1] + 2.0 * gain * risen[t - 1])
            pairs[low] *= down
        for t in range(np.uintp(high), np.uintp(low), -1):
            risen[t] = down * risen[t] + up * (risen[t - 1] + gain * chance[t - 1])
            chance[t] = down * chance[t] + up * chance[t - 1]
        chance[low] *= down
        risen[low] *= down
        while chance[high] < NEGLIGIBLE:
            high -= 1
        while chance[low] < NEGLIGIBLE:
            low += 1
    # One more at either end, which a document that rounds with certainty would reach.
    if low > begin:
        low -= 1
        clear(low, boundary)
    if high < end:
        high += 1
        clear(high, boundary)
    boundary[BY_CHANCE : BY_PAIRS + 1, low : high + 1] = 0.0
    return low, high, total


@inline
def clear(t: int, boundary: Matrix) -> None:
    """Make boundary t impossible."""
    boundary[CHANCE, t] = 0.0
    boundary[RISEN, t] = 0.0
    boundary[PAIRS, t] = 0.0


@inline
def tie(
    low: int, high: int, total: float, passed: float, next_low: int, next_high: int, paired: bool,
    sums: Matrix, upper: Matrix, lower: Matrix,
) -> float:  # fmt: skip
    """Return the expected value of the block between two boundaries, and add its derivatives.

    `total` is the gain of the upper segment, `passed` that of the segments above it.
    """
    discounts = sums[DISCOUNTS]
    moments = sums[MOMENTS]
    chance = lower[CHANCE]
    risen = lower[RISEN]
    pairs = lower[PAIRS]
    by_chance = lower[BY_CHANCE]
    by_risen = lower[BY_RISEN]
    by_pairs = lower[BY_PAIRS]
    value = 0.0
    for a in range(low, high + 1):
        # Of the upper segment: the gain that falls, and the factors on the sums of P(b) and W(b).
        here = upper[CHANCE, a]
        fallen = total * here - upper[RISEN, a]
        factor = fallen
        share = here
        if paired:
            factor += passed * fallen + (total - 1.0) * upper[RISEN, a] - upper[PAIRS, a]
            share += passed * here + upper[RISEN, a]
        start = np.uintp(max(next_low, a + 1))
        stop = np.uintp(next_high + 1)
        per_chance = 0.0
        per_gain = 0.0
        for b in range(start, stop):
            mean = (discounts[b] - discounts[a]) / (np.float64(b) - np.float64(a))
            per_chance += mean * chance[b]
            per_gain += mean * risen[b]
            by_chance[b] += mean * factor
            by_risen[b] += mean * share
        value += factor * per_chance + share * per_gain
        if not paired:
            upper[BY_CHANCE, a] += total * per_chance + per_gain
            upper[BY_RISEN, a] -= per_chance
            continue
        both = (total - 1.0) * (fallen - upper[RISEN, a]) + upper[PAIRS, a]
        from_chance = 0.0
        from_gain = 0.0
        from_pairs = 0.0
        for b in range(max(start, np.uintp(a + 2)), stop):
            n = np.float64(b) - np.float64(a)
            mean = moments[b] - moments[a] - np.float64(a) * (discounts[b] - discounts[a])
            mean /= n * (n - 1.0)
            from_chance += mean * chance[b]
            from_gain += mean * risen[b]
            from_pairs += mean * pairs[b]
            by_chance[b] += mean * both
            by_risen[b] += mean * 2.0 * fallen
            by_pairs[b] += mean * here
        value += both * from_chance + 2.0 * fallen * from_gain + here * from_pairs
        upper[BY_CHANCE, a] += (1.0 + passed) * (total * per_chance + per_gain)
        upper[BY_CHANCE, a] += total * ((total - 1.0) * from_chance + 2.0 * from_gain) + from_pairs
        upper[BY_RISEN, a] += (total - 2.0 - passed) * per_chance + per_gain
        upper[BY_RISEN, a] -= 2.0 * ((total - 1.0) * from_chance + from_gain)
        upper[BY_PAIRS, a] += from_chance - per_chance
    return value


@inline
def leave_out(
    begin: int, end: int, low: int, high: int, paired: bool, rows: Matrix, boundary: Matrix
) -> None:
    """Write to TOTAL the derivatives of the value by each document's probability of rounding up."""
    chance = boundary[CHANCE]
    risen = boundary[RISEN]
    pairs = boundary[PAIRS]
    by_chance = boundary[BY_CHANCE]
    by_risen = boundary[BY_RISEN]
    by_pairs = boundary[BY_PAIRS]
    up = rows[UP]
    gain = rows[GAIN]
    inverse = rows[INVERSE]
    total = rows[TOTAL]
    rest = rows[REST]
    rest_gain = rows[REST_GAIN]
    rest_pairs = rows[REST_PAIRS]
    middle = begin  # up falls from begin to end
    while middle < end and up[middle] > 0.5:
        middle += 1
    for i in range(begin, end):
        inverse[i] = 1.0 / max(up[i], 1.0 - up[i])
        rest[i] = 0.0
        rest_gain[i] = 0.0
        rest_pairs[i] = 0.0
    for t in range(low, high):
        step = by_chance[t + 1] - by_chance[t]
        gain_step = by_risen[t + 1] - by_risen[t]
        pair_step = by_pairs[t + 1] - by_pairs[t]
        if paired:
            for i in range(np.uintp(middle), np.uintp(end)):
                odds = up[i] * inverse[i]
                z = pairs[t] * inverse[i] - odds * (rest_pairs[i] + 2.0 * gain[i] * rest_gain[i])
                rest_pairs[i] = z
                total[i] += z * pair_step
        for i in range(np.uintp(middle), np.uintp(end)):
            odds = up[i] * inverse[i]
            w = risen[t] * inverse[i] - odds * (rest_gain[i] + gain[i] * rest[i])
            r = chance[t] * inverse[i] - odds * rest[i]
            rest_gain[i] = w
            rest[i] = r
            total[i] += r * (step + gain[i] * by_risen[t + 1])
            total[i] += w * (gain_step + 2.0 * gain[i] * by_pairs[t + 1])
    for t in range(high - 1, low - 1, -1):
        step = by_chance[t + 1] - by_chance[t]
        gain_step = by_risen[t + 1] - by_risen[t]
        pair_step = by_pairs[t + 1] - by_pairs[t]
        for i in range(np.uintp(begin), np.uintp(middle)):
            odds = inverse[i] - 1.0
            r = chance[t + 1] * inverse[i] - odds * rest[i]
            w = risen[t + 1] * inverse[i] - odds * rest_gain[i] - gain[i] * r
            rest_gain[i] = w
            rest[i] = r
            total[i] += r * (step + gain[i] * by_risen[t + 1])
            total[i] += w * (gain_step + 2.0 * gain[i] * by_pairs[t + 1])
        if paired:
            for i in range(np.uintp(begin), np.uintp(middle)):
                odds = inverse[i] - 1.0
                z = pairs[t + 1] * inverse[i] - odds * rest_pairs[i] - 2.0 * gain[i] * rest_gain[i]
                rest_pairs[i] = z
                total[i] += z * pair_step
