"""Documents that a query has several times: by name, or as equal rows."""

from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from gbrank.common.arrays import Keys, Vector, canonical
from gbrank.common.warnings import warn_user
from gbrank.data.feature_matrix import Features
from gbrank.data.frames import as_frame
from gbrank.data.ids import is_missing
from gbrank.data.lookup import document_names
from gbrank.data.queries import Queries

BLOCK = 2**16  # how many numbers are hashed at once


def warn_of_repeats(docid: Any, queries: Queries) -> None:
    """Warn of rows of a document that its query has in an earlier row, too."""
    if docid is not None and (repeats := count_repeated_names(docid, queries)):
        warn_user(
            f"{of_all(repeats, queries)} repeat a document of their query, which counts twice: "
            "drop the duplicates by query and docid."
        )


def count_repeated_names(docid: Any, queries: Queries) -> int:
    """Return how many rows have the name of an earlier row of their query."""
    rows = zip(queries.index.tolist(), document_names(docid, queries), strict=True)
    known = [row for row in rows if not is_missing(row[1])]
    return len(known) - len(set(known))


def count_repeated_rows(X: Any, y: Vector, queries: Queries) -> int:
    """Return how many rows have the features and the label of an earlier row of their query."""
    others = {"gbrank: query": queries.index.astype(np.float64), "gbrank: label": y}
    frame = as_frame(X, "X")
    if frame is not None:
        columns = [
            nw.new_series(name, values, backend=frame.implementation)
            for name, values in others.items()
        ]
        return len(y) - len(frame.with_columns(*columns).unique())
    odd = _odd(X.shape[1] + len(others))
    keys = _keys(X, odd[: X.shape[1]])
    for column, factor in zip(others.values(), odd[X.shape[1] :], strict=True):
        keys += _bits(column) * factor
    return len(y) - len(np.unique(keys))


def of_all(count: int, queries: Queries) -> str:
    """Return how many rows these are, and which share of all."""
    n = queries.n_documents
    return f"{count:,} of {n:,} rows ({count / n:.1%})"


def _keys(X: Features, odd: Keys) -> Keys:
    """Return a hash of the features of each row, given a factor for each column."""
    if sp.issparse(X):
        matrix = X.tocsr()
        sums = np.append(np.uint64(0), np.cumsum(_bits(matrix.data) * odd[matrix.indices]))
        return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])
    keys = np.empty(X.shape[0], np.uint64)
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        keys[start : start + step] = (_bits(X[start : start + step]) * odd).sum(axis=1)
    return keys


def _odd(count: int) -> Keys:
    """Return random odd factors."""
    half = np.random.default_rng(0).integers(0, 2**63, count, np.uint64)
    return 2 * half + np.uint64(1)


def _bits(values: Vector) -> Keys:
    """Return the bits of numbers, the upper half in the lower one too."""
    bits = canonical(np.asarray(values, np.float64)).view(np.uint64)
    return bits ^ (bits >> np.uint64(32))
