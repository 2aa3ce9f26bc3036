"""Which rows bins are made of, in which order: by what they hold, not by where they stand."""

import math

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gbrank.data.sampling import row_keys
from gbrank.data.schema import Features
from gbrank.parallel.collective import total

__all__ = ["BINNED_ROWS", "binned_rows"]

# LightGBM's own default.
BINNED_ROWS = 200_000
# How many numbers are read at once.
BLOCK = 2**16


def binned_rows(X: Features, most: int = BINNED_ROWS) -> NDArray[np.int64]:
    """Return the rows that bins are made of: all of them, or a random sample.

    Which rows these are, and their order, depend on the numbers in them and not on their order.

    Parameters
    ----------
    X : ndarray or csr_matrix, shape (n_documents, n_features)
    most : int
        How many rows, of those of all workers.

    Returns
    -------
    ndarray of int64

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> X[binned_rows(X, 2)].tolist() == X[::-1][binned_rows(X[::-1], 2)].tolist()
    True
    """
    n_rows, n_columns = X.shape
    step = 1 + BLOCK // n_columns
    keys = np.empty(n_rows, dtype=np.uint64)
    for start in range(0, n_rows, step):
        block = X[start : start + step]
        keys[start : start + step] = row_keys(block.toarray() if sp.issparse(block) else block)
    return np.argsort(keys)[: math.ceil(n_rows * min(1, most / total(n_rows)))]
