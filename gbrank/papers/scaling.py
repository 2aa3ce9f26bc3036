"""Features scaled within each query, as LETOR's are."""

import numpy as np
from numpy.typing import NDArray

from gbrank.data.queries import Queries

__all__ = ["scale_by_query"]


def scale_by_query(X: NDArray[np.float64], queries: Queries) -> NDArray[np.float64]:
    """Return features mapped to [0, 1] in each query: (x − min) / (max − min).

    Parameters
    ----------
    X : ndarray, shape (n_documents, n_features)
    queries : Queries

    Returns
    -------
    ndarray, shape (n_documents, n_features)
        0 where a feature is the same in all documents of a query.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]])
    >>> scale_by_query(X, Queries.from_sizes([3])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]
    """
    rows, starts = X[queries.order], queries.offsets[:-1]
    low, high = (ends.reduceat(rows, starts)[queries.index] for ends in (np.minimum, np.maximum))
    return np.divide(X - low, high - low, out=np.zeros_like(X), where=high > low)
