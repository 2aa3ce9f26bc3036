"""Splitters by query inside scikit-learn, and queries that a split by row tears apart."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)

from gbrank import (
    GBRanker,
    LinearRanker,
    Queries,
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    SLAMPerceptron,
    make_cubic,
    query_train_test_split,
)
from gbrank.data.torn_queries import TrainedQueries, warn_of_torn_queries

X, Y, QID = make_cubic(24, n_documents=10, n_features=4, random_state=0)
NAMES = np.array([f"query {number}" for number in QID])
RANKERS = [
    GBRanker(
        "lambda:ndcg",
        n_estimators=4,
        num_leaves=6,
        min_child_samples=5,
        random_state=0,
        n_jobs=1,
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
        (QueryShuffleSplit(2, random_state=0), ShuffleSplit(2, random_state=0)),
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


@pytest.mark.parametrize("arguments", [{"params": {"qid": QID}}, {"groups": QID}], ids=str)
def test_splitters_without_routing(arguments: dict[str, Any]) -> None:
    """An error says that it is off; nothing is NaN."""
    with pytest.raises(ValueError, match=r"QueryKFold.split needs .*enable_metadata_routing=True"):
        cross_validate(RANKERS[0], X, Y, cv=QueryKFold(3), **arguments)


def test_groups_besides_queries() -> None:
    """They are refused, not ignored."""
    for splitter in (QueryKFold(3), QueryShuffleSplit(2), QueryTimeSeriesSplit(2)):
        with pytest.raises(ValueError, match=r"\.split needs qid="):
            next(splitter.split(X, Y, qid=QID, groups=QID))


def test_too_few_queries() -> None:
    """An error that names them, with scikit-learn's reason, at the first split."""
    for splitter, reason in (
        (QueryKFold(25), "n_splits=25 greater than"),
        (QueryTimeSeriesSplit(24), "folds=25 greater than"),
    ):
        with pytest.raises(ValueError, match=rf"qid must have more queries .*{reason}.* got 24"):
            next(splitter.split(X, qid=QID))


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("ranker", RANKERS, ids=str)
@pytest.mark.parametrize("cv", [KFold(3, shuffle=True, random_state=0), KFold(7)], ids=str)
def test_torn_queries_are_noticed(ranker: Any, cv: KFold) -> None:
    """Where rows are split, all queries are torn, or those at the borders."""
    with pytest.warns(UserWarning, match=r"score: .* queries were trained on .*QueryKFold"):
        cross_val_score(ranker, X, Y, cv=cv, params={"qid": NAMES})


@pytest.mark.parametrize("ranker", RANKERS[:2], ids=str)
def test_torn_validation_queries_are_noticed(ranker: Any) -> None:
    """By fit, which names the set."""
    train, test = next(KFold(3, shuffle=True, random_state=0).split(X))
    with pytest.warns(UserWarning, match=r"eval_qid\[1\]: \d+ of 24 queries were trained on"):
        ranker.fit(
            X[train], Y[train], qid=NAMES[train],
            eval_set=[(X[train], Y[train]), (X[test], Y[test])],
            eval_qid=[NAMES[train], NAMES[test]],
        )  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ranker", RANKERS, ids=str)
def test_whole_queries_are_not_called_torn(ranker: Any) -> None:
    """Training data, others that are numbered from 0 again, and sizes in place of ids."""
    ranker.fit(X, Y, qid=QID).score(X, Y, QID)
    ranker.score(*make_cubic(9, n_documents=14, n_features=4, random_state=8))
    half = len(Y) // 2
    ranker.fit(X, Y, group=[half, len(Y) - half]).score(X[:6], Y[:6], QID[:6])
    if ranker in RANKERS[:2]:
        few = {"eval_set": [(X[:6], Y[:6])], "eval_qid": [QID[:6]]}
        ranker.fit(X, Y, group=[half, len(Y) - half], **few)


@pytest.mark.parametrize(
    ("sizes", "warns"),
    [
        ({0: 9, 100: 5, 101: 5}, True),  # few are known, and one has other documents
        ({0: 10, 100: 5, 101: 5}, False),
        ({0: 9, 1: 10, 100: 5}, False),  # most are known, and have about as many
        ({0: 7, 1: 8}, True),
        ({0: 7, 1: 9}, False),
    ],
)
def test_how_many_documents_are_fewer(sizes: dict[int, int], warns: bool) -> None:
    """Three quarters, where most queries are known."""
    trained = TrainedQueries.of(Queries.from_sizes([10] * 20))
    queries = Queries.from_qid(np.repeat(list(sizes), list(sizes.values())))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_torn_queries(trained, queries, "score")
    assert bool(caught) == warns


def test_what_cannot_be_split_is_named() -> None:
    """The argument, before scikit-learn looks at it."""
    for arrays, qid, message in [
        ((X, None), QID, r"^arrays\[1\] must have one row per entry of qid, .*, got None"),
        ((X,), "qid", r"^qid must have one dimension, got shape \(\)"),
        ((X,), set(QID), r"^qid must have one dimension"),
        ((X[:3],), [7, 7, 7], "^qid must have at least two queries to split, got 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            query_train_test_split(*arrays, qid=qid)
