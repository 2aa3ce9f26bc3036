"""Data frames of any library: their columns as numbers, and their features, labels and queries."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Array,
    Mask,
    Vector,
    check_choice,
    check_column_list,
    check_entries,
    check_known_name,
    check_vector,
    quoted,
)

from .feature_matrix import check_not_empty
from .ids import as_ids, is_missing

Unjudged: TypeAlias = Literal["refuse", "drop", "irrelevant"]
DEMAND = "X must hold the types of fit, numbers"
VECTORS = (list, tuple, np.ndarray)
VECTOR_HINT = "Split it into numeric columns, or compute a similarity."


def as_frame(data: object, argument: str = "X") -> nw.DataFrame[Any] | None:
    """Wrap a data frame of any library; None for anything else, an error if it is not in memory."""
    if isinstance(data, np.ndarray | list | tuple | dict):
        return None
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    if isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame):
        ways = ".pl() or .df()" if hasattr(data, "pl") else ".collect() or .compute()"
        raise ArgumentTypeError(
            argument,
            "must be in memory",
            f"a {type(data).__name__}",
            f" Pass the result of {ways}.",
        )
    return None


class FeatureTable:
    """The columns of a data frame, by name; those of pandas without narwhals where time counts."""

    def __init__(self, frame: Any, names: list[str]) -> None:
        self._native = frame  # of pandas, or of narwhals
        self._pandas = not isinstance(frame, nw.DataFrame)
        self.names = names
        self.shape: tuple[int, int] = frame.shape

    @cached_property
    def _frame(self) -> nw.DataFrame[Any]:
        return nw.from_native(self._native, eager_only=True)

    @cached_property
    def _types(self) -> list[np.dtype[Any] | None]:
        """NumPy's types of the columns of a pandas frame; None where they are no numbers."""
        return [_numpy_type(dtype) for dtype in self._native.dtypes.tolist()]

    @property
    def others(self) -> list[int]:
        """The columns whose type is none of numbers."""
        if self._pandas:
            return [index for index, dtype in enumerate(self._types) if dtype is None]
        types = enumerate(self._frame.schema.values())
        return [index for index, dtype in types if not is_numeric(dtype)]

    def column(self, index: int) -> nw.Series[Any]:
        """Return a column."""
        return self._frame[:, index]

    def values(self, index: int) -> list[Any]:
        """List the values of a column."""
        if not self._pandas:
            return self.column(index).to_list()
        column = self._native.iloc[:, index]
        if (codes := getattr(column.array, "codes", None)) is None:
            return list(column.tolist())
        categories = [*column.array.categories, None]  # the last one is that of code -1
        return [categories[code] for code in codes.tolist()]

    def take(self, indices: list[int]) -> Any:
        """Take some columns, as a data frame."""
        return self._frame[:, indices].to_native()

    def matrix(self, indices: list[int], codes: Mapping[int, Vector]) -> Array:
        """Convert these columns to numbers, with the codes of some of them."""
        columns = dict(codes)
        for index in set(self.others).intersection(indices) - codes.keys():
            columns[index] = as_numbers(self.column(index), DEMAND)
        as_block = self._pandas_block if self._pandas else self._block
        block = as_block(indices, columns)  # the columns in another order are gone by now
        single = block.dtype == np.float32
        return np.require(block, np.float32 if single else np.float64, ["C", "W"])

    def _pandas_block(self, indices: list[int], columns: dict[int, Vector]) -> Array:
        frame = self._native
        if columns:
            frame = frame.copy(deep=False)
            for index, values in columns.items():
                frame.isetitem(index, values)
        if indices != [*range(len(self.names))]:
            frame = frame.take(indices, axis=1)
        types = {columns[i].dtype if i in columns else self._types[i] for i in indices}
        dtype = np.float32 if types == {np.dtype(np.float32)} else np.float64
        return frame.to_numpy(dtype=dtype, na_value=np.nan)

    def _block(self, indices: list[int], columns: dict[int, Vector]) -> Array:
        frame = self._frame.with_columns(
            nw.new_series(self.names[index], values, backend=self._frame.implementation)
            for index, values in columns.items()
        )
        frame = frame if indices == [*range(len(self.names))] else frame[:, indices]
        block: Array = np.empty(0, object)
        with suppress(Exception):  # of integers that NumPy has no like of
            block = frame.to_numpy()
        if block.dtype.kind in "biuf":
            return block
        # NumPy has no missing truth values.
        return np.column_stack([as_numbers(column, DEMAND) for column in frame.iter_columns()])


def feature_table(X: Any) -> FeatureTable | None:
    """Wrap the columns of a data frame, without a stored index; None for anything else."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    frame = X if nw.dependencies.is_pandas_dataframe(X) else as_frame(X)
    if frame is None:
        return None
    features = [name for name in frame.columns if not is_stored_index(name)]
    frame = frame if len(features) == len(frame.columns) else frame[features]
    table = FeatureTable(frame, [str(name) for name in features])
    check_not_empty(table.shape)
    if len(set(table.names)) < len(table.names):
        twice = max(table.names, key=table.names.count)
        same = " and ".join(repr(name) for name in features if str(name) == twice)
        raise ArgumentError("X", "must not have duplicate column names", same)
    if "" in table.names:
        raise ArgumentError(
            "X",
            "must have a name for each column",
            "''",
            " A saved index is read back as a column without a name: drop it, or name it.",
        )
    return table


def _numpy_type(dtype: Any) -> np.dtype[Any] | None:
    """NumPy's type of the numbers in a pandas column; None if it holds no numbers."""
    if hasattr(dtype, "fill_value"):
        raise ArgumentError(
            "X",
            "must not have sparse pandas columns",
            f"{dtype}",
            " Pass X.sparse.to_coo() in fit and predict, or X.sparse.to_dense().",
        )
    numbers = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    return numbers if numbers is not None and numbers.kind in "biuf" else None


def split_frame(
    frame: Any,
    *,
    label: str = "label",
    qid: str = "qid",
    drop: Sequence[str] = (),
    unjudged: Unjudged = "refuse",
) -> tuple[Any, Vector, Array]:
    """Split a data frame into the arguments of `fit`: features, labels and queries.

    Parameters
    ----------
    frame : data frame, shape (n_documents, n_columns)
        A data frame of pandas, Polars, PyArrow or others, with one row per document, in any order.
    label, qid : str
        The columns of labels and of query ids.
    drop : sequence of str
        Columns that are not features, such as names of documents. A pandas index that Arrow stored
        as a column is dropped too.
    unjudged : {"refuse", "drop", "irrelevant"}
        How to handle unjudged documents, whose label is missing or -1: raise an error, drop their
        rows, or label them 0, as TREC does.

    Returns
    -------
    X : data frame of the same library, shape (n_judged, n_features)
    y : ndarray of float64, shape (n_judged,)
    qid : ndarray, shape (n_judged,)

    Raises
    ------
    ValueError, TypeError
        If frame is not a data frame in memory, lacks a column or has none left for features; if
        labels are not numeric, query ids are missing, or documents are unjudged.

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
) -> tuple[Any, Vector, Array, Mask]:
    """Split as `split_frame` does, with the mask of the retained rows."""
    if (data := as_frame(frame, "frame")) is None:
        raise TypeError(f"frame must be a data frame, got {type(frame).__name__}.")
    check_column_list(drop, "drop")
    for argument, name in [("label", label), ("qid", qid), *(("drop", name) for name in drop)]:
        check_known_name(f"column ({argument})", name, data.columns)
    if label == qid:
        raise ArgumentError("label", "must be another column than qid", repr(label))
    described = getattr(getattr(frame, "schema", None), "pandas_metadata", None) or {}
    stored = [name for name in described.get("index_columns", ()) if isinstance(name, str)]
    no_features = {label, qid, *drop, *stored}
    features = [
        index  # names may be no texts
        for index, name in enumerate(data.columns)
        if name not in no_features and not is_stored_index(name)
    ]
    ids = data[qid]
    for row in ids.is_null().arg_true():
        raise ArgumentError("qid", "must name a column without missing values", f"one in row {row}")
    y, kept = judged(as_numbers(data[label], "label must name a column of numbers"), unjudged)
    X = data[:, features]
    if not kept.all():
        X = X.filter(kept.tolist())
    return X.to_native(), y, as_ids(ids)[kept], kept


def is_stored_index(name: object) -> bool:
    """Whether Arrow named a column so, for a pandas index without a name."""
    if not (isinstance(name, str) and name.startswith("__index_level_")):
        return False
    return re.fullmatch(r"__index_level_\d+__", name) is not None


def judged(labels: ArrayLike, unjudged: Unjudged) -> tuple[Vector, Mask]:
    """Select the labels to use, and the mask of their rows."""
    check_choice(unjudged, "unjudged", ["refuse", "drop", "irrelevant"])
    values = check_vector(labels, "label")
    missing = np.isnan(values) | (values == -1)
    check_entries((values < 0) & ~missing, values, "label", "must be at least 0")
    if unjudged == "irrelevant":
        return np.where(missing, 0.0, values), np.ones(len(values), dtype=bool)
    if unjudged == "refuse" and missing.any():
        row = int(np.argmax(missing))
        raise ArgumentError(
            "label",
            "must be at least 0",
            f"{values[row]:g} in row {row} ({missing.sum()} in all)",
            ' If nobody has judged them: unjudged="drop" or "irrelevant".',
            remedies=("unjudged",),
        )
    return values[~missing], ~missing


def is_numeric(dtype: nw.dtypes.DType) -> bool:
    """Whether a column holds numbers or booleans."""
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def as_numbers(column: nw.Series[Any], demand: str) -> Array:
    """Convert a column of numbers, or one without a value, to an array."""
    if not is_numeric(column.dtype):
        if (problem := describe_problem(column)) is not None:
            raise ValueError(f"{demand}; {problem}")
        return np.full(len(column), np.nan, np.float32)
    try:
        return column.cast(nw.Float32 if column.dtype == nw.Float32 else nw.Float64).to_numpy()
    except ValueError:  # of Arrow, for integers beyond 2**53, which other libraries round
        values = column.to_list()
        return np.array([np.nan if is_missing(value) else value for value in values], np.float64)


def describe_problem(column: nw.Series[Any], hint: str = "") -> str | None:
    """Describe why a column cannot be used as numbers; None if it has no value at all."""
    if column.null_count() == len(column):
        return None
    described = f"column {column.name!r} has dtype {column.dtype}"
    if column.dtype.is_temporal():
        return f"{described}. Drop it, or turn it into numbers, such as days."
    first = _first_non_number(column)
    if column.dtype in (nw.List, nw.Array) or isinstance(first and first[1], VECTORS):
        return f"{described} of vectors. {VECTOR_HINT}"
    if first is not None:
        described += f", got {quoted(first[1])} in row {first[0]}"
    elif column.dtype == nw.Object:
        described += " (of numbers alone: call astype(float))"
    return f"{described}.{hint}"


def _first_non_number(column: nw.Series[Any]) -> tuple[int, Any] | None:
    """Find the row and the value of the first text or object that is no number."""
    if column.dtype not in (nw.String, nw.Object):
        return None
    for row, value in enumerate(column.to_list()):
        try:
            float("nan" if is_missing(value) or value == "" else value)
        except (TypeError, ValueError):
            return row, value
    return None
