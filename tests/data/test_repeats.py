"""Rows that repeat a document of their query are counted alike in tables of every kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from gbrank import Queries
from gbrank.data.lookup import count_repeated_names, count_repeated_rows


@pytest.mark.parametrize("grades", [2, 50])
def test_equal_rows_in_tables_of_every_kind(grades: int) -> None:
    """Of the same query, label and features; NaN equals NaN, and 0 equals −0."""
    rng = np.random.default_rng(grades)
    X = rng.integers(0, grades, (3000, 3)) / 1024
    X[::7, 1] = np.nan
    X[::11, 2] *= -1
    y, qid = rng.integers(0, 2, 3000).astype(float), rng.integers(0, 40, 3000)
    rows = {
        (query, label, *(None if np.isnan(value) else value + 0.0 for value in row))
        for query, label, row in zip(qid, y, X.tolist(), strict=True)
    }
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for table in (X, sp.csr_matrix(X), frame, pl.from_pandas(frame)):
        assert count_repeated_rows(table, qid, y) == 3000 - len(rows)


def test_names() -> None:
    """A name may be missing, and be that of a document of another query."""
    queries = Queries.from_qid([1, 1, 1, 2, 2, 2])
    assert count_repeated_names(["a", "b", "a", "a", None, None], queries) == 1


def test_rows_that_differ_after_seven_digits_differ() -> None:
    """Times in seconds, which single precision rounds to minutes."""
    times = 1_700_000_000 + np.arange(100.0).reshape(50, 2)
    qid = np.repeat(np.arange(5), 10)
    for table in (times, sp.csr_matrix(times), pd.DataFrame(times, columns=["from", "to"])):
        assert count_repeated_rows(table, qid) == 0
    assert count_repeated_rows(np.repeat(times, 2, axis=0), np.repeat(qid, 2)) == 50
