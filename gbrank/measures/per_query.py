"""Computations on the labels or gains of each query."""

import numpy as np
from numpy.typing import NDArray

from gbrank.common.collective import all_max
from gbrank.common.values import Vector
from gbrank.data.queries import Queries


def reduce_queries(function: np.ufunc, values: Vector, queries: Queries) -> Vector:
    """Reduce the values of each query by a function such as np.add."""
    return function.reduceat(values[queries.order], queries.offsets[:-1])


def inverse(values: NDArray[np.number]) -> Vector:
    """Return 1 / values, and 0 where a value is 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def grades(labels: Vector, queries: Queries) -> Vector:
    """Return how many distinct smaller labels each document's query has."""
    order = np.lexsort((labels, queries.index))
    steps = np.cumsum(np.diff(labels[order], prepend=0.0) != 0)
    result = np.empty(len(labels))
    result[order] = steps - np.repeat(steps[queries.offsets[:-1]], queries.sizes)
    return result


def labels_differ(labels: Vector, queries: Queries) -> Vector:
    """Return 1 for each query whose labels differ, else 0."""
    high, low = (reduce_queries(end, labels, queries) for end in (np.maximum, np.minimum))
    return (high > low).astype(np.float64)


def nothing_to_learn(queries: Queries) -> ValueError:
    """Build the error for data in which no document is to rank above another of its query."""
    if all_max(queries.sizes.max()) == 1:
        reason = (
            "every query has one document, and a ranker learns from documents of the same query. "
            "Pass as qid= the query of each row, not the document."
        )
    else:
        reason = (
            "no query has documents of different value. Possible causes: labels that are all 0, "
            "equal within each query, or below the measure's threshold; weights of nearly 0."
        )
    return ValueError(f"there is nothing to learn: {reason}")
