"""The sample of rows from which bins are made: chosen by content, not by position."""

import math

import numpy as np
from numpy.typing import NDArray

from gbrank.common.collective import all_sum
from gbrank.data.feature_matrix import Features, as_dense
from gbrank.data.sampling import row_keys

# LightGBM's own default.
BINNED_ROWS = 200_000
# How many numbers are hashed at once.
BLOCK = 2**16


def bin_sample(X: Features, most: int = BINNED_ROWS) -> Features:
    """Return this worker's share of a sample of `most` rows, in the order of their hashes."""
    count = math.ceil(X.shape[0] * min(1, most / all_sum(X.shape[0])))
    return X[np.argsort(block_keys(X))[:count]]


def block_keys(X: Features) -> NDArray[np.uint64]:
    """Return one number per row that depends on its numbers only, block by block."""
    n_rows, n_columns = X.shape
    step = 1 + BLOCK // n_columns
    keys = np.empty(n_rows, dtype=np.uint64)
    for start in range(0, n_rows, step):
        block = X[start : start + step]
        keys[start : start + step] = row_keys(as_dense(block))
    return keys
