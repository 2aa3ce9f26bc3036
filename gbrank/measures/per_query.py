"""Computations on the labels or gains of each query."""

import numpy as np
from numpy.typing import NDArray

from gbrank.common.checks import Positions, Vector
from gbrank.common.collective import all_max
from gbrank.data.queries import Queries


def inverse(values: NDArray[np.number]) -> Vector:
    """Return 1 / values, and 0 where a value is 0."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def blocks_of(values: Vector, queries: Queries) -> Positions:
    """Return the block of equal values of each document, numbered by query, then by value."""
    order = np.lexsort((values, queries.index))
    begins = np.diff(values[order], prepend=0.0) != 0
    begins[queries.starts] = True
    blocks = np.empty(len(values), np.int64)
    blocks[order] = np.cumsum(begins) - 1
    return blocks


def grades(labels: Vector, queries: Queries) -> Vector:
    """Return how many distinct smaller labels each document's query has."""
    blocks = blocks_of(labels, queries)
    lowest = queries.reduce(np.minimum, blocks)
    return (blocks - lowest[queries.index]).astype(np.float64)


def labels_differ(labels: Vector, queries: Queries) -> Vector:
    """Return 1 for each query whose labels differ, else 0."""
    high, low = (queries.reduce(end, labels) for end in (np.maximum, np.minimum))
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
            "equal within each query, or below the metric's threshold; weights of nearly 0."
        )
    return ValueError(f"there is nothing to learn: {reason}")
