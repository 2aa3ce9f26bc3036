"""The grades of a query: its distinct labels, counted from the lowest."""

import numpy as np

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Matrix, Vector

__all__ = ["grades", "has_grades"]


def grades(labels: Vector, queries: Queries) -> Vector:
    """Return how many distinct smaller labels each document's query has.

    Parameters
    ----------
    labels : ndarray, shape (n_documents,)
    queries : Queries

    Returns
    -------
    ndarray, shape (n_documents,)

    Examples
    --------
    >>> grades(np.array([4.0, 0.0, 1.0, 4.0, 2.0]), Queries.from_sizes([4, 1])).tolist()
    [2.0, 0.0, 1.0, 2.0, 0.0]
    """
    order = np.lexsort((labels, queries.index))
    steps = np.cumsum(np.diff(labels[order], prepend=0.0) != 0)
    result = np.empty(len(labels))
    result[order] = steps - np.repeat(steps[queries.offsets[:-1]], queries.sizes)
    return result


def has_grades(labels: Vector, queries: Queries) -> Matrix:
    """Return 1 for each query whose labels differ, else 0.

    Parameters
    ----------
    labels : ndarray, shape (n_documents,)
    queries : Queries

    Returns
    -------
    ndarray, shape (n_queries, 1)

    Examples
    --------
    >>> has_grades(np.array([2.0, 2.0, 1.0, 0.0]), Queries.from_sizes([2, 2])).tolist()
    [[0.0], [1.0]]
    """
    ordered = labels[queries.order]
    starts = queries.offsets[:-1]
    differ = np.maximum.reduceat(ordered, starts) > np.minimum.reduceat(ordered, starts)
    return differ[:, None].astype(np.float64)
