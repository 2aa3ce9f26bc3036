"""Splitters by query inside scikit-learn."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score

from gbrank import GBRanker, LinearRanker, SLAMPerceptron, make_cubic
from gbrank.evaluation import QueryKFold, QueryTimeSeriesSplit

X, Y, QID = make_cubic(24, n_documents=10, n_features=4, random_state=0)
NAMES = np.array([f"query {number}" for number in QID])
RANKERS = [
    GBRanker(
        "lambda:ndcg", n_estimators=4, num_leaves=6, min_child_samples=5, random_state=0, n_jobs=1
    ),
    LinearRanker("ranknet", n_steps=1),
    SLAMPerceptron(),
]


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize(
    ("splitter", "by_row"),
    [
        (QueryKFold(3), KFold(3)),
        (QueryKFold(3, shuffle=True, random_state=1), KFold(3, shuffle=True, random_state=1)),
        (
            QueryTimeSeriesSplit(2, max_train_size=4, test_size=2, gap=1),
            TimeSeriesSplit(2, max_train_size=4, test_size=2, gap=1),
        ),
    ],
    ids=str,
)
def test_splitters(splitter: Any, by_row: Any) -> None:
    """They split queries, in order of appearance, as scikit-learn does rows; and ask for qid."""
    appeared = np.array(list(dict.fromkeys(NAMES.tolist())))
    expected = [
        [np.flatnonzero(np.isin(NAMES, appeared[part])) for part in parts]
        for parts in by_row.split(np.empty(len(appeared)))
    ]
    for found, wanted in zip(splitter.split(X, Y, qid=NAMES), expected, strict=True):
        assert_array_equal(found[0], wanted[0])
        assert_array_equal(found[1], wanted[1])
    assert splitter.get_n_splits() == len(expected)
    assert repr(pickle.loads(pickle.dumps(splitter))) == repr(splitter)
    ranker = RANKERS[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = cross_val_score(ranker, X, Y, cv=splitter, params={"qid": NAMES})
        search = GridSearchCV(ranker, {"num_leaves": [6]}, cv=splitter).fit(X, Y, qid=NAMES)
    by_hand = [
        clone(ranker).fit(X[train], Y[train], qid=NAMES[train]).score(X[test], Y[test], NAMES[test])
        for train, test in expected
    ]
    assert_array_equal(values, by_hand)
    assert search.best_score_ == pytest.approx(np.mean(by_hand))


def test_queries_in_any_order() -> None:
    """Rows of a query need not stand together, and keep their order."""
    shuffled = np.random.default_rng(0).permutation(NAMES)
    tested = []
    for train, test in QueryKFold(5).split(None, qid=shuffled):
        assert not set(shuffled[train]) & set(shuffled[test])
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
        tested += test.tolist()
    assert sorted(tested) == list(range(len(NAMES)))
