"""Tests of kinds of tables: what `fit` takes, everything takes."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from gbrank import GBRanker, Queries, make_cubic, query_train_test_split
from gbrank.data.documents import take_rows

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

X, Y, QID = make_cubic(20, n_documents=10, n_features=3, random_state=0)
NUMBERED = pd.DataFrame(X)
TUPLES = pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
ONE_COLUMN = [
    pd.DataFrame({"q": QID}),
    pl.DataFrame({"q": QID}),
    QID[:, None],
    QID[:, None].tolist(),
]


def _ranker(**params: Any) -> GBRanker:
    return GBRanker("ranknet", n_estimators=2, min_child_samples=1, n_jobs=1, **params)


@pytest.mark.parametrize("kind", [sp.coo_matrix, sp.bsr_array, sp.dia_matrix, sp.csc_array])
def test_rows_of_sparse_matrices(kind: Any) -> None:
    table = kind(X.round(1))
    chosen = np.array([7, 3])
    assert_array_equal(take_rows(table, chosen).toarray(), X.round(1)[chosen])
    test = query_train_test_split(table, Y, qid=QID, random_state=0)[1]
    assert_array_equal(
        test.toarray(), query_train_test_split(X.round(1), qid=QID, random_state=0)[1]
    )


@pytest.mark.parametrize("table", [sp.coo_array(X), NUMBERED, TUPLES], ids=["coo", "0", "tuples"])
def test_everything_takes_what_fit_takes(table: Any) -> None:
    qid = ONE_COLUMN[0]
    ranker = _ranker(validation_fraction=0.3, random_state=0).fit(table, Y, qid=qid)
    same = _ranker(validation_fraction=0.3, random_state=0).fit(X, Y, qid=QID)
    scores = same.predict(X)
    assert_array_equal(ranker.predict(table), scores)
    assert_array_equal(ranker.rank(table, qid), same.rank(X, QID))
    assert ranker.score(table, Y, qid) == same.score(X, Y, QID)
    assert ranker.explain(table).shape == (200, 4)
    best = ranker.explain_document(table, 1, qid=qid, query=3)
    assert best.scores[0] == max(scores[QID == 3])
    assert ranker.explain_pair(table, 30, 31, qid=qid).gap == scores[30] - scores[31]


@pytest.mark.parametrize("qid", ONE_COLUMN, ids=["pandas", "polars", "array", "list"])
def test_queries_in_one_column(qid: Any) -> None:
    assert_array_equal(Queries.from_qid(qid).index, QID)
    assert_array_equal(Queries.resolve(200, group=np.full((20, 1), 10)).index, QID)
    with pytest.raises(ValueError, match=r"qid must have one dimension, got shape \(200, 2\)"):
        Queries.from_qid(np.c_[QID, QID])
