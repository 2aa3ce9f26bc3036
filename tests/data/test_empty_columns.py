"""Columns without a value, and parts of the data in which a column has none."""

import itertools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from frames import FRAMES, read
from gbrank import GBRanker, make_cubic
from gbrank.data.schema import Schema

NAN = float("nan")
TEXT, NUMBERS = ["x", "y"], [3, 5]


EMPTY: dict[str, Any] = {
    "pandas None": pd.DataFrame({"v": [1.0, 2.0], "w": [None, None]}),
    "pandas NaN": pd.DataFrame({"v": [1.0, 2.0], "w": [NAN, NAN]}),
    "pandas NA": pd.DataFrame({"v": [1.0, 2.0], "w": [pd.NA, pd.NA]}),
    "pandas NaT": pd.DataFrame({"v": [1.0, 2.0], "w": [pd.NaT, pd.NaT]}),
    "pandas string": pd.DataFrame({"v": [1.0, 2.0], "w": pd.array([None, None], "string")}),
    "pandas category": pd.DataFrame({"v": [1.0, 2.0], "w": pd.Categorical([None, None])}),
    "pandas arrow": pd.DataFrame(
        {"v": [1.0, 2.0], "w": pd.array([None, None], pd.ArrowDtype(pa.null()))}
    ),
    "polars Null": pl.DataFrame({"v": [1.0, 2.0], "w": [None, None]}),
    "polars String": pl.DataFrame({"v": [1.0, 2.0], "w": pl.Series([None, None], dtype=pl.String)}),
    "polars Float64": pl.DataFrame(
        {"v": [1.0, 2.0], "w": pl.Series([None, None], dtype=pl.Float64)}
    ),
    "arrow null": pa.table({"v": [1.0, 2.0], "w": pa.nulls(2)}).select(["v", "w"]),
    "arrow string": pa.table({"v": [1.0, 2.0], "w": pa.nulls(2, pa.string())}),
}


def test_missing_categories_are_of_every_kind() -> None:
    """None, NaN, NA and NaT, alone or beside known categories."""
    for learnt in (TEXT, NUMBERS):
        schema = Schema.learn(pd.DataFrame({"w": pd.Categorical(learnt)}))
        mixed = pd.Series([learnt[1], None, NAN, pd.NA, pd.NaT], dtype=object)
        assert_array_equal(schema.transform(pd.DataFrame({"w": mixed})), [[1], *[[NAN]] * 4])
        for name, X in EMPTY.items():
            single = X.select(["w"]) if hasattr(X, "select") else X[["w"]]
            assert_array_equal(schema.transform(single), [[NAN]] * 2, err_msg=name)
        assert_array_equal(schema.transform(pl.DataFrame({"w": [NAN, NAN]})), [[NAN]] * 2)


@pytest.mark.parametrize("kind", EMPTY)
def test_columns_without_a_value(kind: str) -> None:
    """They are missing values of whatever the column held in fit, and numbers in fit."""
    X, expected = EMPTY[kind], [[1, NAN], [2, NAN]]
    learnt = Schema.learn(pd.DataFrame({"v": [1.0, 2.0], "w": [1.0, 2.0]}))
    assert_array_equal(learnt.transform(X), expected)
    assert_array_equal(read(X), expected)
    coded = Schema.learn(pd.DataFrame({"v": [1.0, 2.0], "w": [1, 2]}), ["w"])
    assert_array_equal(coded.transform(X), expected)


def test_one_document_without_a_value() -> None:
    """It is scored as with NaN."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=3, random_state=0)
    ranker = GBRanker("ranknet", n_estimators=3, n_jobs=1, random_state=0)
    ranker.fit(pd.DataFrame(X, columns=list("abc")), y, qid=qid)
    expected = ranker.predict(np.array([[X[0, 0], NAN, X[0, 2]]]))
    document = {"a": [X[0, 0]], "b": [None], "c": [X[0, 2]]}
    for frame in FRAMES.values():
        assert_array_equal(ranker.predict(frame(document)), expected)


def part(values: list[Any], asked: Any = None, **kind: Any) -> Schema:
    """Return what is learnt from one part of the rows."""
    return Schema.learn(pd.DataFrame({"w": pd.Series(values, **kind)}), asked)


@pytest.mark.parametrize(
    ("parts", "categorical", "categories"),
    [
        ([part([None]), part([1.5])], [], {}),
        ([part([None]), part([None])], [], {}),
        ([part([None]), part(["x"], dtype="category")], [0], {0: ["x"]}),
        ([part(["x"], ["w"]), part([None], ["w"]), part(["a"], ["w"])], [0], {0: ["a", "x"]}),
        ([part(["x"], ["w"]), part([NAN], ["w"])], [0], {0: ["x"]}),
        ([part([NAN], ["w"]), part(["x"], ["w"])], [0], {0: ["x"]}),
        ([part([None], ["w"]), part([3], ["w"])], [0], {}),
        ([part([3], ["w"]), part([None], ["w"])], [0], {}),
        ([part([None], dtype="category"), part([1.5])], [], {}),
    ],
)
def test_parts_without_a_value(
    parts: list[Schema], categorical: list[int], categories: dict[int, Any]
) -> None:
    """The other parts say what the column holds."""
    for order in itertools.permutations(parts):
        found = Schema.union(order)
        assert (found.categorical, found.categories) == (categorical, categories)
        assert found.empty == []
