"""Query ids: never merged on the way to NumPy, and equal ones draw the same."""

import datetime as dt
import enum
import hashlib
import json
import subprocess
import sys
from collections import UserList, deque, namedtuple
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gbrank import GBRanker, Queries, split_frame
from gbrank.data.ids import find_matches

Pair = namedtuple("Pair", "first second")
Number = enum.IntEnum("Number", {"THREE": 3, "BIG": 2**63 + 1, "BIGGER": 2**63 + 2})
DAY = dt.datetime(2024, 1, 2)


class Text(str):
    """A text of a class of its own."""


class Colour(str, enum.Enum):
    """A text and a name."""

    RED = "a"


def arrow_series(values: list[Any], dtype: pa.DataType) -> pd.Series:
    """Return a series of pandas that Arrow holds."""
    return pd.Series(pd.array(values, dtype=pd.ArrowDtype(dtype)))


def long_series(values: list[Any], name: str = "Int128") -> Any:
    """Return a polars series of 128 bits, or a list where polars has none (before 1.18)."""
    return pl.Series(values, dtype=getattr(pl, name)) if hasattr(pl, name) else values


APART: dict[str, Any] = {
    "polars text": pl.Series(["a\0", "a"]),
    "polars Enum": pl.Series(["a\0", "a"], dtype=pl.Enum(["a\0", "a"])),
    "polars bytes": pl.Series([b"a\0", b"a"]),
    "arrow text": pa.array(["a\0", "a"]),
    "arrow chunks": pa.chunked_array([["a\0"], ["a"]]),
    "pandas arrow text": arrow_series(["a\0", "a"], pa.string()),
    "polars 128 bits": long_series([2**100, 2**100 + 1]),
    "polars unsigned 128 bits": long_series([2**100, 2**100 + 1], "UInt128"),
    "pandas nullable": pd.Series([2**60, 2**60 + 1], dtype="Int64"),
    "deque": deque(["a\0", "a"]),
    "deque of integers": deque([2**63 + 1, 2**63 + 2, -1]),
    "UserList": UserList([(1, 2), (1, 3)]),
    "mixed in a deque": deque([1, "1"]),
    "named tuples": [Pair(1, 2), Pair(1, 3)],
    "IntEnum": [Number.BIG, Number.BIGGER, -1],
    "IntEnum alone": [Number.BIG, Number.BIGGER],
    "subclass of str": [Text("a\0"), Text("a")],
    "NumPy's text": [np.str_("a\0"), np.str_("a")],
    "long integers": [10**5000, 10**5000 + 1],
    "text that speaks of an address": [("at 0xdeadbeef", 1), ("at 0xdeadbeef", 2)],
    "large decimals": [Decimal("1E+99999999"), Decimal("1E+99999998")],
    "text and bytes": [b"a", "a"],
    "a date and a time": [DAY.date(), DAY],
    "truth and text": [False, "False"],
    "text": ["a", "a\0"],  # which NumPy cuts
    "bytes": [b"a", b"a\0"],
    "beyond 63 bits": [2**63, 2**63 + 1, -1],  # float64 to NumPy
    "beyond 64 bits": [2**70, 2**70 + 1, 0],
    "tuples": [(1, 2), (1, 3), (2, 1)],
    "numbers and text": [1, "1", (1,)],
}


@pytest.mark.parametrize("kind", APART)
def test_ids_that_stay_apart(kind: str) -> None:
    """As many queries as there are ids, in a series and in a sequence."""
    ids = APART[kind]
    queries = Queries.from_qid(ids)
    assert queries.n_queries == len(ids)
    assert queries.sizes.tolist() == [1] * len(ids)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
@pytest.mark.parametrize("kind", ["polars text", "polars 128 bits"])
def test_columns_that_stay_apart(kind: str, make: Callable[..., Any]) -> None:
    """In the queries of a split frame, too."""
    ids = APART[kind]
    if isinstance(ids, list) and make is pl.DataFrame:
        pytest.skip("this version of polars has no integers of 128 bits")
    if make is pa.table and kind == "polars 128 bits":
        ids = pa.array([2**100, 2**100 + 1], pa.decimal128(38))
    elif make is pa.table:
        ids = ids.to_arrow()
    qid = split_frame(make({"qid": ids, "label": [1, 0], "x": [1.0, 2.0]}))[2]
    assert len(set(qid.tolist())) == 2


EQUAL: dict[str, list[Any]] = {
    "integers": [
        [3], (3,), range(3, 4), deque([3]), UserList([3]), np.array([3]),
        np.array([3], np.uint8), np.array([3], object), np.array([np.int64(3)], object), [3.0],
        np.array([3.0], np.float32), np.array([np.float16(3)], object), [Number.THREE],
        np.array([Number.THREE, "x"], object)[:1], np.array([3.0, "x"], object)[:1],
        pd.Series([3], dtype="Int64"), pd.Series([3], dtype="category"), pl.Series([3]),
        long_series([3]), pa.array([3]), np.array([3], np.longdouble), ["3"], ["3.0"],
    ],
    "truth": [
        [True], [1], [1.0], np.array([True]), np.array([np.bool_(True)], object),
        pd.Series([True], dtype="boolean"), pl.Series([True]),
    ],
    "negative": [[-3], [-3.0], np.array([-3]), np.array([-3], object), ["-3"]],
    "large": [[2**52], [2.0**52], np.array([2**52], np.uint64), [str(2**52)]],
    "beyond 64 bits": [[2**70], long_series([2**70]), [str(2**70)]],
    "unsigned": [[2**63 + 1], np.array([2**63 + 1], np.uint64), np.array([2**63 + 1], object)],
    "text": [
        ["a"], np.array(["a"]), np.array(["a"], object), [np.str_("a")], [Text("a")],
        [Colour.RED], pl.Series(["a"]), pl.Series(["a"], dtype=pl.Categorical),
        pd.Series(["a"], index=[7]),
        pd.Series(["a"], dtype="category"),
        pa.array(["a"]), pa.array(["a"]).dictionary_encode(), deque(["a"]),
    ],
    "tuples": [[(1, 2)], deque([(1, 2)]), np.array([(1, 2)], "i8,i8")],
    "days": [[DAY.date()], pl.Series([DAY.date()]).to_list(), np.array([DAY.date()], object)],
}  # fmt: skip


def key(ids: Any) -> int:
    """Return the key of the only id."""
    (found,) = Queries.from_qid(ids).id_keys.tolist()
    return int(found)


@pytest.mark.parametrize("kind", EQUAL)
def test_equal_ids_have_the_same_key(kind: str) -> None:
    """Whatever type and container hold them."""
    first, *others = EQUAL[kind]
    for other in others:
        assert key(other) == key(first), repr(other)


def test_other_ids_have_other_keys() -> None:
    """One or another kind of which could be taken for one of another."""
    ids = [
        3, -3, 2**70, "03", "0.5", b"3", (3,), ((3,),), ("03",), "", (), 1j, 2**64,
        dt.date(2024, 1, 3), dt.time(3), dt.timedelta(3), np.timedelta64(3, "Y"), Decimal(3),
        np.timedelta64(3, "M"), 3 + 1j, (1, 2), (2, 1), *map(pd.Timestamp, range(3)),
    ]  # fmt: skip
    assert len({key([item]) for item in ids}) == len(ids)


@pytest.mark.parametrize("value", [0.5, 2.0**53, -(2.0**53), float("inf")])
@pytest.mark.parametrize("make", [np.array, list, pd.Series, pl.Series, tuple, deque])
def test_floats_that_are_no_integers(make: Callable[..., Any], value: float) -> None:
    """A float that rounds, or may stand for several integers, is no id; the row is named."""
    with pytest.raises(ValueError, match=r"qid must hold integers or text .*row 2"):
        Queries.from_qid(make([1.0, 2.0, value]))
    with pytest.raises(ValueError, match="qid must hold integers or text"):
        Queries.from_qid(np.array([1, "a", value], object))


def test_whole_floats_are_integers() -> None:
    queries = Queries.from_qid([2.0, 1.0, 2.0, -0.0, 2.0**53 - 1])
    assert queries.ids.dtype == np.int64
    assert queries.ids.tolist() == [2, 1, 0, 2**53 - 1]


def test_other_ids_are_compared_by_their_repr() -> None:
    """And stay what they are."""
    ids = [Decimal(3), 3, "3", Decimal("3.0"), Decimal(3), (1, 2), (1, 2)]
    queries = Queries.from_qid(np.array([*ids, None], object)[:-1])
    assert queries.ids.tolist() == [Decimal(3), 3, "3", Decimal("3.0"), (1, 2)]
    assert list(map(repr, queries.ids))[::3] == ["Decimal('3')", "Decimal('3.0')"]
    assert queries.sizes.tolist() == [2, 1, 1, 1, 2]


def test_keys_of_earlier_versions() -> None:
    """Integers are their own; text has a hash that no process changes."""
    assert Queries.from_qid([5, -1]).id_keys.tolist() == [5, 2**64 - 1]
    code = (
        "from gbrank import Queries\n"
        "ids = ['x', ('x', b'y', 0.5), 10**400, True]\n"
        "print(Queries.from_qid(ids).id_keys.tolist())"
    )
    command, path = [sys.executable, "-c", code], ":".join(sys.path)
    outputs = [
        subprocess.check_output(command, env={"PYTHONHASHSEED": seed, "PYTHONPATH": path})
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    of_x = int.from_bytes(hashlib.blake2b(b"'x'", digest_size=8).digest(), "little")
    assert json.loads(outputs[0])[0] == of_x


def test_equal_ids_train_the_same_model() -> None:
    """With a sample of the queries, and some held out."""
    rng = np.random.default_rng(0)
    X, y, number = rng.normal(size=(400, 3)), rng.integers(0, 3, 400), np.repeat(np.arange(40), 10)
    pairs = [(q, 0) for q in number.tolist()]
    kinds: dict[str, list[Any]] = {
        "numbers": [number, number.astype(object), number.astype(float), deque(number.tolist())],
        "pairs": [pairs, deque(pairs)],
    }
    ranker = GBRanker(
        n_estimators=5, subsample=0.5, validation_fraction=0.3, random_state=0, n_jobs=1
    )
    for ids in kinds.values():
        scores = [ranker.fit(X, y, qid=qid).predict(X).tolist() for qid in ids]
        assert len(set(scores[0])) > 5
        assert all(other == scores[0] for other in scores)


@pytest.mark.parametrize(
    ("wanted", "known", "places"),
    [
        ([1, "1"], ["1", 1], [[1], [0]]),
        ([1, "1"], [1], [[0], []]),  # an entry that equals one id is no other's
        ([1, "1.0"], ["1"], [[], []]),
        ([1, "1"], ["1", "1.0"], [[], [0]]),
        ([1], ["1", "1.0"], [[0, 1]]),
        (["1.0"], ["1", "1.0"], [[1]]),
        ([2, 1, 2], ["1", "2"], [[1], [0], [1]]),
        ([1, 3], [1, 1, True], [[0, 1, 2], []]),
    ],
)
def test_an_id_equals_itself_before_others(
    wanted: list[object], known: list[object], places: list[list[int]]
) -> None:
    """By the key only where nothing is equal, and the key leaves no choice."""
    assert find_matches(wanted, known) == places
