"""Features: one numeric matrix from whatever users pass as X."""

import itertools
from collections.abc import Callable
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
        (GOOD.assign(d=1), r"in any order: it has \['d'\] besides\.$"),
        (GOOD.assign(a=["u", "v"]), r"'a'.*expected numbers"),
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


def test_arrays_where_there_were_categories() -> None:
    """An array has no categories, and codes are private."""
    with pytest.raises(ValueError, match=r"X.*frame"):
        Schema.learn(GOOD).transform(np.zeros((2, 3)))


def test_numbers_where_there_were_strings() -> None:
    """A column that changed its type is not a column of missing values."""
    with pytest.raises(ValueError, match=r"'b'"):
        Schema.learn(GOOD).transform(GOOD.assign(b=[0, 1]))


@pytest.mark.parametrize("value", [0.5, -1, 1e10])
def test_bad_numeric_categories(value: float) -> None:
    """Boosters would cast, drop, or abort."""
    X = np.array([[1.0, 2.0], [1.0, value]])
    with pytest.raises(ValueError, match="categor"):
        read(X, [1])
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
            with pytest.raises(ValueError, match=r"X is a damaged CS[RC] matrix: ind"):
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
