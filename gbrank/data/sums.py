"""Sums over all workers: the same bits for any order of values and workers."""

import math

import numpy as np

from gbrank.common.checks import Positions, Vector
from gbrank.common.collective import all_max, all_sum

# How many values are converted at a time.
CHUNK = 1 << 16


def order_free_mean(values: Vector, count: int) -> float:
    """Compute Σ values / count over all workers; values must be finite and not negative."""
    bits, largest = _fixed_point_format(values)
    total = sum(
        int(_to_fixed_point(values[start : start + CHUNK], bits, largest).sum())
        for start in range(0, len(values), CHUNK)
    )
    summed, count = map(int, all_sum(np.array([total, count])))
    return float(summed) / count * 2.0**-bits * largest


def order_free_sums(values: Vector, groups: Positions, n_groups: int) -> Vector:
    """Sum each group of finite values over all workers."""
    sums = np.zeros(n_groups, dtype=np.int64)
    bits, largest = _fixed_point_format(values)
    np.add.at(sums, groups, _to_fixed_point(values, bits, largest))
    return np.ldexp(all_sum(sums), -bits) * largest


def round_to_exact_sums(*arrays: Vector) -> list[float]:
    """Round finite values, in place, so that no sum of some of an array's loses a bit.

    Of N values of at most M in size, over all workers, what remains are multiples of M N / 2⁵¹ (N
    and M rounded up to powers of 2): such sums need 52 bits. Return this unit for each array; 0
    where all values are 0.
    """
    largest = all_max(np.array([max_abs(values) for values in arrays]))
    counts = all_sum(np.array([len(values) for values in arrays]))
    units = []
    for values, size, count in zip(arrays, largest, counts, strict=True):
        exponent = math.frexp(size)[1] + int(count).bit_length()
        # Doubles near 3 N M are so far apart.
        offset = math.ldexp(1.5, exponent + 1)
        values += offset
        values -= offset
        units.append(math.ldexp(1.0, exponent - 51) if size > 0 else 0.0)
    return units


def max_abs(values: Vector) -> float:
    """Find the largest |value| here; 0 if there is none."""
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def _fixed_point_format(values: Vector) -> tuple[int, float]:
    """Find bits and factor of the fixed-point format in which no sum over workers overflows."""
    largest = all_max(max_abs(values))
    return 62 - int(all_sum(len(values))).bit_length(), largest


def _to_fixed_point(values: Vector, bits: int, largest: float) -> Positions:
    scaled = values / largest if largest > 0 else values
    return (scaled * 2.0**bits).astype(np.int64)
