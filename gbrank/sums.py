"""Sums that do not depend on the order of what is summed, nor on how workers share it."""

import numpy as np
from numpy.typing import NDArray

from gbrank.collective import largest, total

__all__ = ["mean_of_any_order"]


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
    top = largest(float(values.max()))
    if top == 0:
        return 0.0
    n, count = map(int, total(np.array([len(values), count])))
    bits = 62 - n.bit_length()
    whole = total(np.sum(np.ldexp(values / top, bits).astype(np.int64)))
    return float(whole) / count * 2.0**-bits * top
