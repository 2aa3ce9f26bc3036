"""Which rows bins are made of, in which order: by what they hold, not by where they stand."""

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gbrank.data.sampling import row_keys
from gbrank.data.schema import Features
from gbrank.parallel.collective import all_sum

__all__ = ["BINNED_ROWS", "binned_rows"]

# LightGBM's own default.
BINNED_ROWS = 200_000
# How many numbers are read at once.
BLOCK = 2**16


def binned_rows(X: Features, most: int = BINNED_ROWS) -> NDArray[np.int64]:
    """Return the rows of bins, of all workers' together so many, in the order of their hashes."""
    n_rows, n_columns = X.shape
    step = 1 + BLOCK // n_columns
    keys = np.empty(n_rows, dtype=np.uint64)
    for start in range(0, n_rows, step):
        block = X[start : start + step]
        keys[start : start + step] = row_keys(block.toarray() if sp.issparse(block) else block)
    return np.argsort(keys)[: math.ceil(n_rows * min(1, most / all_sum(n_rows)))]
