"""The artificial queries of the LambdaRank paper, which studies and papers share."""

from functools import cache

import numpy as np

from gbrank import make_cubic
from gbrank.evaluation import Dataset, Fold

__all__ = ["cubic_queries"]

SHARES = (2, 1, 2)  # the paper's 10K to train on, 5K to validate, 10K to test


@cache
def cubic_queries(n_queries: int, n_documents: int = 50, name: str = "cubic") -> Dataset:
    """Return random cubic polynomials, two fifths to train on, one to validate, two to test."""
    X, y, qid = make_cubic(n_queries, n_documents=n_documents, random_state=0)
    bounds = np.cumsum(SHARES) * n_queries // sum(SHARES)
    part = np.searchsorted(bounds, qid, side="right")
    return Dataset(name, X, y, qid, [Fold(*(np.flatnonzero(part == i) for i in range(3)))])
