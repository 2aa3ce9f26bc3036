"""Data frames of any library: taken as they are, and split into features, labels and queries."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import ArgumentError, ArgumentTypeError
from gbrank.common.checks import (
    check_choice,
    check_vector,
    listed,
    quoted,
    refuse_text,
    refuse_where,
    unknown_name,
)
from gbrank.common.on_use import nw
from gbrank.data.ids import as_ids, is_missing

Unjudged: TypeAlias = Literal["refuse", "drop", "irrelevant"]
PANDAS_INDEX = re.compile(r"__index_level_\d+__")  # how Arrow names an index without a name


def as_frame(data: object, argument: str) -> nw.DataFrame[Any] | None:
    """Return a data frame of any library, None for anything else; refuse one not in memory."""
    if isinstance(data, np.ndarray | list | tuple | dict):
        return None
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    if isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame):
        ways = ".pl() or .df()" if hasattr(data, "pl") else ".collect() or .compute()"
        got, hint = f"a {type(data).__name__}", f" Pass the result of {ways}."
        raise ArgumentTypeError(argument, "must be in memory", got, hint)
    return None


def split_frame(
    frame: Any,
    *,
    label: str = "label",
    qid: str = "qid",
    drop: Sequence[str] = (),
    unjudged: Unjudged = "refuse",
) -> tuple[Any, NDArray[np.float64], NDArray[Any]]:
    """Split a data frame into what `fit` takes: features, labels and queries.

    Parameters
    ----------
    frame : data frame, shape (n_documents, n_columns)
        Of pandas, polars, pyarrow, ...; one row a document, in any order.
    label, qid : str
        The columns of labels and of queries.
    drop : sequence of str
        Columns that are no features, such as names of documents. Nor is an index of pandas that
        Arrow has stored as a column.
    unjudged : {"refuse", "drop", "irrelevant"}
        What to do with documents that nobody has judged, whose label is missing or -1: an error,
        leave their rows out, or label them 0, as TREC does.

    Returns
    -------
    X : data frame of the same library, shape (n_judged, n_features)
    y : ndarray of float64, shape (n_judged,)
    qid : ndarray, shape (n_judged,)

    Raises
    ------
    ValueError, TypeError
        If it is no data frame, is not in memory, lacks a column or has none left for features; if
        labels are no numbers, queries are missing, or documents are unjudged.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank import GBRanker, split_frame
    >>> rows = [("a", 2, "u", 3.0), ("a", 0, "v", 1.5), ("a", -1, "w", 2.5)]
    >>> rows += [("b", 0, "u", 0.5), ("b", 1, "x", 2.0)]
    >>> frame = pd.DataFrame(rows, columns=["query", "grade", "url", "bm25"])
    >>> X, y, qid = split_frame(frame, label="grade", qid="query", drop=["url"], unjudged="drop")
    >>> list(X.columns), y.tolist(), qid.tolist()
    (['bm25'], [2.0, 0.0, 0.0, 1.0], ['a', 'a', 'b', 'b'])
    >>> ranker = GBRanker(n_estimators=5, min_child_samples=1, n_jobs=1).fit(X, y, qid=qid)
    """
    return split_and_mask(frame, label, qid, drop, unjudged)[:3]


def split_and_mask(
    frame: Any, label: str, qid: str, drop: Sequence[str], unjudged: Unjudged
) -> tuple[Any, NDArray[np.float64], NDArray[Any], NDArray[np.bool_]]:
    """Return what `split_frame` does, and the mask of the rows that it kept."""
    data = as_frame(frame, "frame")
    if data is None:
        raise TypeError(f"frame must be a data frame, got {type(frame).__name__}.")
    index = _pandas_index(getattr(frame, "schema", None))
    features = _feature_names(data.columns, label, qid, drop, index)
    ids, labelled = (data[:, data.columns.index(name)] for name in (qid, label))
    nulls = ids.is_null().arg_true()
    if len(nulls):
        row = int(nulls[0])
        raise ValueError(f"qid must name a column without missing values, got one in row {row}.")
    y, kept = judged(as_numbers(labelled, "label must name a column of numbers"), unjudged)
    X = data[:, [data.columns.index(name) for name in features]]  # names may be no texts
    return (X if kept.all() else X.filter(kept.tolist())).to_native(), y, as_ids(ids)[kept], kept


def is_stored_index(name: object) -> bool:
    """Return whether Arrow has named a column so, for an index of pandas without a name."""
    return isinstance(name, str) and name[:2] == "__" and bool(PANDAS_INDEX.fullmatch(name))


def _pandas_index(schema: object) -> set[str]:
    """Return the columns that were the index of a pandas frame, of the schema of an Arrow table."""
    try:
        described = getattr(schema, "pandas_metadata", None)
    except ValueError:  # no JSON
        return set()
    if not isinstance(described, dict):
        return set()
    return {name for name in described.get("index_columns", ()) if isinstance(name, str)}


def _feature_names(
    columns: Sequence[str], label: str, qid: str, drop: Sequence[str], index: Collection[str]
) -> list[str]:
    """Return the columns that are features, after a check of the others' names."""
    refuse_text(drop, "drop")
    roles: dict[str, str] = {}
    for argument, name in [("label", label), ("qid", qid), *(("drop", name) for name in drop)]:
        if name not in columns:
            raise unknown_name(f"column ({argument})", str(name), map(str, columns))
        if name in roles:
            raise ValueError(
                f"a column must have one part, got {name!r} as {roles[name]} and as {argument}."
            )
        roles[name] = argument
    others = {*roles, *index}
    features = [name for name in columns if name not in others and not is_stored_index(name)]
    if not features:
        raise ValueError(f"frame must have a column for features, got only {listed(columns)}.")
    return features


def judged(labels: ArrayLike, unjudged: Unjudged) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the labels to use, and the mask of their rows."""
    check_choice(unjudged, "unjudged", ["refuse", "drop", "irrelevant"])
    values = check_vector(labels, "label")
    missing = np.isnan(values) | (values == -1)
    refuse_where((values < 0) & ~missing, values, "label", "must be at least 0")
    if unjudged == "irrelevant":
        return np.where(missing, 0.0, values), np.ones(len(values), dtype=bool)
    if unjudged == "refuse" and missing.any():
        row = int(np.argmax(missing))
        got = f"{values[row]:g} in row {row} ({missing.sum()} such rows)"
        hint = ' If nobody has judged them: unjudged="drop" or "irrelevant".'
        raise ArgumentError("label", "must be at least 0", got, hint)
    if missing.all():
        raise ValueError("label must be known for a row, but nobody has judged any.")
    return values[~missing], ~missing


def is_numeric(dtype: nw.dtypes.DType) -> bool:
    """Return whether a column's type is one of numbers or booleans."""
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def has_no_value(column: nw.Series[Any]) -> bool:
    """Return whether all of a column is missing, so that its type says nothing."""
    return bool(column.null_count() == len(column))


def as_numbers(column: nw.Series[Any], demand: str, hint: str = "") -> NDArray[Any]:
    """Return a column of numbers, or without a value, as an array; refuse any other."""
    if not is_numeric(column.dtype):
        if has_no_value(column):
            return np.full(len(column), np.nan, np.float32)
        if column.dtype.is_temporal():
            hint = " Drop it, or turn it into numbers, such as days."
        of = f"column {column.name!r} has dtype {column.dtype}{_first_word(column)}"
        raise ValueError(f"{demand}; {of}.{hint}")
    try:
        return column.cast(nw.Float32 if column.dtype == nw.Float32 else nw.Float64).to_numpy()
    except ValueError:  # of Arrow, for integers beyond 2**53, which other libraries round
        values = column.to_list()
        return np.array([np.nan if is_missing(value) else value for value in values], np.float64)


def _first_word(column: nw.Series[Any]) -> str:
    """Return the first value that is no number, as a part of a message; empty for most types."""
    for row, value in enumerate(column.to_list() if column.dtype in (nw.String, nw.Object) else ()):
        try:
            float("nan" if is_missing(value) or value == "" else value)
        except (TypeError, ValueError):
            return f", got {quoted(value)} in row {row}"
    return " (of numbers alone: call astype(float))" if column.dtype == nw.Object else ""
