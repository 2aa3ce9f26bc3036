"""Sums over all workers in fixed point: the same bits for any order of values and workers."""

import numpy as np
from numpy.typing import NDArray

from gbrank.parallel.collective import all_max, all_sum

# How many values are converted at a time.
CHUNK = 1 << 16


def order_free_mean(values: NDArray[np.float64], count: int) -> float:
    """Return Σ values / count over all workers; values must be finite and not negative."""
    bits, largest = _fixed_point_format(values)
    total = sum(
        int(_to_fixed_point(values[start : start + CHUNK], bits, largest).sum())
        for start in range(0, len(values), CHUNK)
    )
    summed, count = map(int, all_sum(np.array([total, count])))
    return float(summed) / count * 2.0**-bits * largest


def order_free_sums(
    values: NDArray[np.float64], groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the sum of each group of finite values, over all workers."""
    sums = np.zeros(n_groups, dtype=np.int64)
    bits, largest = _fixed_point_format(values)
    np.add.at(sums, groups, _to_fixed_point(values, bits, largest))
    return np.ldexp(all_sum(sums), -bits) * largest


def _fixed_point_format(values: NDArray[np.float64]) -> tuple[int, float]:
    """Return bits and factor of the fixed-point format in which no sum over workers overflows."""
    largest = all_max(float(max(values.max(initial=0.0), -values.min(initial=0.0))))
    return 62 - int(all_sum(len(values))).bit_length(), largest


def _to_fixed_point(values: NDArray[np.float64], bits: int, largest: float) -> NDArray[np.int64]:
    return np.ldexp(values / largest if largest > 0 else values, bits).astype(np.int64)
