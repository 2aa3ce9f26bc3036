"""Features scaled within each query, as LETOR's are."""

import numpy as np
from numpy.typing import NDArray

from gbrank import Queries
from gbrank.evaluation import Dataset

__all__ = ["scale_by_query", "scaled_by_query"]


def scale_by_query(X: NDArray[np.float64], queries: Queries) -> NDArray[np.float64]:
    """Return features mapped to [0, 1] in each query: (x − min) / (max − min), constants to 0."""
    rows, starts = X[queries.order], queries.offsets[:-1]
    low, high = (ends.reduceat(rows, starts)[queries.index] for ends in (np.minimum, np.maximum))
    return np.divide(X - low, high - low, out=np.zeros_like(X), where=high > low)


def scaled_by_query(data: Dataset) -> Dataset:
    """Return data with such features, which LETOR 2.0 has unscaled."""
    X = scale_by_query(data.X, data.queries)
    return Dataset(data.name, X, data.y, data.qid, data.splits)
