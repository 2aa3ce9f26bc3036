"""Columns that no ranker can use: all of them in one error, each with a remedy that works."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gbrank.data.schema import Schema

DAY = dt.datetime(2026, 1, 1)
COLUMNS: dict[str, Any] = {
    "url": "u",
    "price": 1.5,
    "title": "t",
    "day": DAY,
    "age": dt.timedelta(1),
    "ratio": np.inf,
}
LINES = [
    "X must hold numbers, booleans or categories; column 'url' has dtype String, got 'u' in row 0. "
    "Drop it, or name it in categorical_feature.",
    "column 'title' has dtype String, got 't' in row 0. "
    "Drop it, or name it in categorical_feature.",
    "column 'day' has dtype Datetime(time_unit='us', time_zone=None). "
    "Drop it, or turn it into numbers, such as days.",
    "column 'age' has dtype Duration(time_unit='us'). "
    "Drop it, or turn it into numbers, such as days.",
    "column 'ratio' has infinite values. Use NaN for missing ones.",
]


def frame_of(make: Callable[..., Any]) -> Any:
    """Return a frame of two rows, whose times are in microseconds."""
    columns = {name: [value] * 2 for name, value in COLUMNS.items()}
    if make is pd.DataFrame:
        columns["day"] = np.array(columns["day"], "M8[us]")
        columns["age"] = np.array(columns["age"], "m8[us]")
    return make(columns)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_all_columns_are_named_at_once(make: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="must hold numbers") as caught:
        Schema.learn(frame_of(make))
    assert str(caught.value).splitlines() == LINES


def test_the_remedies_work() -> None:
    """Categories, numbers of days, NaN."""
    frame = frame_of(pd.DataFrame)
    frame = frame.assign(
        day=(frame["day"] - DAY).dt.days, age=frame["age"].dt.days, ratio=np.nan
    ).drop(columns="url")
    schema = Schema.learn(frame, ["title"])
    assert schema.transform(frame)[0, [0, 2, 3]].tolist() == [1.5, 0.0, 1.0]


VECTORS = {
    "lists": pd.Series([[0.5, 1.0], [1.0, 2.0]]),
    "tuples": pd.Series([(0.5, 1.0), (1.0, 2.0)]),
    "arrays": pd.Series([np.ones(2), np.zeros(2)]),
    "after a missing one": pd.Series([None, [1.0, 2.0]]),
    "polars lists": pl.Series([[0.5, 1.0], [1.0, 2.0]]),
    "polars arrays": pl.Series([[0.5, 1.0], [1.0, 2.0]], dtype=pl.Array(pl.Float64, 2)),
}


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("categorical", [None, ["embedding"]])
def test_vectors(kind: str, categorical: list[str] | None) -> None:
    """The advice leads to no model that has learned nothing from them."""
    column = VECTORS[kind]
    make: Any = pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame
    frame = make({"embedding": column, "bm25": [1.0, 2.0]})
    with pytest.raises(ValueError, match="Split it into numeric columns") as caught:
        Schema.learn(frame, categorical)
    assert "'embedding'" in str(caught.value)
    assert "categorical_feature" not in str(caught.value)
    assert "astype" not in str(caught.value)
