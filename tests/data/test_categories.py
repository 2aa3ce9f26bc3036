"""Columns of categories and columns without a value: codes, kinds, and parts of data."""

import datetime as dt
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from frames import boosters, frames, read
from gbrank import GBRanker
from gbrank.data.schema import Schema
from plain_trees import PLAIN

NAN = float("nan")


# --- Categories -------------------------------------------------------------------------------

WORDS = ["x", None, "y", "x"]
CATEGORICAL: dict[str, tuple[Any, Any]] = {
    "pandas category": (pd.DataFrame({"w": pd.Categorical(WORDS, ["z", "y", "x"])}), None),
    "pandas strings": (pd.DataFrame({"w": WORDS}), ["w"]),
    "pandas objects": (pd.DataFrame({"w": pd.Series(WORDS, dtype=object)}), [0]),
    "pandas arrow": (pd.DataFrame({"w": pd.array(WORDS, "string[pyarrow]")}), ["w"]),
    "polars Categorical": (pl.DataFrame({"w": pl.Series(WORDS, dtype=pl.Categorical)}), None),
    "polars Enum": (pl.DataFrame({"w": pl.Series(WORDS, dtype=pl.Enum(["y", "x", "z"]))}), None),
    "polars strings": (pl.DataFrame({"w": WORDS}), [0]),
    "pyarrow dictionary": (pa.table({"w": pa.array(WORDS).dictionary_encode()}), None),
    "pyarrow strings": (pa.table({"w": pa.array(WORDS)}), ["w"]),
}


@pytest.mark.parametrize("kind", CATEGORICAL)
def test_categories(kind: str) -> None:
    """Codes follow the values, not how a library numbers them; missing ones are missing."""
    X, asked = CATEGORICAL[kind]
    schema = Schema.learn(X, asked)
    assert (schema.categorical, schema.categories) == ([0], {0: ["x", "y"]})
    assert_array_equal(schema.transform(X), [[0], [NAN], [1], [0]])


@pytest.mark.parametrize("learnt", CATEGORICAL)
@frames
def test_categories_from_one_library_to_another(learnt: str, frame: Any) -> None:
    """Learnt from one, read from another; a category that was not there is missing."""
    schema = Schema.learn(*CATEGORICAL[learnt])
    assert_array_equal(schema.transform(frame({"w": ["y", "unseen", "x"]})), [[1], [NAN], [0]])


def test_numeric_columns_named_as_categories() -> None:
    """They are their own codes, in arrays and in frames, by name and by position."""
    matrix = np.array([[0.5, 3], [1.5, 0], [2.5, NAN]])
    frame = pl.DataFrame({"a": matrix[:, 0], "b": matrix[:, 1]})
    for X, asked in ((matrix, [1]), (frame, ["b"]), (frame, [1])):
        assert Schema.learn(X, asked).categorical == [1]
        assert_array_equal(read(X, asked), matrix)


@boosters
def test_categories_are_not_an_order(booster: str) -> None:
    """Relevant are the categories b, e and c: one split of sets, where an order needs many."""
    letters = np.array(list("abcdefgh"))[np.random.default_rng(0).integers(0, 8, 2000)]
    y, qid = np.isin(letters, ["b", "e", "c"]).astype(int), np.repeat(np.arange(100), 20)
    X = pd.DataFrame({"letter": pd.Categorical(letters)})
    ranker = GBRanker(booster=booster, n_jobs=1, **PLAIN | {"n_estimators": 1, "num_leaves": 2})
    scores = ranker.fit(X, y, qid=qid).predict(X)
    assert set(scores[y == 1]).isdisjoint(scores[y == 0])
    assert ranker.score(pl.DataFrame({"letter": letters}), y, qid) == pytest.approx(1, abs=1e-12)
    unseen = ranker.predict(pd.DataFrame({"letter": ["zzz", None]}))
    assert unseen[0] == unseen[1]


@boosters
@pytest.mark.parametrize(
    "values",
    [
        pd.cut(np.arange(200) % 7, 3),
        pd.Categorical(pd.to_datetime(np.arange(200) % 3, unit="D")),
        pd.Categorical([(i % 2, "t") for i in range(200)]),
    ],
    ids=["intervals", "times", "tuples"],
)
def test_categories_of_other_types(booster: str, values: Any, tmp_path: Path) -> None:
    """Refused when fitting, by name; or kept by save and load."""
    X, qid = pd.DataFrame({"odd": values}), np.repeat(np.arange(20), 10)
    ranker = GBRanker(booster=booster, n_estimators=3, n_jobs=1, **PLAIN)
    if refused(lambda: ranker.fit(X, np.arange(200) % 3, qid=qid), "odd"):
        return
    ranker.save(tmp_path)
    assert_array_equal(GBRanker.load(tmp_path).predict(X), ranker.predict(X))


def refused(action: Callable[[], Any], name: str) -> bool:
    """Return whether there is a ValueError whose message has a name in it."""
    try:
        action()
    except ValueError as error:
        return name in str(error)
    return False


# --- Categories of another kind ---------------------------------------------------------------

TEXT, NUMBERS, TRUTH = ["x", "y"], [3, 5], [True, False]
KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    "numbers, then text": (NUMBERS, ["3", "5"]),
    "truth, then text": (TRUTH, ["True", "False"]),
    "text, then numbers": (TEXT, NUMBERS),
    "text of numbers, then numbers": (["3", "5"], NUMBERS),
    "text, then truth": (TEXT, TRUTH),
    "text, then bytes": (TEXT, [b"x", b"y"]),
    "text, then dates": (TEXT, [dt.date(2024, 1, 2), dt.date(2024, 1, 3)]),
    "numbers, then times": (NUMBERS, [dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 3)]),
    "text, then lists": (TEXT, [["x"], ["y"]]),
    "numbers, then arrays": (NUMBERS, [np.array([3]), np.array([5])]),
    "text, then one number": (TEXT, ["x", 3]),
    "numbers, then one text": (NUMBERS, [3, "5"]),
}


def containers(values: list[Any]) -> Iterator[Any]:
    """Yield frames of one column, in every type of every library that can hold the values."""
    hashable = all(getattr(type(value), "__hash__", None) for value in values)
    alike = len({*map(type, values)}) == 1 and not isinstance(values[0], np.ndarray)
    column = np.empty(len(values), object)
    column[:] = values
    yield pd.DataFrame({"w": pd.Series(column)})
    if hashable:
        yield pd.DataFrame({"w": pd.Categorical(column)})
    if alike:
        yield pd.DataFrame({"w": values})
        yield pl.DataFrame({"w": values})
        yield pa.table({"w": pa.array(values)})
    if alike and hashable:
        yield pa.table({"w": pa.array(values).dictionary_encode()})
    if isinstance(values[0], str) and alike:
        yield pl.DataFrame({"w": pl.Series(values, dtype=pl.Categorical)})
        yield pl.DataFrame({"w": pl.Series(values, dtype=pl.Enum(values))})


@pytest.mark.parametrize("case", KINDS)
def test_categories_of_another_kind(case: str) -> None:
    """An error that names the column: they would all be read as missing."""
    learnt, read_as = KINDS[case]
    schema = Schema.learn(pd.DataFrame({"w": pd.Categorical(learnt)}))
    for X in containers(read_as):
        with pytest.raises(ValueError, match=r"X must hold the types of fit; column 'w' holds "):
            schema.transform(X)


@pytest.mark.parametrize(
    ("learnt", "read_as"),
    [
        ([3, 5], [5.0, 9.5]),
        ([3.0, 5.0], [5, 9]),
        ([3, 5], [np.int8(5), np.float32(9)]),
        ([0, 1], [True, True]),
        ([0, 1], [np.True_, np.False_]),
        ([False, True], [1, 9]),
        ([False, True], [1.0, 9.0]),
        (["a", "b"], ["b", "z"]),
        (["a", 1], ["a", 9]),
        (["a", 1], ["a", "z"]),
    ],
)
def test_categories_of_the_same_kind(learnt: list[Any], read_as: list[Any]) -> None:
    """Equal values are the same category, whatever their type; others are missing."""
    schema = Schema.learn(pd.DataFrame({"w": pd.Series(learnt, dtype=object)}), ["w"])
    codes = dict(zip(schema.categories[0], itertools.count()))
    for X in containers(read_as):
        expected = [[codes.get(value, NAN)] for value in read_as]
        assert_array_equal(schema.transform(X), expected)
