"""A feature that is a copy of ids, labels or positions is named once, and others are not."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gbrank import GBRanker, LinearRanker, make_cubic

X, Y, QID = make_cubic(20, n_documents=10, n_features=3, random_state=0)
POSITION = np.tile(np.arange(1, 11), 20)
PARAMS: dict[str, Any] = {"n_estimators": 2, "n_jobs": 1}


def warned(recwarn: pytest.WarningsRecorder) -> list[tuple[str, str]]:
    """Return the feature and the argument of each such warning."""
    texts = [str(warning.message) for warning in recwarn]
    pattern = r"feature '(\w+)' is a copy of (\w+), perhaps rescaled\. .* drop it from X\."
    return [match.groups() for text in texts if (match := re.fullmatch(pattern, text))]


@pytest.mark.parametrize(
    ("name", "values", "argument"),
    [
        ("query", QID, "qid"),
        ("reversed", -3.5 * QID, "qid"),
        ("target", 2.0**Y - 1, "y"),
        ("slot", 1 / POSITION, "position"),
    ],
)
def test_a_copy_is_named(
    name: str, values: Any, argument: str, recwarn: pytest.WarningsRecorder
) -> None:
    frame = pd.DataFrame(X, columns=list("abc")).assign(**{name: values})
    GBRanker(**PARAMS).fit(frame, Y, qid=QID, position=POSITION)
    assert warned(recwarn) == [(name, argument)]


def test_ids_that_are_text(recwarn: pytest.WarningsRecorder) -> None:
    """Copied as a category, in rows of any order."""
    order = np.random.default_rng(0).permutation(len(Y))
    qid = np.array([f"q{query}" for query in QID])[order]
    frame = pd.DataFrame(X[order], columns=list("abc")).assign(query=pd.Categorical(qid))
    GBRanker(**PARAMS).fit(frame, Y[order], qid=qid)
    assert warned(recwarn) == [("query", "qid")]


def test_ids_in_another_spelling(recwarn: pytest.WarningsRecorder) -> None:
    """As categories, whose order ("query 10" before "query 2") is not that of the ids."""
    texts = [f"query {query}" for query in QID]
    frame = pd.DataFrame(X, columns=list("abc")).assign(query=pd.Categorical(texts))
    GBRanker(**PARAMS).fit(frame, Y, qid=QID)
    assert warned(recwarn) == [("query", "qid")]


@pytest.mark.parametrize("days", [QID % 19, QID // 2])
def test_a_category_of_several_queries(days: Any, recwarn: pytest.WarningsRecorder) -> None:
    frame = pd.DataFrame(X, columns=list("abc")).assign(day=pd.Categorical(days))
    GBRanker(**PARAMS).fit(frame, Y, qid=QID)
    assert warned(recwarn) == []


def test_sparse_and_linear(recwarn: pytest.WarningsRecorder) -> None:
    copied = np.column_stack([X, QID])
    GBRanker(**PARAMS).fit(sp.csr_matrix(copied), Y, qid=QID)
    LinearRanker("regression").fit(copied, Y, qid=QID)
    assert warned(recwarn) == [("f3", "qid")] * 2


def test_what_is_no_copy(recwarn: pytest.WarningsRecorder) -> None:
    """A fact of queries, one that differs in a row, a noisy label; constants; few rows."""
    other = QID.astype(float)
    other[7] += 0.5
    features = {
        "length": np.random.default_rng(0).permutation(20)[QID],
        "almost": other,
        "noisy": Y + np.arange(len(Y)) % 2 / 10,
        "constant": np.ones(len(Y)),
        "missing": np.where(QID == 3, np.nan, QID),
    }
    frame = pd.DataFrame(features)
    GBRanker(**PARAMS).fit(frame, Y, qid=QID)
    GBRanker(**PARAMS).fit(frame.assign(query=QID)[:40], Y[:40], qid=QID[:40])
    assert warned(recwarn) == []
