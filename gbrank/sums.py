"""Sums that do not depend on the order of what is summed."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["mean_of_any_order"]


def mean_of_any_order(values: NDArray[np.float64], count: int) -> float:
    """Return Σ values / count, the sum being taken in integers, so that order plays no part.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Finite, not negative, not all zero.
    count : int

    Returns
    -------
    float

    Examples
    --------
    >>> mean_of_any_order(np.array([0.25, 0.75]), 2)
    0.5
    """
    largest = float(values.max())
    bits = 62 - len(values).bit_length()
    whole = np.sum(np.ldexp(values / largest, bits).astype(np.int64))
    return float(whole) / count * 2.0**-bits * largest
