"""Documents that a query has several times: by name, or as equal rows."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.warnings import warn_user
from gbrank.data.frames import as_frame
from gbrank.data.ids import is_missing
from gbrank.data.lookup import document_names
from gbrank.data.queries import Queries
from gbrank.data.sampling import block_keys, split_mix


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


def count_repeated_rows(X: Any, *columns: ArrayLike) -> int:
    """Return how many rows equal an earlier one, in a table and in the columns beside it."""
    others = [np.asarray(column, np.float64) + 0.0 for column in columns]  # without a −0
    frame = as_frame(X, "X")
    if frame is not None:
        series = [
            nw.new_series(f"gbrank: {place}", values, backend=frame.implementation)
            for place, values in enumerate(others)
        ]
        return len(frame) - len(frame.with_columns(*series).unique())
    keys = block_keys(X)
    for values in others:
        keys = split_mix(keys, values.view(np.uint64))
    return len(keys) - len(np.unique(keys))


def of_all(count: int, queries: Queries) -> str:
    """Return how many rows these are, and which share of all."""
    n = queries.n_documents
    return f"{count:,} of {n:,} rows ({count / n:.1%})"
