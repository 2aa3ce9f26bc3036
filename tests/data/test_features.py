"""Features: one numeric matrix from whatever users pass as X."""

import itertools
import tracemalloc
from decimal import Decimal
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
from scipy import sparse as sp
from sklearn.base import clone

from frames import frames, read
from gbrank import GBRanker, LinearRanker, make_cubic
from gbrank.data.schema import Schema, feature_columns

NAN = float("nan")
NAMES = ["a", "b", "c"]


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


def test_missing_values() -> None:
    """None and NaN of objects and of pandas are NaN; truth values are 0 and 1."""
    frame = pd.DataFrame({"n": [1, None, 3], "b": [1.0, NAN, 0.0]})
    objects = np.array([[1, True], [None, None], [3, False]], dtype=object)
    for X in (frame, objects):
        assert_array_equal(read(X), [[1, 1], [NAN, NAN], [3, 0]])


GOOD = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"]), "c": [1, 2]})


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix, pd.DataFrame])
def test_an_infinite_value_is_refused_by_its_cell(kind: Any) -> None:
    """By row and column, of which the first is the larger."""
    X = np.arange(30.0).reshape(10, 3) + 1
    X[7, 0] = -np.inf
    with pytest.raises(ValueError, match=r"^X must .* got -inf in row 7 of column '?0'?\.$"):
        GBRanker().fit(kind(X), np.arange(10) % 2, qid=np.zeros(10, int))


def test_columns_in_another_order() -> None:
    """They are taken by name."""
    schema = Schema.learn(GOOD)
    for order in itertools.permutations(GOOD.columns):
        assert_array_equal(schema.transform(GOOD[list(order)]), schema.transform(GOOD))
    wide = pd.DataFrame(np.ones((10_000, 20))).assign(whole=1)
    schema, turned = Schema.learn(wide), wide.sample(frac=1, axis=1, random_state=0)
    tracemalloc.start()
    size = schema.transform(turned).nbytes
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * size  # the ordered copy is gone before the last one is made


def test_mappings_and_objects() -> None:
    """A list of mappings, which only a predictor takes, and objects give what a frame gives."""
    frame = pd.DataFrame({"n": [1.5, np.nan, 3], "t": ["u", None, "v"], "k": [True, False, True]})
    schema = Schema.learn(frame, ["t"])
    wanted = schema.transform(frame)
    rows = [
        {"k": True, "n": Decimal("1.5"), "t": "u"},  # as databases give them
        {"k": False, "t": None, "n": None},
        {"t": "v", "n": 3, "k": True, "more": "x"},
    ]
    assert_array_equal(schema.of_rows(rows), wanted)
    for X in (frame.to_numpy(), frame.to_numpy().tolist()):
        assert_array_equal(schema.transform(X), wanted)
    for wrong, message in (
        ([rows[0], {"k": True, "t": "v"}], "must have 'n' in every mapping.* row 1 lacks it"),
        ([rows[0] | {"n": "1"}], r"'n' holds '1' \(str\), expected numbers"),
        ([rows[0] | {"t": 1}], r"'t' holds 1 \(int\), expected categories that are text"),
    ):
        with pytest.raises(ValueError, match=message):
            schema.of_rows(wrong)
    for X in (rows, frame.to_dict("list")):
        with pytest.raises(ValueError, match="X must have 3 columns, as in fit, got shape"):
            schema.transform(X)
    with pytest.raises(ValueError, match=r"3 columns, as in fit, got shape \(1, 2\)"):
        schema.transform([["u", 1.0]])


def test_arrays_where_there_were_categories() -> None:
    """Numbers are categories of numbers only: codes are private."""
    with pytest.raises(ValueError, match=r"'b' holds 0\.0 .*expected categories that are text"):
        Schema.learn(GOOD).transform(np.zeros((2, 3)))
    numbers = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical([5, 3])})
    read_as = Schema.learn(numbers).transform(np.array([[1, 3], [2, 5.0]]))
    assert_array_equal(read_as, [[1, 0], [2, 1]])
    with pytest.raises(ValueError, match=r"'b' holds Decimal\('5'\) .*categories that are numbers"):
        Schema.learn(numbers).transform([[1, 3], [2, Decimal(5)]])  # Decimal("0.1") is not 0.1
    with pytest.raises(ValueError, match="X must not be masked"):
        Schema.learn(numbers).transform(np.ma.masked_equal([[1, 3], [2, 5.0]], 5))
    with pytest.raises(ValueError, match=r"X must be a data frame, .* got a sparse csr_matrix"):
        Schema.learn(numbers).transform(sp.csr_matrix(np.eye(2)))


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
