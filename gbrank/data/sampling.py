"""Random numbers that depend on (seed, round, query) or content, not on the order of rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gbrank.common.checks import Keys, Mask, canonical
from gbrank.common.collective import all_sum

from .feature_matrix import Features, as_dense
from .queries import Queries

# How many numbers are hashed at once.
BLOCK = 2**16


def split_mix(noise: Any, i: Any) -> Any:
    """Compute the i-th 64-bit output, i from 0, of SplitMix64 started at `noise`."""
    # Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators". `noise` is an
    # array here; kernels compile the same lines for numbers.
    state = np.uint64(noise) + (np.uint64(i) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def document_keys(queries: Queries) -> Keys:
    """Hash each document's query and its position there."""
    position = np.empty(queries.n_documents, dtype=np.uint64)
    position[queries.order] = queries.places
    return split_mix(queries.id_keys[queries.index], position)


def row_keys(X: Features, dtype: type[np.floating[Any]] = np.float32) -> Keys:
    """Hash the numbers of each row, as numbers of this type."""
    n_rows, n_columns = X.shape
    step = 1 + BLOCK // n_columns
    columns = split_mix(np.arange(n_columns, dtype=np.uint64), 0)
    keys = np.empty(n_rows, dtype=np.uint64)
    for start in range(0, n_rows, step):
        with np.errstate(over="ignore"):
            numbers = canonical(as_dense(X[start : start + step]).astype(dtype))
        mixed = split_mix(numbers.view(f"u{numbers.itemsize}") + columns, 0)
        keys[start : start + step] = split_mix(mixed.sum(axis=1), 0)
    return keys


def query_noise(keys: Keys, seed: int | Sequence[int], round: int = 0) -> Keys:
    """Hash (seed, round, key) for each key; one seed, or one for each key."""
    seeds = [seed] if isinstance(seed, int | np.integer) else seed
    start = np.array([int(item) & (2**64 - 1) for item in seeds], dtype=np.uint64)
    return split_mix(split_mix(split_mix(start, 0) + np.uint64(round), 0) + keys, 0)


def sampled(keys: Keys, fraction: float, seed: int, round: int = 0) -> Mask:
    """Draw the `fraction` of the keys that a round samples, as a mask."""
    draws = query_noise(keys, seed, round)
    count = max(1, int(fraction * all_sum(len(keys)) + 0.5))  # halves go up
    return draws <= nth_smallest(draws, count)


def nth_smallest(draws: Keys, n: int) -> np.uint64:
    """Find the n-th smallest draw over all workers, n from 1."""
    result = 0
    for shift in range(56, -1, -8):  # byte by byte, so that workers tell each other counts only
        byte = (draws >> np.uint64(shift)).astype(np.uint8)
        below = np.cumsum(all_sum(np.bincount(byte, minlength=256)))
        value = int(np.searchsorted(below, n))
        n -= int(below[value - 1]) if value else 0
        draws = draws[byte == value]
        result = result << 8 | value
    return np.uint64(result)
