"""The compiled function that computes features relative to the other documents of the query.

Sums are of integers, so that the order of rows changes no bit.
"""

import math

import numpy as np

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.engine.compiling import standalone
from gbrank.engine.sorting import LONG, rank

# What is computed of a column; the place of each is its column in `targets` below.
COLUMN_KINDS = ("difference", "rank", "zscore", "mean", "gap")
DIFFERENCE, RANK, ZSCORE, MEAN, GAP = range(len(COLUMN_KINDS))

SAFE_EXPONENT, SHIFT = 450, 600  # values beyond 2 to the power of the first are scaled
LARGEST = float(np.finfo(np.float32).max)


@standalone
def add_context(X: Matrix, offsets: Positions, targets: Positions, out: Matrix) -> None:
    """Write what is computed of each column, where it is not missing, into columns of `out`.

    Rows of X are grouped by query. `targets` says where each kind of a column goes; −1 is nowhere.
    """
    longest = 0
    for query in range(offsets.size - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    values, work, spare = np.empty(longest), np.empty(longest), np.empty(longest)
    rows = np.empty(longest, np.int64)
    order, spare_order = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for query in range(offsets.size - 1):
        for column in range(X.shape[1]):
            n = 0
            for row in range(offsets[query], offsets[query + 1]):
                if not math.isnan(X[row, column]):
                    values[n] = X[row, column] + 0.0  # −0 is 0
                    rows[n] = row
                    n += 1
            if n == 0:
                continue
            own, to = values[:n], targets[column]
            low, high = own[0], own[0]
            for value in own:
                low, high = min(low, value), max(high, value)
            if low == high:
                _write_constant(low, rows[:n], to, out)
                continue
            _write_sums(own, low, high, work[:n], rows[:n], to, out)
            if to[RANK] >= 0:
                _mid_ranks(own, work[:n], spare[:n], order[:n], spare_order[:n])
                for i in range(n):
                    out[rows[i], to[RANK]] = work[i] / n


@standalone
def _write_constant(value: float, rows: Positions, to: Positions, out: Matrix) -> None:
    """Write what is computed of equal values."""
    shared = (rows.size + 1) / (2 * rows.size)
    for row in rows:
        for kind in (DIFFERENCE, ZSCORE, GAP):
            if to[kind] >= 0:
                out[row, to[kind]] = 0.0
        if to[MEAN] >= 0:
            out[row, to[MEAN]] = _single(value)
        if to[RANK] >= 0:
            out[row, to[RANK]] = shared


@standalone
def _write_sums(
    own: Vector, low: float, high: float, work: Vector, rows: Positions, to: Positions, out: Matrix
) -> None:
    """Write what needs the mean or the largest value; extreme values are scaled, in place."""
    exponent = math.frexp(max(-low, high))[1]
    shift = 0
    if abs(exponent) > SAFE_EXPONENT:
        shift = SHIFT if exponent > 0 else -SHIFT
        for i in range(own.size):
            own[i] = math.ldexp(own[i], -shift)
        high = math.ldexp(high, -shift)
    mean = _mean(own, exponent - shift)
    if to[ZSCORE] >= 0:
        _z_scores(own, mean, work)
        for i in range(own.size):
            out[rows[i], to[ZSCORE]] = work[i]
    back = math.ldexp(1.0, shift)
    for i in range(own.size):
        if to[DIFFERENCE] >= 0:
            out[rows[i], to[DIFFERENCE]] = _single((own[i] - mean) * back)
        if to[GAP] >= 0:
            out[rows[i], to[GAP]] = _single((own[i] - high) * back)
        if to[MEAN] >= 0:
            out[rows[i], to[MEAN]] = _single(mean * back)


@standalone
def _mean(values: Vector, exponent: int) -> float:
    """Return the mean of values below 2 to the power of `exponent`, by a sum of integers."""
    bits = 62 - math.frexp(float(values.size))[1]
    scale = math.ldexp(1.0, bits - exponent)
    total = np.int64(0)
    for value in values:
        total += np.int64(np.rint(value * scale))
    return math.ldexp(float(total) / values.size, exponent - bits)


@standalone
def _z_scores(values: Vector, mean: float, out: Vector) -> None:
    """Write the differences from the mean in standard deviations; values are not all equal."""
    widest = 0.0
    for i in range(values.size):
        out[i] = values[i] - mean
        widest = max(widest, abs(out[i]))
    bits = 62 - math.frexp(float(values.size))[1]
    scale = math.ldexp(1.0, bits)
    total = np.int64(0)
    for i in range(values.size):
        out[i] /= widest
        total += np.int64(np.rint(out[i] * out[i] * scale))
    deviation = math.sqrt(float(total) / values.size / scale)
    for i in range(values.size):
        out[i] /= deviation


@standalone
def _mid_ranks(
    values: Vector, ranks: Vector, spare: Vector, order: Positions, spare_order: Positions
) -> None:
    """Write the rank of each value from the smallest, 1; equal values share their mean rank."""
    n = values.size
    if n <= LONG:  # comparisons of vectors cost less than a sort
        for i in range(n):
            own, below, equal = values[i], 0, 0
            for j in range(np.uintp(0), np.uintp(n)):
                below += 1 if values[j] < own else 0
                equal += 1 if values[j] == own else 0
            ranks[i] = below + (equal + 1) / 2
        return
    rank(values, order, spare, spare_order)  # the largest first
    first = 0
    while first < n:
        last = first + 1
        while last < n and values[last] == values[first]:
            last += 1
        for i in range(first, last):
            ranks[order[i]] = n - (first + last - 1) / 2
        first = last


@standalone
def _single(value: float) -> float:
    """Return a number that single precision can hold."""
    return min(max(value, -LARGEST), LARGEST)
