"""Queries: which rows belong to which query, whatever the ids look like."""

import datetime as dt
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from gbrank import NDCG, Queries


def rows_of(queries: Queries) -> list[list[int]]:
    """Return the rows of each query."""
    return [queries.order[begin:end].tolist() for begin, end in pairwise(queries.offsets)]


def expected_rows(qid: Any) -> dict[Any, list[int]]:
    """Group rows by a dict, which keeps the order of first appearance."""
    groups: dict[Any, list[int]] = {}
    for row, item in enumerate(qid):
        groups.setdefault(item, []).append(row)
    return groups


def object_array(values: list[Any]) -> np.ndarray:
    """Return an array whose entries are the Python objects themselves."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


PATTERN = [1, 0, 1, 2, 0, 1]  # three queries of 3, 2 and 1 rows, that first appear as 1, 0, 2
TUPLES = [("u", 1), ("u", 2), ("v", 1)]
DAYS = [dt.date(2024, 1, 2), dt.date(2023, 5, 1), dt.date(2024, 1, 3)]
IDS: dict[str, list[Any]] = {
    "int": [7, -3, 5],
    "large int": [2**62 + 1, 2**62, 2**62 + 2],
    "str": ["beta", "alpha", "gamma"],
    "float": [5.0, -1.0, 2.0],
    "tuple": TUPLES,
    "date": DAYS,
    "bytes": [b"x", b"a", b"m"],
    "mixed": [1, "1", (1,)],
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_any_type(kind: str) -> None:
    """Unsorted ids: queries stand by first appearance, rows as in the input."""
    qid = object_array([IDS[kind][i] for i in PATTERN])
    queries = Queries.from_qid(qid)
    assert queries.ids.tolist() == [IDS[kind][i] for i in (1, 0, 2)]
    assert rows_of(queries) == [[0, 2, 5], [1, 4], [3]]
    assert queries.sizes.tolist() == [3, 2, 1]
    assert queries.index.tolist() == [0, 1, 0, 2, 1, 0]
    assert (queries.n_queries, queries.n_documents) == (3, 6)


@pytest.mark.parametrize("make", [list, object_array])
@pytest.mark.parametrize("ids", [TUPLES, [(0.5, 2), (0.5, 3), (1.5, 2)], [(1,), (1, 2), ()]])
def test_tuples_are_ids_not_rows(ids: list[Any], make: Any) -> None:
    """A list of pairs is a list of ids; NumPy would make a matrix of it."""
    queries = Queries.from_qid(make([ids[i] for i in PATTERN]))
    assert rows_of(queries) == [[0, 2, 5], [1, 4], [3]]
    assert queries.ids.tolist() == [ids[1], ids[0], ids[2]]


@given(st.lists(st.integers(-2, 3), min_size=1, max_size=40))
def test_grouping_against_a_dict(qid: list[int]) -> None:
    """Integers, strings and objects give the same partition as a dict does."""
    groups = expected_rows(qid)
    for ids in (np.array(qid), np.array([str(i) for i in qid]), object_array(qid)):
        queries = Queries.from_qid(ids)
        assert rows_of(queries) == list(groups.values())
        assert [int(item) for item in queries.ids] == list(groups)
        assert_array_equal(queries.ids[queries.index].astype(int), qid)
        assert queries.contiguous == (queries.order.tolist() == list(range(len(qid))))
        assert (queries.order.dtype, queries.offsets.dtype) == (np.int32, np.int64)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=20))
def test_sizes_are_consecutive_ids(sizes: list[int]) -> None:
    """from_sizes is from_qid of repeated numbers."""
    by_size = Queries.from_sizes(sizes)
    by_id = Queries.from_qid(np.repeat(np.arange(len(sizes)), sizes))
    assert by_size.contiguous
    for name in ("order", "offsets", "ids", "sizes", "index"):
        assert_array_equal(getattr(by_size, name), getattr(by_id, name))


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_subset(qid: list[int], wanted: list[bool]) -> None:
    """The kept rows, regrouped, are what from_qid makes of them."""
    queries = Queries.from_qid(qid)
    keep = np.array([wanted[i] for i in queries.ids])
    kept, rows = queries.subset(keep)
    assert rows.tolist() == [row for row, item in enumerate(qid) if wanted[item]]
    if keep.any():
        expected = Queries.from_qid(np.array(qid)[rows])
        for name in ("order", "offsets", "ids"):
            assert_array_equal(getattr(kept, name), getattr(expected, name))


@pytest.mark.parametrize(
    "qid",
    [
        [1.0, np.nan, 2.0],
        ["a", np.nan, "b"],
        [1, None, 2],
        np.array([1j, complex("nan")]),
        np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="datetime64[D]"),
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        pd.Series([1, pd.NA, 2], dtype="Int64"),
        pd.array([1, None, 3], dtype="Int64"),
        pd.Series(["a", None, "b"], dtype="category"),
        [(1, 2), (1, float("nan")), (1, float("nan"))],
        [(1, 2), (1, np.datetime64("NaT")), (1, pd.NaT)],
        pd.MultiIndex.from_arrays([[1, 1, 1], [2.0, np.nan, np.nan]]),
    ],
)
def test_missing_ids(qid: Any) -> None:
    """A missing id is no query of its own; the message gives the row."""
    with pytest.raises(ValueError, match=r"qid.*row 1"):
        Queries.from_qid(qid)


def test_large_sorted_and_unsorted_ids() -> None:
    """A hundred thousand rows, in order and shuffled: the same queries up to their order."""
    rng = np.random.default_rng(0)
    qid = np.repeat(rng.permutation(3000), rng.integers(1, 70, 3000))
    rows = rng.permutation(len(qid))
    ordered, shuffled = Queries.from_qid(qid), Queries.from_qid(qid[rows])
    assert ordered.contiguous
    assert not shuffled.contiguous
    sizes = dict(zip(ordered.ids, ordered.sizes, strict=True))
    assert sizes == dict(zip(shuffled.ids, shuffled.sizes, strict=True))
    for queries, ids in ((ordered, qid), (shuffled, qid[rows])):
        assert_array_equal(queries.ids[queries.index], ids)
        assert_array_equal(np.sort(queries.order), np.arange(len(qid)))


OWN = {"b": 2.0, "a": 1.0, "c": 3.0}  # weights by query id


@pytest.mark.parametrize(
    "weights",
    [
        OWN,
        {**OWN, "d": np.nan},
        pd.Series(OWN),
        pd.Series(OWN)[["c", "a", "b"]],
        pd.Series({**OWN, "d": 9.0}),
        pd.Series(OWN).astype("float64[pyarrow]"),
        pd.Series(OWN).rename_axis("query"),
        pd.Series(list(OWN.values()), index=pd.CategoricalIndex(list(OWN))),
        pd.DataFrame({"weight": OWN}),
    ],
)
def test_weights_by_query_id(weights: Any) -> None:
    """A series is a mapping from its index; entries of other queries play no part."""
    assert Queries.from_qid(["c", "a", "c", "b"]).in_order(weights) == [3, 1, 2]


@pytest.mark.parametrize(
    ("qid", "index"),
    [
        (np.array([7, 5]), [5.0, 7.0]),
        (np.array([7.0, 5.0]), [5, 7]),
        ([(7, "x"), (5, "x")], pd.MultiIndex.from_tuples([(5, "x"), (7, "x")])),
        (pl.Series([DAYS[0], DAYS[1]]), pd.to_datetime([DAYS[1], DAYS[0]])),
        (pd.Series(pd.to_datetime([DAYS[0], DAYS[1]])), pd.to_datetime([DAYS[1], DAYS[0]])),
        ([9, 0], pd.Index([0, 9])),
        ([1, 0], pd.Index([0, 1])),  # no RangeIndex
        ([1, 0], pd.RangeIndex(2, name="query")),
        ([3, 2], pd.RangeIndex(2, 4)),
        ([2, 0], pd.RangeIndex(0, 4, 2)),
    ],
)
def test_an_index_of_query_ids(qid: Any, index: Any) -> None:
    """Of any type that is equal to theirs, and numbers too."""
    assert Queries.from_qid(qid).in_order(pd.Series([1.0, 2.0], index=index)) == [2, 1]


@pytest.mark.parametrize("qid", [["b", "a"], [2, 1], [0, 1], [0, 7]])
def test_the_default_index_is_one_of_positions(qid: Any) -> None:
    """As in an array: the order of queries counts."""
    weights = pd.Series([1.0, 2.0])
    assert Queries.from_qid(qid).in_order(weights) is weights
    assert NDCG()([0, 1], [1, 0], qid=qid, query_weight=weights) == NDCG()(
        [0, 1], [1, 0], qid=qid, query_weight=[1.0, 2.0]
    )


def test_weights_of_ids_that_read_the_same() -> None:
    """Each takes its own entry; an entry that equals one id is no other's."""
    for ids in ([1, "1"], ["1", "1.0"], [1, "1.0", "x"]):
        weights = {query: float(place) for place, query in enumerate(ids)}
        queries = Queries.from_qid(ids[::-1])
        assert queries.in_order(weights) == [weights[query] for query in ids[::-1]]
    with pytest.raises(ValueError, match="query_weight must have one entry for query '1'"):
        Queries.from_qid([1, "1"]).in_order({1: 2.0})
    with pytest.raises(ValueError, match="one entry for query 1, got 2"):
        Queries.from_qid([1]).in_order({"1": 2.0, "1.0": 3.0})


@pytest.mark.parametrize("group", [[0, 0, 1, 1], [7, 7, 8, 8], ["a", "a", "b", "b"], [3, 1, 0, 0]])
def test_ids_in_group(group: Any) -> None:
    """One entry per row is no size, unless all are 1."""
    with pytest.raises(ValueError, match=r"group must be the sizes .* Pass query ids as qid="):
        Queries.resolve(4, group=group)
    assert Queries.resolve(4, qid=group).n_documents == 4
    assert Queries.resolve(4, group=[1] * 4).n_queries == 4


def test_sizes_in_qid() -> None:
    """They add up to the number of rows."""
    with pytest.raises(ValueError, match=r"one entry per row, 5, got 2\. .*as group="):
        Queries.resolve(5, qid=[2, 3])
    with pytest.raises(ValueError, match=r"qid must have one entry per row, 5, got 2\.$"):
        Queries.resolve(5, qid=[2, 4])
