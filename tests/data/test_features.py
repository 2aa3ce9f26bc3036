"""Features: one numeric matrix from whatever users pass as X."""

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
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from plain_trees import PLAIN
from scipy import sparse as sp
from sklearn.base import clone

from gbrank import GBRanker, LinearRanker, make_cubic
from gbrank.data.batches import feature_columns
from gbrank.data.schema import Schema

NAN = float("nan")
NAMES = ["a", "b", "c"]
FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def read(X: Any, categorical_feature: Any = None) -> NDArray[Any]:
    """Learn from X, and transform it."""
    return Schema.learn(X, categorical_feature).transform(X)


def columns(matrix: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return a matrix as named columns."""
    return {name: matrix[:, place].copy() for place, name in enumerate(NAMES)}


# --- Numbers ----------------------------------------------------------------------------------

matrices = hnp.arrays(
    st.sampled_from([np.float64, np.float32]), hnp.array_shapes(min_dims=2, max_dims=2),
    elements=st.one_of(st.just(NAN), st.integers(-4, 4)),
)  # fmt: skip


@given(matrices)
def test_float_matrices_are_kept(matrix: NDArray[Any]) -> None:
    """Single precision stays single, NaN stays NaN, lists will do."""
    assert read(matrix).dtype == matrix.dtype
    assert_array_equal(read(matrix), matrix)
    assert_array_equal(read(matrix.tolist()), matrix)
    assert_array_equal(read(np.asfortranarray(matrix)), matrix)
    assert_array_equal(read(matrix.astype(object)), matrix)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.int64, np.float16, object])
def test_other_numbers_become_double(dtype: Any) -> None:
    """Whole numbers and truth values are numbers."""
    matrix = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    assert read(matrix).dtype == np.float64
    assert_array_equal(read(matrix), matrix.astype(float))


@pytest.mark.parametrize(
    "make", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.lil_matrix, sp.csr_array, sp.coo_array]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, bool])
def test_sparse_matrices(make: Any, dtype: Any) -> None:
    """Of any kind; they stay sparse."""
    dense = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 1]], dtype=dtype)
    matrix = read(make(dense))
    assert sp.issparse(matrix)
    assert matrix.format == "csr"
    assert_array_equal(matrix.toarray(), dense)


@frames
@given(matrix=hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.just(3)),
                         elements=st.one_of(st.just(NAN), st.integers(-9, 9))))  # fmt: skip
def test_frames_are_their_columns(frame: Any, matrix: NDArray[Any]) -> None:
    """Names are learnt; a matrix of as many columns may follow."""
    schema = Schema.learn(frame(columns(matrix)))
    assert (schema.names, schema.n_features, schema.categorical) == (NAMES, 3, [])
    assert_array_equal(schema.transform(frame(columns(matrix))), matrix)
    assert_array_equal(schema.transform(matrix), matrix)


MISSING: dict[str, Any] = {
    "pandas NaN": pd.DataFrame({"n": [1, None, 3], "b": [1.0, NAN, 0.0]}),
    "pandas nullable": pd.DataFrame(
        {"n": pd.array([1, None, 3], "Int64"), "b": pd.array([True, None, False], "boolean")}
    ),
    "pandas arrow": pd.DataFrame(
        {"n": pd.array([1, None, 3], "int64[pyarrow]"),
         "b": pd.array([True, None, False], "bool[pyarrow]")}
    ),
    "polars": pl.DataFrame({"n": [1, None, 3], "b": [True, None, False]}),
    "pyarrow": pa.table({"n": [1, None, 3], "b": [True, None, False]}),
    "object": np.array([[1, 1], [None, None], [3, 0]], dtype=object),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISSING)
def test_missing_values(kind: str) -> None:
    """Null, NA, None and NaN are all NaN; truth values are 0 and 1."""
    assert_array_equal(read(MISSING[kind]), [[1, 1], [NAN, NAN], [3, 0]])


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


@pytest.mark.parametrize("values", [[7, 3, 7], [True, False, True], [2.5, 1.5, 2.5]])
def test_categories_that_are_numbers(values: list[Any]) -> None:
    """A categorical column of numbers has codes like others."""
    X = pd.DataFrame({"w": pd.Categorical(values)})
    assert_array_equal(read(X), [[1], [0], [1]])


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


# --- The same model from the same numbers -----------------------------------------------------


@boosters
def test_predictions_do_not_depend_on_the_container(booster: str) -> None:
    """Not by one bit: arrays, frames and sparse matrices, with zeros and missing values."""
    X, y, qid = make_cubic(30, n_documents=10, n_features=3, random_state=0)
    X = np.round(X * 8)  # single precision holds these
    X[np.random.default_rng(0).random(X.shape) < 0.1] = NAN
    kinds = [np.array, lambda X: X.astype(np.float32), np.asfortranarray, sp.csr_matrix]
    kinds += [lambda X, make=make: make(columns(X)) for make in FRAMES.values()]
    fitted = [
        GBRanker(booster=booster, n_estimators=10, n_jobs=1, random_state=0, **PLAIN).fit(
            make(X), y, qid=qid
        )
        for make in kinds
    ]
    expected = fitted[0].predict(X)
    assert len(set(expected)) > 50
    for ranker, make in zip(fitted, kinds, strict=True):
        assert_array_equal(ranker.predict(make(X)), expected)
        assert_array_equal(ranker.predict(X), expected)
        assert_array_equal(fitted[0].predict(make(X)), expected)


@boosters
def test_absent_entries_are_zeros(booster: str) -> None:
    """In sparse matrices, for both boosters: not missing values."""
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (400, 2)).astype(float)
    y, qid = (X[:, 0] == 0).astype(int), np.repeat(np.arange(40), 10)
    ranker = GBRanker(booster=booster, n_estimators=5, n_jobs=1, **PLAIN).fit(
        sp.csr_matrix(X), y, qid=qid
    )
    assert ranker.score(sp.csr_matrix(X), y, qid) == ranker.score(X, y, qid) > 0.95


# --- Refusals ---------------------------------------------------------------------------------


def test_a_sparse_vector_is_refused() -> None:
    vector = sp.coo_array(np.array([1.0, 2.0]))
    if vector.ndim == 2:
        pytest.skip("SciPy before 1.13 makes a matrix of it")
    with pytest.raises(ValueError, match=r"X must have two dimensions, got shape \(2,\)"):
        Schema.learn(vector)


GOOD = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"]), "c": [1, 2]})


@pytest.mark.parametrize(
    ("X", "asked", "message"),
    [
        (np.zeros(3), None, r"X.*two dimensions"),
        (pd.Series([1.0]), None, r"X.*two dimensions"),
        (np.zeros((0, 3)), None, r"X.*at least one row"),
        (np.zeros((3, 0)), None, r"X.*at least one row and one column"),
        (pd.DataFrame({"a": []}), None, r"X.*at least one row"),
        (pl.DataFrame(), None, r"X.*at least one row"),
        (np.array([["u", "v"]]), None, r"X must hold"),
        (np.array([["u", 1]], dtype=object), None, r"X must hold"),
        (np.array([[1j]]), None, r"X must hold real"),
        (pd.DataFrame({"word": ["u"]}), None, r"word.*categorical_feature"),
        (pl.DataFrame({"word": ["u"]}), None, r"word.*categorical_feature"),
        (pl.DataFrame({"word": [None, "u"]}), None, r"word.*categorical_feature"),
        (pd.DataFrame({"day": pd.to_datetime(["2024-01-01"])}), None, "day"),
        (GOOD, ["nope"], r"categorical_feature.*nope"),
        (GOOD, [3], r"categorical_feature.*0 to 2.*3"),
        (GOOD, [-1], r"categorical_feature.*-1"),
        (GOOD, [True], r"categorical_feature.*True"),
        (GOOD, "b", "categorical_feature"),
        (np.zeros((2, 2)), ["a"], r"categorical_feature.*'a'"),
        (np.array([[np.inf]]), None, r"X.*infinite.*NaN"),
        (sp.csr_matrix([[-np.inf]]), None, r"X.*infinite"),
        (pl.DataFrame({"a": [np.inf]}), None, r"X.*infinite"),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt(X: Any, asked: Any, message: str) -> None:
    """The message names X or the column, and what to do."""
    with pytest.raises((ValueError, TypeError), match=message):
        read(X, asked)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (GOOD[["a", "b"]], r"in any order: it lacks \['c'\]\.$"),
        (GOOD.rename(columns={"c": "d"}), r"it lacks \['c'\] and it has \['d'\] besides\.$"),
        (GOOD.assign(a=["u", "v"]), r"'a'.*expected numbers"),
        (GOOD.assign(a=[None, "v"]), r"'a'.*expected numbers"),
        (np.zeros((2, 2)), r"X.*2.*3|X.*frame"),
        (np.zeros((2, 4)), r"X.*4.*3|X.*frame"),
    ],
)
def test_columns_that_differ(X: Any, message: str) -> None:
    """What was learnt from one frame is not applied to another."""
    with pytest.raises(ValueError, match=message):
        Schema.learn(GOOD).transform(X)


def test_columns_in_another_order() -> None:
    """They are taken by name."""
    schema = Schema.learn(GOOD)
    for order in itertools.permutations(GOOD.columns):
        assert_array_equal(schema.transform(GOOD[list(order)]), schema.transform(GOOD))


def test_more_columns_than_those_of_fit() -> None:
    """They are left out, whatever they hold."""
    more = GOOD.assign(d="text")[["d", *GOOD.columns[::-1]]]
    assert_array_equal(Schema.learn(GOOD).transform(more), Schema.learn(GOOD).transform(GOOD))


def test_values_by_name_and_objects() -> None:
    """A mapping of lists, a list of mappings and objects give what a data frame gives."""
    frame = pd.DataFrame({"n": [1.5, np.nan, 3], "t": ["u", None, "v"], "k": [True, False, True]})
    schema = Schema.learn(frame, ["t"])
    wanted = schema.transform(frame)
    lists = frame.to_dict("list")
    mappings = [
        {"k": True, "n": 1.5, "t": "u"},
        {"k": False, "t": None, "n": None},
        {"t": "v", "n": 3, "k": True},
    ]
    for X in (lists, {**lists, "more": [[], {}, "x"]}, mappings):
        assert_array_equal(schema.transform(X), wanted)
    for X in (frame.to_numpy(), frame.to_numpy().tolist()):
        assert_array_equal(schema.transform(X), wanted)
    for wrong, message in (
        ([mappings[0], {"k": True, "t": "v"}], "must have 'n' in every mapping.* row 1 lacks it"),
        ([{"k": True, "t": "v"}], r"it lacks \['n'\]"),
        ({"n": [1], "k": [True]}, r"it lacks \['t'\]"),
        ({**lists, "n": ["1"] * 3}, r"'n' holds '1' \(str\), expected numbers"),
        ({**lists, "t": [1, 2, 3]}, r"'t' holds 1 \(int\), expected categories that are text"),
        ({**lists, "n": [1.0]}, r"columns of one length, got \[1, 3\]"),
        ({"n": 1.0, "t": "u", "k": True}, r"a list of values for each name, got 1\.0 for 'n'"),
        ({"t": "u", "n": 1.0, "k": True}, r"a list of values for each name, got 'u' for 't'"),
        ({"n": [], "t": [], "k": []}, "at least one row"),
        ([["u", 1.0]], r"3 columns, as in fit, got shape \(1, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            schema.transform(wrong)


def test_arrays_where_there_were_categories() -> None:
    """An array has no categories, and codes are private."""
    with pytest.raises(ValueError, match=r"X.*frame"):
        Schema.learn(GOOD).transform(np.zeros((2, 3)))


def test_numbers_where_there_were_strings() -> None:
    """A column that changed its type is not a column of missing values."""
    with pytest.raises(ValueError, match=r"'b'"):
        Schema.learn(GOOD).transform(GOOD.assign(b=[0, 1]))


@pytest.mark.parametrize("value", [0.5, -1, 2**24, 1e10])
def test_bad_numeric_categories(value: float) -> None:
    """Boosters would cast, drop, or abort."""
    X = np.array([[1.0, 2.0], [1.0, value]])
    with pytest.raises(ValueError, match="categor"):
        read(X, [1])
    assert_array_equal(read([[2**24 - 1.0]], [0]), [[2**24 - 1]])
    with pytest.raises(ValueError, match=r"'b'"):
        read(pd.DataFrame({"a": X[:, 0], "b": X[:, 1]}), ["b"])


DAMAGE = {
    "an index below 0": lambda matrix: matrix.indices.__setitem__(0, -1),
    "an index beyond": lambda matrix: matrix.indices.__setitem__(0, 1000),
    "a row that ends before it begins": lambda matrix: matrix.indptr.__setitem__(1, 10**6),
    "a first row that does not begin at 0": lambda matrix: matrix.indptr.__setitem__(0, 1),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_damaged_sparse_matrices(make: Any, damage: str) -> None:
    """They are refused before compiled code reads foreign memory; also by linear rankers."""
    X, y, qid = make_cubic(10, n_documents=10, n_features=4, random_state=0)
    rankers = [
        GBRanker("ranknet", n_estimators=1, n_jobs=1).fit(X, y, qid=qid),
        LinearRanker("regression").fit(X, y, qid=qid),
    ]
    broken = make(X)
    DAMAGE[damage](broken)
    for ranker in rankers:
        for call in (lambda ranker=ranker: ranker.predict(broken),
                     lambda ranker=ranker: clone(ranker).fit(broken, y, qid=qid)):  # fmt: skip
            with pytest.raises(ValueError, match=r"X is a damaged CS[RC] matrix: "):
                call()


def test_damaged_coordinates() -> None:
    """Of a COO matrix."""
    X, y, qid = make_cubic(10, n_documents=10, n_features=4, random_state=0)
    for name in ("row", "col"):
        broken = sp.coo_matrix(X)
        getattr(broken, name)[0] = 10**6
        with pytest.raises(ValueError, match=f"X is a damaged COO matrix: {name} must be"):
            GBRanker("ranknet", n_estimators=1).fit(broken, y, qid=qid)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_entries_that_stand_twice_are_summed(booster: str) -> None:
    """And the given matrix stays as it is."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    X = np.where(X > 0.3, X, 0.0)
    whole = sp.csr_matrix(X)
    halves = sp.csr_matrix(
        (np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), X.shape
    )
    ranker = GBRanker("ranknet", booster=booster, n_estimators=5, n_jobs=1, random_state=0)
    expected = ranker.fit(whole, y, qid=qid).predict(whole)
    assert_array_equal(ranker.fit(halves, y, qid=qid).predict(halves), expected)
    assert halves.nnz == 2 * whole.nnz


def test_sparse_frames_are_refused() -> None:
    """With what to pass in their place."""
    X, y, qid = make_cubic(10, n_documents=10, n_features=4, random_state=0)
    frame = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X))
    with pytest.raises(ValueError, match=r"sparse pandas columns.*X\.sparse\.to_coo\(\)"):
        GBRanker("ranknet").fit(frame, y, qid=qid)
    GBRanker("ranknet", n_estimators=1).fit(frame.sparse.to_coo(), y, qid=qid)


# --- Categories of another kind ---------------------------------------------------------------

TEXT, NUMBERS, TRUTH = ["x", "y"], [3, 5], [True, False]
KINDS: dict[str, tuple[list[Any], list[Any]]] = {
    "numbers, then text": (NUMBERS, ["3", "5"]),
    "numbers, then bytes": (NUMBERS, [b"3", b"5"]),
    "fractions, then text": ([0.5, 1.5], ["0.5", "1.5"]),
    "truth, then text": (TRUTH, ["True", "False"]),
    "text, then numbers": (TEXT, NUMBERS),
    "text of numbers, then numbers": (["3", "5"], NUMBERS),
    "text, then truth": (TEXT, TRUTH),
    "text, then bytes": (TEXT, [b"x", b"y"]),
    "text, then dates": (TEXT, [dt.date(2024, 1, 2), dt.date(2024, 1, 3)]),
    "numbers, then times": (NUMBERS, [dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 3)]),
    "text, then lists": (TEXT, [["x"], ["y"]]),
    "numbers, then lists": (NUMBERS, [[3], [5]]),
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


def test_no_category_is_missing() -> None:
    """NaN in a dictionary is missing, and no category of its own."""
    X = pa.table({"w": pa.array([1.5, NAN, 2.5, NAN]).dictionary_encode()})
    assert Schema.learn(X).categories == {0: [1.5, 2.5]}
    assert_array_equal(read(X), [[0], [NAN], [1], [NAN]])


def test_categories_of_which_fit_saw_none() -> None:
    """Later ones are unknown, of whatever kind; but no lists."""
    schema = Schema.learn(pd.DataFrame({"w": pd.Categorical([None])}))
    assert schema.categories == {0: []}
    for values in (TEXT, NUMBERS):
        assert_array_equal(schema.transform(pd.DataFrame({"w": values})), [[NAN], [NAN]])
    with pytest.raises(
        ValueError, match=r"column 'w' holds .*expected categories that are numbers"
    ):
        schema.transform(pd.DataFrame({"w": [[1], [2]]}))


def test_lists_are_no_categories() -> None:
    """In fit, in our own words."""
    with pytest.raises(ValueError, match=r"column 'w' holds \[1\] \(list\)"):
        Schema.learn(pd.DataFrame({"w": [[1], [2]]}), ["w"])


# --- Columns without a value ------------------------------------------------------------------

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


@pytest.mark.parametrize("kind", EMPTY)
def test_columns_without_a_value(kind: str) -> None:
    """They are missing values of whatever the column held in fit, and numbers in fit."""
    X, expected = EMPTY[kind], [[1, NAN], [2, NAN]]
    learnt = Schema.learn(pd.DataFrame({"v": [1.0, 2.0], "w": [1.0, 2.0]}))
    assert_array_equal(learnt.transform(X), expected)
    assert_array_equal(read(X), expected)
    coded = Schema.learn(pd.DataFrame({"v": [1.0, 2.0], "w": [1, 2]}), ["w"])
    assert_array_equal(coded.transform(X), expected)


def test_single_precision_beside_a_column_without_a_value() -> None:
    """Stays single, and double stays double."""
    both = {"a": np.float32([0.1, 0.2]), "b": [None, None]}
    for frame in (pd.DataFrame, pl.DataFrame, pa.table):
        assert read(frame(both)).dtype == np.float32
        mixed = read(frame({**both, "c": [16777217.0, 1.0]}))
        assert mixed.dtype == np.float64
        assert mixed[0, 2] == 16777217


def test_one_document_without_a_value() -> None:
    """It is scored as with NaN."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=3, random_state=0)
    ranker = GBRanker("ranknet", n_estimators=3, n_jobs=1, random_state=0)
    ranker.fit(pd.DataFrame(columns(X)), y, qid=qid)
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
        ([part([NAN], ["w"]), part([None], ["w"])], [0], {0: []}),
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


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([part([1.5]), part(["x"], dtype="category")], "got categories and numbers in column 'w'"),
        ([part([3], ["w"]), part(["x"], ["w"])], "got categories and codes in column 'w'"),
        ([Schema.learn(np.ones((2, 3))), Schema.learn(np.ones((2, 2)))], "got 3 columns and 2"),
        ([part([3]), Schema.learn(pd.DataFrame({"v": [1]}))], r"got \['w'\] and \['v'\]"),
    ],
)
def test_parts_of_other_types(parts: list[Schema], message: str) -> None:
    """The message names the column."""
    with pytest.raises(ValueError, match=f"X must .* in all partitions, {message}"):
        Schema.union(parts)


# --- Names ------------------------------------------------------------------------------------


def test_names_that_are_the_same_text() -> None:
    """Columns 1 and "1" cannot be told apart in a saved model: refused wherever they are read."""
    X = pd.DataFrame([[1.0, 2.0, 3.0]], columns=[1, "a", "1"])
    message = r"X must have a name of its own for each column.* got 1 and '1'\."
    for learnt in (X[[1, "a"]], X[["a", "1"]], X.to_numpy()):
        with pytest.raises(ValueError, match=message):
            Schema.learn(learnt).transform(X)
    with pytest.raises(ValueError, match=message):
        Schema.learn(X)
    with pytest.raises(ValueError, match=message):
        feature_columns(X, ["1"])
    assert Schema.learn(X[[1, "a"]]).names == ["1", "a"]


def test_a_stored_index_is_no_feature() -> None:
    """Which Arrow has written for pandas, and polars reads as a column."""
    plain = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0]})
    plain = plain.iloc[[2, 0, 1]]
    table = pa.Table.from_pandas(plain)
    assert table.column_names == ["a", "b", "__index_level_0__"]
    for X in (table, pl.from_arrow(table)):
        assert Schema.learn(X).names == ["a", "b"]
        assert_array_equal(Schema.learn(plain).transform(X), plain)
        assert_array_equal(Schema.learn(plain.to_numpy()).transform(X), plain)
        assert_array_equal(feature_columns(X, ["b"]), [[6, 4, 5]])


def test_names_like_that_of_an_index() -> None:
    """They are features."""
    names = ["__index_level_0__x", "a__index_level_0__", "__index_level___"]
    assert Schema.learn(pd.DataFrame([[1, 2, 3]], columns=names)).names == names


def test_columns_that_hold_no_numbers() -> None:
    """Beside one that does."""
    with pytest.raises(ValueError, match=r"columns \['a', 'b'\] of X must hold numbers"):
        feature_columns(GOOD, ["a", "b"])


def test_saved_columns_that_do_not_exist() -> None:
    """Each list of positions is checked."""
    saved = {"n_features": 2, "names": None, "categorical": [], "categories": {}, "empty": [1]}
    assert Schema.restored(saved) == Schema(2, None, [], {}, [1])
    assert Schema.restored({**saved, "empty": []}) == Schema(2, None, [], {})
    with pytest.raises(ValueError, match="a column must be an integer of at least 0 and at most 1"):
        Schema.restored({**saved, "empty": [2]})


@pytest.mark.parametrize("values", [[2**60 + 1, -(2**60)], [2**60 + 1, None], [2**64 - 1, 1]])
def test_integers_that_are_rounded(values: list[Any]) -> None:
    """To the nearest double by every library, as NumPy does."""
    expected = [[NAN if value is None else float(value)] for value in values]
    dtype = "uint64" if max(filter(None, values)) > 2**63 else "int64"
    kinds = [
        pa.table({"a": pa.array(values, dtype)}),
        pl.DataFrame({"a": values}, schema={"a": pl.UInt64 if dtype == "uint64" else pl.Int64}),
        *([pl.DataFrame({"a": values}, schema={"a": pl.Int128})] if hasattr(pl, "Int128") else ()),
        pd.DataFrame({"a": pd.array(values, dtype.replace("i", "I").replace("u", "U"))}),
        pd.DataFrame({"a": pd.array(values, f"{dtype}[pyarrow]")}),
    ]
    for X in kinds:
        assert_array_equal(read(X), expected)
        assert_array_equal(feature_columns(X, [0]), np.transpose(expected))
