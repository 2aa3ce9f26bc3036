"""Columns of one type are read together: the same matrix, and scores, as column by column."""

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from gbrank.data.schema import Schema

NAN = float("nan")
ROWS = 60
# Values of each column, in lists of Python, and the type that holds them in all libraries.
COLUMNS: dict[str, tuple[str, list[Any]]] = {
    "double": ("float64", [0.1 * row for row in range(ROWS)]),
    "other double": ("float64", [NAN if row % 3 else 1 / 3 + row for row in range(ROWS)]),
    "single": ("float32", [row / 8 for row in range(ROWS)]),
    "truth": ("bool", [row % 3 == 0 for row in range(ROWS)]),
    "other truth": ("bool", [row % 7 < 2 for row in range(ROWS)]),
    "small": ("int8", [row - 30 for row in range(ROWS)]),
    "large": ("int64", [2**53 + 1 + row for row in range(ROWS)]),
    "other large": ("int64", [-(2**62) - row**9 for row in range(ROWS)]),
    "unsigned": ("uint64", [2**64 - 1 - 2**11 * row for row in range(ROWS)]),
}
GAPS = [row % 5 == 0 for row in range(ROWS)]  # where the nullable types have no value
NULLABLE = {"bool": "boolean", "float32": "Float32", "float64": "Float64"}


def with_gaps(values: list[Any]) -> list[Any]:
    """Return values of which some are missing."""
    return [None if gap else value for value, gap in zip(values, GAPS, strict=True)]


def pandas_frame(rename: Callable[[str], str], gaps: bool = False) -> pd.DataFrame:
    """Return a frame of pandas whose types have the given names."""
    columns = {
        name: pd.array(with_gaps(values) if gaps else values, rename(dtype))
        for name, (dtype, values) in COLUMNS.items()
    }
    return pd.DataFrame(columns)


def nullable(dtype: str) -> str:
    """Return the name of the type of pandas that has missing values."""
    return NULLABLE.get(dtype, dtype.replace("uint", "UInt").replace("int", "Int", 1))


def arrow_table(gaps: bool = False) -> pa.Table:
    """Return a table of Arrow."""
    columns = {
        name: pa.array(with_gaps(values) if gaps else values, dtype)
        for name, (dtype, values) in COLUMNS.items()
    }
    return pa.table(columns)


WHOLE: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pandas_frame(str),
    "pandas nullable": lambda: pandas_frame(nullable),
    "pandas Arrow": lambda: pandas_frame(lambda dtype: f"{dtype}[pyarrow]"),
    "polars": lambda: pl.from_arrow(arrow_table()),
    "Arrow": arrow_table,
}
WITH_GAPS: dict[str, Callable[[], Any]] = {
    "pandas nullable": lambda: pandas_frame(nullable, gaps=True),
    "pandas Arrow": lambda: pandas_frame(lambda dtype: f"{dtype}[pyarrow]", gaps=True),
    "polars": lambda: pl.from_arrow(arrow_table(gaps=True)),
    "Arrow": lambda: arrow_table(gaps=True),
}


def expected(names: list[str], gaps: bool = False) -> NDArray[np.float64]:
    """Return columns as Python rounds them to doubles."""
    columns = [COLUMNS[name][1] for name in names]
    lists = [with_gaps(values) if gaps else values for values in columns]
    return np.array([[NAN if v is None else float(v) for v in values] for values in lists]).T


@pytest.mark.parametrize("kind", WHOLE)
def test_types_side_by_side(kind: str) -> None:
    """All types in one frame, in the order of fit and in another; each type alone."""
    X, names = WHOLE[kind](), list(COLUMNS)
    schema = Schema.learn(X)
    assert_array_equal(schema.transform(X), expected(names), strict=True)
    turned = X[names[::-1]] if isinstance(X, pd.DataFrame) else X.select(names[::-1])
    assert_array_equal(schema.transform(turned), expected(names), strict=True)
    for dtype in {dtype for dtype, _ in COLUMNS.values()}:
        same = [name for name in names if COLUMNS[name][0] == dtype]
        part = X[same] if isinstance(X, pd.DataFrame) else X.select(same)
        matrix = Schema.learn(part).transform(part)
        assert matrix.dtype == (np.float32 if dtype == "float32" else np.float64)
        assert_array_equal(matrix, expected(same))
        assert matrix.flags.writeable


@pytest.mark.parametrize("kind", WITH_GAPS)
def test_types_with_missing_values(kind: str) -> None:
    """Also of integers and truth values, which NumPy's own types cannot miss."""
    X = WITH_GAPS[kind]()
    matrix = Schema.learn(WHOLE[kind]()).transform(X)
    assert_array_equal(matrix, expected(list(COLUMNS), gaps=True), strict=True)


@pytest.mark.parametrize("kind", WHOLE)
def test_a_column_that_is_refused(kind: str) -> None:
    """The error names it, wherever it stands beside columns that are read together."""
    frame = nw.from_native(WHOLE[kind](), eager_only=True)
    schema = Schema.learn(frame.to_native())
    for name in COLUMNS:
        other = frame.with_columns(nw.lit("u").alias(name)).to_native()
        with pytest.raises(ValueError, match=f"of fit, numbers; column '{name}' has dtype "):
            schema.transform(other)
    lacking = frame.drop("small").to_native()
    with pytest.raises(ValueError, match=r"X must have the columns .* lacks \['small'\], and has "):
        schema.transform(lacking)
