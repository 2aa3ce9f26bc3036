"""Folds, and data sets that are divided into them."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from gbrank import make_cubic
from gbrank.data.splitting import rotations
from gbrank.evaluation import Dataset, LetorFolds, QueryKFold

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)

# --- Folds ------------------------------------------------------------------------------------

QIDS = st.lists(st.integers(0, 12), min_size=3, max_size=60).filter(lambda q: len(set(q)) >= 3)


@given(QIDS, st.integers(3, 8), st.integers(0, 3), st.booleans())
def test_folds_never_split_or_leak_a_query(
    qid: list[int], n_folds: int, seed: int, text: bool
) -> None:
    """Each query is wholly in one part of a fold, and tested and validated exactly once."""
    ids = np.array([f"q{query}" for query in qid] if text else qid)
    n_folds = min(n_folds, len(set(qid)))
    folds = list(LetorFolds(n_folds, random_state=seed).split(None, qid=ids))
    assert len(folds) == n_folds
    for fold in folds:
        assert sorted(np.concatenate(fold)) == list(range(len(ids)))
        train, valid, test = ({*ids[rows]} for rows in fold)
        assert train
        assert valid
        assert test
        assert not train & valid | train & test | valid & test
    for part in ("valid", "test"):
        rows = np.concatenate([getattr(fold, part) for fold in folds])
        assert sorted(rows) == list(range(len(ids)))
    sizes = [len({*ids[fold.test]}) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


@given(QIDS, st.randoms(use_true_random=False))
def test_folds_do_not_depend_on_the_order_of_rows(qid: list[int], random: Any) -> None:
    """Whatever the order of rows and queries, a query is tested by the same fold."""
    shuffled = list(qid)
    random.shuffle(shuffled)
    a, b = (
        [{*np.array(ids)[fold.test]} for fold in LetorFolds(3).split(None, qid=ids)]
        for ids in (qid, shuffled)
    )
    assert a == b


def test_rotation_is_that_of_letor() -> None:
    """Fold 1 trains on S1, S2, S3, validates on S4, tests on S5; fold 2 on S2, S3, S4; S5; S1."""
    folds = [[rows.tolist() for rows in fold] for fold in rotations(np.arange(5))]
    assert folds[:2] == [[[0, 1, 2], [3], [4]], [[1, 2, 3], [4], [0]]]


R = np.arange(96).reshape(12, 8)  # the rows of each query


def test_documents_of_a_fold() -> None:
    """Those of its rows, with the user's own ids, from arrays and frames alike."""
    names = np.array([f"q{query}" for query in QID])
    frame = pd.DataFrame(X, columns=list("abcd"))
    folds = [([3, 1, 2], [8], [16, 17])]
    for table in (X, frame):
        data = Dataset("data", table, Y, names, [*folds, *LetorFolds(3).split(None, qid=names)])
        train, valid, test = data.fold(1)
        assert type(train.X) is type(table)
        assert_array_equal(np.asarray(train.X), X[[3, 1, 2]])
        assert_array_equal(train.y, Y[[3, 1, 2]])
        assert [train.qid.tolist(), valid.qid.tolist()] == [["q0"] * 3, ["q1"]]
        assert_array_equal(data.fold(4)[2].y, Y[data.splits[3].test])
        assert_array_equal(test.qid, ["q2", "q2"])


def test_folds_of_a_splitter() -> None:
    """Those of scikit-learn and gbrank give no rows to validate on; LETOR's do."""
    data = Dataset("data", X, Y, QID, QueryKFold(4))
    assert len(data.splits) == 4
    for fold, (train, test) in zip(data.splits, QueryKFold(4).split(X, qid=QID), strict=True):
        assert_array_equal(fold.train, train)
        assert_array_equal(fold.test, test)
        assert len(fold.valid) == 0
    assert data.fold(2)[1].X.shape == (0, 4)
    once = Dataset("data", X, Y, QID, QueryKFold(4).split(X, qid=QID))  # what a splitter yields
    assert len(once.splits) == 4
    splits = Dataset("data", X, Y, QID, LetorFolds(3)).splits
    for own, same in zip(splits, Dataset("data", X, Y, QID, 3).splits, strict=True):
        for rows, expected in zip(own, same, strict=True):
            assert_array_equal(rows, expected)


def test_columns_of_a_fold() -> None:
    """Each document and query keeps what belongs to it, in whatever order the fold has its rows."""
    weights = {query: float(query + 1) for query in range(12)}
    columns: dict[str, Any] = {"sample_weight": np.arange(96.0), "labels": {"m": np.arange(96) % 5}}
    for own in (weights, np.array(list(weights.values()))):
        data = Dataset("data", X, Y, QID, [(R[3:0:-1].ravel(), R[5])], query_weight=own, **columns)
        rows = data.rows(data.splits[0].train)
        assert rows.queries.ids.tolist() == [3, 2, 1]
        assert rows.query_weight is not None
        assert rows.query_weight.tolist() == [4, 3, 2]
        assert rows.sample_weight is not None
        assert_array_equal(rows.sample_weight, R[3:0:-1].ravel())
        assert_array_equal(rows.labels["m"], R[3:0:-1].ravel() % 5)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0, 1],), "must be (train, valid, test) or (train, test), got ([0, 1],)."),
        (
            ([0, 1], [2, 3], [4, 4]),
            "must hold rows from 0 to 5 in each part, each row at most once, got "
            "([0, 1], [2, 3], [4, 4]).",
        ),
        (
            ([0, 1], [], [4, 9]),
            "must hold rows from 0 to 5 in each part, each row at most once, got "
            "([0, 1], [], [4, 9]).",
        ),
        (([0], [1, 2, 3]), "must not split a query, got query 'a' in two of its parts."),
    ],
)
def test_malformed_folds(parts: Any, message: str) -> None:
    """Are refused by the number of the fold."""
    qid = ["a", "a", "b", "b", "c", "c"]
    with pytest.raises(ValueError, match=f"^{re.escape(f'folds[0] {message}')}$"):
        Dataset("six", np.zeros((6, 1)), [1, 0] * 3, qid, folds=[parts])
