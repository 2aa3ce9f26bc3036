"""Random numbers that depend on (seed, round, query) or content, not on the order of rows."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.parallel.collective import total

__all__ = ["document_noise", "query_keys", "query_noise", "row_keys", "sampled_queries"]

Keys = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def query_keys(ids: NDArray[Any]) -> Keys:
    """Return one number per query that depends on its id only.

    Parameters
    ----------
    ids : ndarray, shape (n_queries,)
        Query ids.

    Returns
    -------
    ndarray of uint64, shape (n_queries,)

    Examples
    --------
    >>> query_keys(np.array([3, 4])).tolist() == query_keys(np.array([4, 3])).tolist()[::-1]
    True
    """
    if ids.dtype.kind in "iub":
        return ids.astype(np.int64).view(np.uint64)
    digests = (
        hashlib.blake2b(repr(item).encode(), digest_size=8).digest() for item in ids.tolist()
    )
    return np.fromiter((int.from_bytes(d, "little") for d in digests), np.uint64, len(ids))


def row_keys(X: NDArray[Any]) -> Keys:
    """Return one number per row that depends on the row's numbers only, in single precision.

    Parameters
    ----------
    X : ndarray, shape (n_rows, n_columns)

    Returns
    -------
    ndarray of uint64, shape (n_rows,)

    Examples
    --------
    >>> len(set(row_keys(np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]])).tolist()))
    2
    """
    with np.errstate(over="ignore"):
        numbers = X.astype(np.float32)
    numbers += 0.0  # −0 becomes 0
    columns = _mix(np.arange(X.shape[1], dtype=np.uint64))
    return _mix(_mix(numbers.view(np.uint32) + columns).sum(axis=1))


def query_noise(keys: Keys, seed: int, round: int) -> Keys:
    """Return a hash of (seed, round, key) for each key.

    Parameters
    ----------
    keys : ndarray of uint64
    seed, round : int

    Returns
    -------
    ndarray of uint64

    Examples
    --------
    >>> int(query_noise(np.array([1], dtype=np.uint64), seed=0, round=0)[0])
    4764156602392020899
    """
    start = np.array([seed & (2**64 - 1)], dtype=np.uint64)
    return _mix(_mix(_mix(start) + np.uint64(round)) + keys)


def document_noise(noise: Keys, positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return one uniform number in ]0, 1[ per document: `gbrank.kernels.noise.uniform`.

    Parameters
    ----------
    noise : ndarray of uint64, shape (n,)
        The noise of each document's query.
    positions : ndarray of int64, shape (n,)
        The document's position in its query.

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> noise = query_noise(np.array([1, 1], dtype=np.uint64), seed=0, round=0)
    >>> document_noise(noise, np.array([0, 1])).round(4)
    array([0.3853, 0.9614])
    """
    bits = _mix(noise + positions.astype(np.uint64) * GOLDEN) >> np.uint64(12)
    return (bits.astype(np.float64) + 0.5) * 2.0**-52


def _mix(state: Keys) -> Keys:
    """Scramble 64 bits (the finaliser of SplitMix64, Steele, Lea & Flood 2014)."""
    state = state + GOLDEN
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def sampled_queries(keys: Keys, fraction: float, seed: int, round: int) -> NDArray[np.bool_]:
    """Return which queries take part in a round: the `fraction` of smallest random number.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n_queries,)
    fraction : float in ]0, 1]
    seed, round : int

    Returns
    -------
    ndarray of bool, shape (n_queries,)

    Examples
    --------
    >>> int(sampled_queries(np.arange(10, dtype=np.uint64), 0.5, seed=1, round=0).sum())
    5
    """
    draws = query_noise(keys, seed, round)
    count = max(1, round_half_up(fraction * total(len(keys))))
    return draws <= nth_smallest(draws, count)


def nth_smallest(draws: Keys, n: int) -> np.uint64:
    """Return the n-th smallest number, of those of all workers in a distributed fit.

    Parameters
    ----------
    draws : ndarray of uint64
    n : int
        From 1.

    Returns
    -------
    uint64

    Examples
    --------
    >>> int(nth_smallest(np.array([7, 1000, 3], dtype=np.uint64), 2))
    7
    """
    found = 0
    for shift in range(56, -1, -8):  # byte by byte, so that workers tell each other counts only
        byte = (draws >> np.uint64(shift)).astype(np.uint8)
        below = np.cumsum(total(np.bincount(byte, minlength=256)))
        value = int(np.searchsorted(below, n))
        n -= int(below[value - 1]) if value else 0
        draws = draws[byte == value]
        found = found << 8 | value
    return np.uint64(found)


def round_half_up(value: float) -> int:
    """Return the nearest integer, halves going up.

    Parameters
    ----------
    value : float

    Returns
    -------
    int

    Examples
    --------
    >>> round_half_up(2.5)
    3
    """
    return int(np.floor(value + 0.5))
