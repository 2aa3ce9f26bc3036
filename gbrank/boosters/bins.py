"""The sample of rows from which bins are made: chosen by content, not by position."""

import math

import numpy as np
from numpy.typing import NDArray

from gbrank.data.batches import FeatureBatches, block_rows, blocks
from gbrank.data.sampling import row_keys
from gbrank.data.schema import Features, as_dense
from gbrank.parallel.collective import all_sum

# LightGBM's own default.
BINNED_ROWS = 200_000
# How many numbers are hashed at once.
BLOCK = 2**16


def bin_sample(X: Features, most: int = BINNED_ROWS) -> Features:
    """Return this worker's share of a sample of `most` rows, in the order of their hashes."""
    count = math.ceil(X.shape[0] * min(1, most / all_sum(X.shape[0])))
    if not isinstance(X, FeatureBatches):
        return X[np.argsort(_keys(X))[:count]]
    keys, parts = np.empty(0, dtype=np.uint64), []
    for block in blocks(X, block_rows(X)):
        keys = np.concatenate([keys, _keys(block)])
        parts.append(block)
        if len(keys) > 2 * count:
            keys, parts = _smallest(keys, parts, count)
    return _smallest(keys, parts, count)[1][0]


def _smallest(
    keys: NDArray[np.uint64], parts: list[Features], count: int
) -> tuple[NDArray[np.uint64], list[Features]]:
    """Return the `count` smallest keys, in ascending order, and their rows."""
    chosen = np.argsort(keys, kind="stable")[:count]
    return keys[chosen], [np.concatenate(parts)[chosen]]


def _keys(X: Features) -> NDArray[np.uint64]:
    n_rows, n_columns = X.shape
    step = 1 + BLOCK // n_columns
    keys = np.empty(n_rows, dtype=np.uint64)
    for start in range(0, n_rows, step):
        block = X[start : start + step]
        keys[start : start + step] = row_keys(as_dense(block))
    return keys
