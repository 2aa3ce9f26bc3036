"""split_frame, with frames of every library, and data that are not in memory."""

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, split_frame

COLUMNS = {
    "query": ["b", "a", "b", "a", "c"],
    "grade": [2, 0, -1, 1, 0],
    "url": ["u", "v", "w", "x", "y"],
    "bm25": [3.0, 1.5, 2.5, None, 2.0],
    "age": [1, 2, 3, 4, 5],
}
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
ROLES: dict[str, Any] = {"label": "grade", "qid": "query", "drop": ["url"]}


@pytest.fixture(params=LIBRARIES)
def make(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return what makes a frame of each library."""
    return LIBRARIES[request.param]


def test_parts(make: Callable[..., Any]) -> None:
    """Features stay a frame of the same library; rows keep their order."""
    frame = make(COLUMNS)
    X, y, qid = split_frame(frame, **ROLES, unjudged="irrelevant")
    assert type(X) is type(frame)
    assert list(getattr(X, "column_names", getattr(X, "columns", None))) == ["bm25", "age"]
    assert y.tolist() == [2, 0, 0, 1, 0]
    assert y.dtype == np.float64
    assert list(qid) == COLUMNS["query"]


def test_unjudged(make: Callable[..., Any]) -> None:
    """Missing labels and -1 are the same: refused, dropped or irrelevant."""
    missing = make({**COLUMNS, "grade": [2, 0, None, 1, 0]})
    for frame in (make(COLUMNS), missing):
        with pytest.raises(ValueError, match=r"in row 2 \(1 in all\).*unjudged="):
            split_frame(frame, **ROLES)
        X, y, qid = split_frame(frame, **ROLES, unjudged="drop")
        assert np.asarray(X["age"]).tolist() == [1, 2, 4, 5]
        assert y.tolist() == [2, 0, 1, 0]
        assert list(qid) == ["b", "a", "a", "c"]


def test_it_is_what_fit_takes(make: Callable[..., Any]) -> None:
    """The same scores as from arrays."""
    X, y, qid = split_frame(make(COLUMNS), **ROLES, unjudged="drop")
    sizes: dict[str, Any] = {"n_estimators": 3, "min_child_samples": 1, "random_state": 0}
    found = GBRanker(**sizes).fit(X, y, qid=qid).predict(X)
    plain = np.array([[3.0, 1], [1.5, 2], [np.nan, 4], [2.0, 5]])
    assert_array_equal(found, GBRanker(**sizes).fit(plain, y, qid=list(qid)).predict(plain))
    assert np.ptp(found) > 0


def test_an_index_that_arrow_has_stored() -> None:
    """It is no feature, whether it has a name or not, but may be the queries."""
    frame = pd.DataFrame({**COLUMNS, "grade": [0] * 5}).iloc[[0, 2, 1, 4, 3]]
    unnamed = pa.Table.from_pandas(frame)
    assert "__index_level_0__" in unnamed.column_names
    named = pa.Table.from_pandas(frame.rename_axis("place"))
    for table in (unnamed, named, pl.from_arrow(unnamed)):
        assert list(nw.from_native(split_frame(table, **ROLES)[0]).columns) == ["bm25", "age"]
    X, _, qid = split_frame(pa.Table.from_pandas(frame.set_index("query")), **ROLES)
    assert (X.column_names, list(qid)) == (["bm25", "age"], ["b", "b", "a", "c", "a"])
