"""Sums that do not depend on the order of what is summed, nor on how workers share it."""

import numpy as np
from numpy.typing import NDArray

from gbrank.parallel.collective import largest, total

__all__ = ["mean_of_any_order", "sums_of_any_order"]

# So many values are copied at a time.
CHUNK = 1 << 16


def mean_of_any_order(values: NDArray[np.float64], count: int) -> float:
    """Return Σ values / count, the sum being taken in integers, so that order plays no part.

    In a distributed fit, both are of all workers.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Finite, not negative.
    count : int

    Returns
    -------
    float

    Examples
    --------
    >>> mean_of_any_order(np.array([0.25, 0.75]), 2)
    0.5
    """
    bits, top = _unit(values)
    whole = sum(
        int(_in_units(values[start : start + CHUNK], bits, top).sum())
        for start in range(0, len(values), CHUNK)
    )
    summed, count = map(int, total(np.array([whole, count])))
    return float(summed) / count * 2.0**-bits * top


def sums_of_any_order(
    values: NDArray[np.float64], groups: NDArray[np.int64], n_groups: int
) -> NDArray[np.float64]:
    """Return the sum of each group, taken in integers, so that order plays no part.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Finite.
    groups : ndarray of int64, shape (n,)
        The group of each value, from 0.
    n_groups : int

    Returns
    -------
    ndarray, shape (n_groups,)

    Examples
    --------
    >>> sums_of_any_order(np.array([0.25, -1.0, 0.5]), np.array([0, 1, 0]), 3).tolist()
    [0.75, -1.0, 0.0]
    """
    sums = np.zeros(n_groups, dtype=np.int64)
    bits, top = _unit(values)
    np.add.at(sums, groups, _in_units(values, bits, top))
    return np.ldexp(total(sums), -bits) * top


def _unit(values: NDArray[np.float64]) -> tuple[int, float]:
    """Return the bits and the factor of a unit in which no sum overflows."""
    top = largest(float(max(values.max(initial=0.0), -values.min(initial=0.0))))
    return 62 - int(total(len(values))).bit_length(), top


def _in_units(values: NDArray[np.float64], bits: int, top: float) -> NDArray[np.int64]:
    return np.ldexp(values / top if top > 0 else values, bits).astype(np.int64)
