"""Features relative to the query: each kind by plain Python, and what gives the same bits."""

import math
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from gbrank import QueryContext
from gbrank.fit import context as context_module

ALL = ["difference", "rank", "zscore", "mean", "gap", "size"]
NAN = float("nan")
MISSING = [NAN] * 5


def of_list(values: Sequence[float]) -> list[list[float]]:
    """Return the five kinds of each value of a query, by exact arithmetic."""
    known = [Fraction(value) for value in values if not math.isnan(value)]
    if not known:
        return [MISSING for _ in values]
    mean, best = sum(known) / len(known), max(known)
    variance = sum((value - mean) ** 2 for value in known) / len(known)
    rows = []
    for value in values:
        if math.isnan(value):
            rows.append(MISSING)
            continue
        own = Fraction(value)
        ranks = [place for place, other in enumerate(sorted(known), 1) if other == own]
        rank = Fraction(sum(ranks), len(ranks) * len(known))
        squared = (own - mean) ** 2 / variance if variance else Fraction(0)
        z = math.copysign(math.sqrt(squared), own - mean)
        rows.append([float(own - mean), float(rank), z, float(mean), float(own - best)])
    return rows


def by_hand(X: Any, qid: Sequence[Any]) -> Any:
    """Return what `ALL` adds to X."""
    rows = defaultdict(list)
    for row, query in enumerate(qid):
        rows[query].append(row)
    n, d = np.shape(X)
    out = np.empty((n, 5 * d + 1))
    for members in rows.values():
        for column in range(d):
            out[members, column : 5 * d : d] = of_list([X[row][column] for row in members])
        out[members, -1] = len(members)
    return out


def make(n: int, seed: int = 0, d: int = 3) -> tuple[Any, Any]:
    """Return columns with ties and missing values, and queries whose rows are no neighbours."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).round(1)
    X[rng.random((n, d)) < 0.1] = np.nan
    X[:, 1] = np.floor(X[:, 1])
    return X, rng.integers(0, max(1, n // 12), n)


VALUES = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, NAN]),
    st.floats(
        -(2.0**100), 2.0**100, allow_subnormal=False, width=32
    ),  # of 64 bits, a z-score loses some
)


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, st.integers(0, 3)), min_size=1, max_size=30))
def test_each_kind_is_what_plain_python_gives(documents: list[tuple[float, int]]) -> None:
    """On lists with ties, missing values and zeros of both signs."""
    X, qid = np.array([[value] for value, _ in documents]), [query for _, query in documents]
    found = QueryContext(ALL).fit_transform(X, qid=qid)
    assert_array_equal(found[:, :1], X)
    expected = by_hand(X, qid)
    scale = np.nanmax(np.abs(np.append(X, 1.0)))
    assert_allclose(found[:, 2:4], expected[:, 1:3], rtol=1e-6, atol=1e-6)
    assert_allclose(found[:, [1, 4, 5]], expected[:, [0, 3, 4]], rtol=1e-6, atol=1e-14 * scale)
    assert_array_equal(found[:, 6], expected[:, 5])


@pytest.mark.parametrize(
    "n",
    [
        120,
        121,
        pytest.param(119, marks=pytest.mark.slow),
        pytest.param(400, marks=pytest.mark.slow),
    ],
)
def test_long_lists(n: int) -> None:
    """They are sorted in another way."""
    X, _ = make(n)
    expected = by_hand(X, [0] * n)
    found = QueryContext(ALL).fit_transform(X, group=[n])
    assert_allclose(found[:, 3:], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("X", [[[5.0]], [[NAN]], [[0.0]]])
def test_a_list_of_one_document(X: Any) -> None:
    """It is its own mean and best, and has rank 1."""
    found = QueryContext(ALL).fit_transform(X, group=[1])[0]
    value = X[0][0]
    known = [0.0, 1.0, 0.0, value, 0.0]
    assert_array_equal(found, [value, *(MISSING if math.isnan(value) else known), 1.0])


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-150, 1e200, 1.7e308])
def test_extreme_values_give_finite_numbers(scale: float) -> None:
    """Ranks and z-scores do not depend on the scale; others end at the largest single number."""
    X = np.array([[-1.0], [0.0], [0.25], [1.0]])
    found = QueryContext(ALL[:-1]).fit_transform(X * scale, group=[4])
    plain = QueryContext(ALL[:-1]).fit_transform(X, group=[4])
    assert np.isfinite(found).all()
    assert_array_equal(found[:, 2], plain[:, 2])
    assert_allclose(found[:, 3], plain[:, 3], rtol=1e-3)
    assert np.abs(found[:, [1, 4, 5]]).max() <= np.finfo(np.float32).max


@pytest.mark.parametrize("n", [200, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_order_of_rows_changes_no_bit(n: int, dtype: Any) -> None:
    """Nor does the order of queries."""
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(n, 4)) * 10.0 ** rng.integers(-8, 8, (n, 4))).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[rng.random(X.shape) < 0.1] = -0.0
    X[rng.random(X.shape) < 0.1] = 0.0
    qid = rng.integers(0, 3, n)
    found = QueryContext(ALL).fit_transform(X, qid=qid)
    assert found.dtype == dtype
    for _ in range(3):
        order = rng.permutation(n)
        again = QueryContext(ALL).fit_transform(X[order], qid=qid[order])
        assert again[:, 4:].tobytes() == found[order, 4:].tobytes()


def test_layouts_and_blocks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever memory looks like, and however much is computed at a time."""
    X, qid = make(300)
    qid = np.sort(qid)
    expected = QueryContext(ALL).fit_transform(X, qid=qid)
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X.tolist()):
        assert_array_equal(QueryContext(ALL).fit_transform(same, qid=qid), expected)
    X.flags.writeable = False
    assert_array_equal(QueryContext(ALL).fit_transform(X, qid=qid), expected)
    found = QueryContext(ALL).fit_transform(sparse.csc_matrix(X), qid=qid)
    assert sparse.issparse(found)
    assert_array_equal(found.toarray(), expected)
    monkeypatch.setattr(context_module, "BLOCK", 50)
    order = np.random.default_rng(0).permutation(len(X))
    found = QueryContext(ALL).fit_transform(X[order], qid=qid[order])
    assert_array_equal(found, expected[order])
    found = QueryContext(ALL).fit_transform(sparse.csr_matrix(X[order]), qid=qid[order])
    assert_array_equal(found.toarray(), expected[order])


def test_columns_and_names() -> None:
    """A mapping chooses columns, by name or position; the order of kinds is always the same."""
    frame = pd.DataFrame({"bm25": [1.0, 2.0], "price": [3, 3], "age": [NAN, 1.0]})
    context = QueryContext({"size": None, "rank": ["price", 0], "mean": None}).fit(frame)
    names = ["rank(bm25)", "rank(price)", "mean(bm25)", "mean(price)", "mean(age)", "size"]
    assert context.added_features_ == names
    assert context.get_feature_names_out().tolist() == [*frame, *names]
    table = context.set_output(transform="pandas").transform(
        frame[["age", "bm25", "price"]], group=[2]
    )
    assert list(table) == [*frame, *names]
    assert_array_equal(table["rank(bm25)"], [0.5, 1.0])
    assert_array_equal(table["mean(age)"], [NAN, 1.0])
    unnamed = QueryContext("gap").fit(frame.to_numpy())
    assert unnamed.get_feature_names_out().tolist()[3:] == ["gap(x0)", "gap(x1)", "gap(x2)"]
    assert not hasattr(unnamed, "feature_names_in_")
    assert clone(context).get_params() == context.get_params()


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ("ranks", "kinds must be one of"),
        ([], "kinds must be one of"),
        ({}, "kinds must be one of"),
        (3, "kinds must be one of .* got 3"),
        ([1], "kinds must .* got"),
        (["rank", "rank"], "kinds must name different kinds"),
        ({"size": [0]}, "kinds must give None for 'size'"),
        ({"rank": "a"}, "kinds must give a list of columns for 'rank'"),
        ({"rank": []}, "kinds must give a list of columns for 'rank'"),
        ({"rank": [True]}, "kinds must hold positions from 0 to 1, got True"),
        ({"rank": [5]}, "kinds must hold positions from 0 to 1, got 5"),
        ({"rank": ["c"]}, "'c'"),
    ],
)
def test_kinds_that_are_none(kinds: Any, message: str) -> None:
    """Each is refused by the name of the argument."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]})
    with pytest.raises((ValueError, TypeError), match=message):
        QueryContext(kinds).fit(frame)


def test_what_else_is_refused() -> None:
    """Queries that are not given, names that are taken, categories."""
    X = np.zeros((3, 1))
    context = QueryContext("rank").fit(X)
    with pytest.raises(ValueError, match=r"QueryContext needs qid=.*group=\[len\(X\)\]"):
        context.transform(X)
    with pytest.raises(ValueError, match="qid must have one entry per row"):
        context.transform(X, qid=[1, 2])
    with pytest.raises(ValueError, match="expecting 1 features"):
        context.transform(np.zeros((3, 2)), group=[3])
    with pytest.raises(ValueError, match=r"X must not have a column 'rank\(a\)'"):
        QueryContext("rank").fit(pd.DataFrame({"a": [1.0], "rank(a)": [1.0]}))
    with pytest.raises(ValueError, match="categorical column 'a'"):
        QueryContext("rank").fit(pd.DataFrame({"a": pd.Categorical(["x"])}))


def test_pipelines_and_column_transformers_pass_queries_on() -> None:
    """Where metadata routing is enabled, without any request by the user."""
    X, qid = make(120)
    X = np.nan_to_num(X)
    y = X[:, 0]
    expected = QueryContext("rank").fit_transform(X[:, [0]], qid=qid)
    with config_context(enable_metadata_routing=True):
        chosen = ColumnTransformer([("near", QueryContext("rank"), [0])], remainder="drop")
        assert_array_equal(chosen.fit_transform(X, qid=qid), expected)
        assert chosen.get_feature_names_out().tolist() == ["near__x0", "near__rank(x0)"]
        pipeline = make_pipeline(chosen, Ridge()).fit(X, y, qid=qid)
        scores = pipeline.predict(X, qid=qid)
    assert_allclose(scores, Ridge().fit(expected, y).predict(expected))


def test_the_sql_of_the_page_gives_the_same() -> None:
    """As services compute it; docs/howto/context.md."""
    duckdb = pytest.importorskip("duckdb")
    page = Path(__file__).parents[2] / "docs" / "howto" / "context.md"
    query = page.read_text(encoding="utf-8").split("```sql\n")[1].split("```")[0]
    X, qid = make(300)
    candidates = pd.DataFrame({"place": range(300), "bm25": X[:, 1], "qid": qid})
    assert candidates["bm25"].isna().any()
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE candidates (place INTEGER, bm25 DOUBLE, qid INTEGER)")
        rows = candidates.astype(object).where(candidates.notna(), None).to_numpy().tolist()
        connection.executemany("INSERT INTO candidates VALUES (?, ?, ?)", rows)
        found = connection.execute(query).df().sort_values("place")
    context = QueryContext(ALL).fit(candidates[["bm25"]])
    expected = context.transform(candidates[["bm25"]], qid=qid)[:, 1:]
    found = found[context.added_features_].to_numpy(float)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
