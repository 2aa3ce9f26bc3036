"""Sums over all workers, taken in integers: no order of values, nor of workers, changes a bit."""

import numpy as np
from numpy.typing import NDArray

from gbrank.parallel.collective import all_max, all_sum

# So many values are copied at a time.
CHUNK = 1 << 16


def order_free_mean(values: NDArray[np.float64], count: int) -> float:
    """Return Σ values / count over all workers; values must be finite and not negative."""
    bits, top = _unit(values)
    whole = sum(
        int(_in_units(values[start : start + CHUNK], bits, top).sum())
        for start in range(0, len(values), CHUNK)
    )
    summed, count = map(int, all_sum(np.array([whole, count])))
    return float(summed) / count * 2.0**-bits * top


def order_free_sums(
    values: NDArray[np.float64], groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the sum of each group of finite values, over all workers."""
    sums = np.zeros(n_groups, dtype=np.int64)
    bits, top = _unit(values)
    np.add.at(sums, groups, _in_units(values, bits, top))
    return np.ldexp(all_sum(sums), -bits) * top


def _unit(values: NDArray[np.float64]) -> tuple[int, float]:
    """Return the bits and the factor of a unit in which no sum over all workers overflows."""
    top = all_max(float(max(values.max(initial=0.0), -values.min(initial=0.0))))
    return 62 - int(all_sum(len(values))).bit_length(), top


def _in_units(values: NDArray[np.float64], bits: int, top: float) -> NDArray[np.int64]:
    return np.ldexp(values / top if top > 0 else values, bits).astype(np.int64)
