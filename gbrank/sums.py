"""Sums that do not depend on the order of what is summed, nor on how workers share it."""

import numpy as np
from numpy.typing import NDArray

from gbrank.collective import largest, total

__all__ = ["mean_of_any_order", "sums_of_any_order"]


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
    whole, bits, top = _in_integers(values)
    summed, count = map(int, total(np.array([whole.sum(), count])))
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
    whole, bits, top = _in_integers(values)
    np.add.at(sums, groups, whole)
    return np.ldexp(total(sums), -bits) * top


def _in_integers(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], int, float]:
    """Return integers whose sum does not overflow, and the bits and the factor of their unit."""
    top = largest(float(np.abs(values).max(initial=0)))
    bits = 62 - int(total(len(values))).bit_length()
    scaled = values / top if top > 0 else values
    return np.ldexp(scaled, bits).astype(np.int64), bits, top
