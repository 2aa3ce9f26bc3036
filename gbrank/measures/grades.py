"""The grades of a query: its distinct labels, counted from the lowest."""

import numpy as np

from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector


def grades(labels: Vector, queries: Queries) -> Vector:
    """Return how many distinct smaller labels each document's query has."""
    order = np.lexsort((labels, queries.index))
    steps = np.cumsum(np.diff(labels[order], prepend=0.0) != 0)
    result = np.empty(len(labels))
    result[order] = steps - np.repeat(steps[queries.offsets[:-1]], queries.sizes)
    return result


def labels_differ(labels: Vector, queries: Queries) -> Vector:
    """Return 1 for each query whose labels differ, else 0."""
    ordered = labels[queries.order]
    starts = queries.offsets[:-1]
    differ = np.maximum.reduceat(ordered, starts) > np.minimum.reduceat(ordered, starts)
    return differ.astype(np.float64)
