"""Documents by rank and by name; and those that a query has several times."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import ArgumentError, Positions, Vector, warn_user

from .feature_matrix import Features, as_dense, dense_column
from .frames import as_frame
from .ids import is_missing
from .queries import Queries
from .sampling import row_keys, split_mix

HEAD = 1000  # rows that rule out most columns


def by_rank(rows: Positions, scores: Vector) -> Positions:
    """Sort rows by falling score; equal scores keep the order of the rows."""
    return rows[np.argsort(-scores, kind="stable")]


def document_names(docid: Any, queries: Queries) -> list[Any]:
    """List the names of the documents in all rows."""
    names: list[Any] = np.asarray(docid, dtype=object).tolist()
    if len(names) != queries.n_documents:
        raise ArgumentError("docid", f"must have {queries.n_documents} entries", f"{len(names)}")
    return names


def warn_of_repeats(docid: Any, queries: Queries) -> None:
    """Warn of rows of a document that its query has in an earlier row, too."""
    if docid is not None and (repeats := count_repeated_names(docid, queries)):
        warn_user(
            f"{of_all(repeats, queries)} repeat a document of their query. Duplicate documents "
            "count twice: drop duplicates by query and docid."
        )


def count_repeated_names(docid: Any, queries: Queries) -> int:
    """Count the rows that repeat the name of an earlier row of their query."""
    rows = zip(queries.index.tolist(), document_names(docid, queries), strict=True)
    known = [row for row in rows if not is_missing(row[1])]
    return len(known) - len(set(known))


def count_repeated_rows(X: Any, *columns: ArrayLike) -> int:
    """Count the rows that equal an earlier one, in a table and in further columns."""
    others = [np.asarray(column, np.float64) + 0.0 for column in columns]  # without a −0
    if (frame := as_frame(X)) is not None:
        series = [
            nw.new_series(f"gbrank: {number}", values, backend=frame.implementation)
            for number, values in enumerate(others)
        ]
        return len(frame) - len(frame.with_columns(*series).unique())
    keys = row_keys(X, np.float64)
    for values in others:
        keys = split_mix(keys, values.view(np.uint64))
    return len(keys) - len(np.unique(keys))


def columns_like(X: Features, target: Vector, categorical: Sequence[int]) -> list[int]:
    """Find the columns that equal a target up to a strictly monotone transformation.

    Those of categories equal it if each value stands for one of the target's.
    """
    order = np.argsort(target, kind="stable")
    columns = np.arange(X.shape[1])
    for rows in (order[:HEAD], order):
        moves = np.diff(as_dense(X[rows[:, np.newaxis], columns]), axis=0)
        rises = np.diff(target[rows]) > 0
        steps = moves[rises]
        monotone = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
        renamed = np.isin(columns, categorical) & steps.all(axis=0)
        columns = columns[(monotone | renamed) & ~moves[~rises].any(axis=0)]
    n_values = len(np.unique(target))
    return [i for i in columns.tolist() if len(np.unique(dense_column(X, i))) == n_values]


def of_all(count: int, queries: Queries) -> str:
    """Format a count of rows, and its share of all."""
    n = queries.n_documents
    return f"{count:,} of {n:,} rows ({count / n:.1%})"
