"""Inside scikit-learn: routing of queries and weights, a search, pipelines, scorers, splits."""

import pickle
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gbrank import (
    AP,
    NDCG,
    GBRanker,
    LambdaRank,
    LinearRanker,
    ListMLE,
    Mixture,
    SLAMPerceptron,
    make_cubic,
    query_train_test_split,
)
from gbrank.evaluation import make_scorer
from gbrank.schedules import geometric

X, Y, QID = make_cubic(24, n_documents=10, n_features=4, random_state=0)
NAMES = np.array([f"query {number}" for number in QID])
WEIGHT = {name: 1.0 + i % 3 for i, name in enumerate(dict.fromkeys(NAMES.tolist()))}
FOLDS = list(GroupKFold(3).split(X, Y, NAMES))


def ranker(**params: Any) -> GBRanker:
    """Return a small ranker."""
    small = {"n_estimators": 4, "num_leaves": 6, "min_child_samples": 5}
    return GBRanker(**small | params, n_jobs=1, random_state=0)


def by_hand(estimator: Any, measure: Any, **weights: Any) -> list[float]:
    """Return the measure of each fold, without scikit-learn's machinery."""
    values = []
    for train, test in FOLDS:
        own = {} if "sample_weight" not in weights else {"sample_weight": weights["sample_weight"]}
        fitted = clone(estimator).fit(
            X[train], Y[train], qid=NAMES[train], **_rows(own, train), **_by_query(weights)
        )
        values.append(
            measure(
                Y[test], fitted.predict(X[test]), qid=NAMES[test], **_rows(own, test),
                **_by_query(weights),
            )
        )  # fmt: skip
    return values


def _rows(weights: dict[str, Any], rows: Any) -> dict[str, Any]:
    return {name: values[rows] for name, values in weights.items()}


def _by_query(weights: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in weights.items() if name == "query_weight"}


# --- Routing ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize(
    "estimator",
    [ranker(), ranker(booster="xgboost"), LinearRanker("regression"), SLAMPerceptron()],
    ids=lambda item: type(item).__name__,
)
def test_queries_reach_fit_and_score(estimator: Any) -> None:
    """With nothing requested by hand; the splitter takes its groups from qid."""
    found = cross_validate(
        estimator, X, Y, cv=GroupKFold(3).set_split_request(groups="qid"), params={"qid": NAMES},
        error_score="raise",
    )["test_score"]  # fmt: skip
    measure = NDCG() if isinstance(estimator, SLAMPerceptron) else NDCG(k=10)
    assert_allclose(found, by_hand(estimator, measure), rtol=1e-12)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("kind", ["sample_weight", "query_weight", "both"])
def test_weights_reach_fit_and_score(kind: str) -> None:
    """Those of documents are split with the rows; those of queries go by query id."""
    weights: dict[str, Any] = {"sample_weight": 1.0 + QID % 4, "query_weight": WEIGHT}
    chosen = weights if kind == "both" else {kind: weights[kind]}
    found = cross_validate(
        ranker(), X, Y, cv=GroupKFold(3), params={"qid": NAMES, "groups": NAMES, **chosen},
        error_score="raise",
    )["test_score"]  # fmt: skip
    assert_allclose(found, by_hand(ranker(), NDCG(k=10), **chosen), rtol=1e-12)
    assert not np.allclose(found, by_hand(ranker(), NDCG(k=10)), rtol=1e-6)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_grid_search_through_a_pipeline(frame: Any) -> None:
    """Every candidate's score is what it is without scikit-learn's machinery."""
    pipeline = make_pipeline(StandardScaler(), ranker())
    search = GridSearchCV(
        pipeline,
        {"gbranker__objective": ["lambda:ndcg@5", LambdaRank(AP())], "gbranker__num_leaves": [3]},
        cv=GroupKFold(3), error_score="raise",
    )  # fmt: skip
    table = frame(X) if frame is np.asarray else frame({f"f{i}": X[:, i] for i in range(4)})
    search.fit(table, Y, qid=NAMES, groups=NAMES)
    for i, objective in enumerate(["lambda:ndcg@5", "lambda:map"]):
        values = []
        for train, test in FOLDS:
            scaler = StandardScaler().fit(X[train])
            own = ranker(objective=objective, num_leaves=3)
            own.fit(scaler.transform(X[train]), Y[train], qid=QID[train])
            values.append(own.score(scaler.transform(X[test]), Y[test], QID[test]))
        assert search.cv_results_["mean_test_score"][i] == pytest.approx(np.mean(values))
    best = search.best_estimator_
    assert search.score(table, Y, qid=NAMES) == pytest.approx(
        NDCG(k=10)(Y, best.predict(table), qid=QID)
    )


# --- Scorers ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("routing")
def test_scorers_judge_any_estimator() -> None:
    """Several at once; a regressor, too, which is itself given no queries."""
    found = cross_validate(
        Ridge(), X, Y, cv=GroupKFold(3),
        params={"qid": NAMES, "groups": NAMES, "query_weight": WEIGHT},
        scoring={"short": make_scorer("ndcg@3"), "map": make_scorer(AP())}, error_score="raise",
    )  # fmt: skip
    for name, measure in (("short", NDCG(k=3)), ("map", AP())):
        expected = [
            measure(Y[test], Ridge().fit(X[train], Y[train]).predict(X[test]), qid=NAMES[test],
                    query_weight=WEIGHT)
            for train, test in FOLDS
        ]  # fmt: skip
        assert_allclose(found[f"test_{name}"], expected, rtol=1e-12)


def test_scorers_are_values() -> None:
    """Compared, printed, pickled; and called without routing, too."""
    scorer = make_scorer("ndcg@10")
    assert scorer == make_scorer(NDCG(k=10)) != make_scorer("ndcg")
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    assert repr(scorer) == "Scorer(measure=NDCG(k=10))"
    fitted = ranker().fit(X, Y, qid=QID)
    assert scorer(fitted, X, Y, QID) == fitted.score(X, Y, QID)
    assert scorer(fitted, X, Y, QID, Y + 1) == scorer(fitted, X, Y, QID, sample_weight=Y + 1)
    assert "sample_weight" in signature(scorer).parameters  # where scikit-learn looks
    with pytest.raises(ValueError, match="unknown metric 'nothing'"):
        make_scorer("nothing")
    with pytest.raises(ValueError, match=r"scorer of ndcg@10 needs qid="):
        scorer(fitted, X, Y)


# --- Splits -----------------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 5), min_size=4, max_size=30),
    test_size=st.one_of(st.none(), st.floats(0.3, 0.7), st.integers(1, 3)),
    seed=st.integers(0, 10),
)
def test_queries_are_never_split(sizes: list[int], test_size: Any, seed: int) -> None:
    """Every row is in one part, in order, with its query; as many queries as scikit-learn says."""
    qid = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows = np.arange(len(qid))
    first, second, of_first, of_second = query_train_test_split(
        rows, qid=qid, test_size=test_size, random_state=seed
    )
    assert not set(of_first) & set(of_second)
    assert_array_equal(np.sort(np.concatenate([first, second])), rows)
    for part, queries in ((first, of_first), (second, of_second)):
        assert (np.diff(part) > 0).all()
        assert_array_equal(qid[part], queries)
    chosen = train_test_split(range(len(sizes)), test_size=test_size, random_state=seed)
    assert [len(set(of_first)), len(set(of_second))] == [len(part) for part in chosen]


def test_split_of_what_scikit_learn_splits() -> None:
    """Frames, sparse matrices and lists stay what they are; without a shuffle, the last queries."""
    parts = query_train_test_split(
        pd.DataFrame(X), pl.DataFrame(X), sp.csr_matrix(X), Y.tolist(), qid=NAMES,
        test_size=6, shuffle=False,
    )  # fmt: skip
    kinds = [pd.DataFrame, pl.DataFrame, sp.csr_matrix, list, np.ndarray]
    assert [type(part) for part in parts] == [kind for kind in kinds for _ in range(2)]
    assert_array_equal(parts[1], X[180:])
    assert_array_equal(parts[4].toarray(), X[:180])
    assert set(parts[9]) == {f"query {number}" for number in range(18, 24)}
    again = [query_train_test_split(Y, qid=QID, random_state=3) for _ in range(2)]
    assert all(map(np.array_equal, *again))


# --- An estimator -----------------------------------------------------------------------------


def test_nested_parameters_survive() -> None:
    """Objectives of objectives through clone, set_params and pickle; a start's own parameters."""
    objective = Mixture([LambdaRank(NDCG(k=5)), ListMLE()], [0.75, 0.25])
    made = ranker(objective=objective, sigma=geometric(1, 0.1), init=ranker(num_leaves=3))
    assert clone(made).objective == objective
    assert made.get_params()["init__num_leaves"] == 3
    assert clone(made).set_params(init__num_leaves=5, objective=LambdaRank()).init.num_leaves == 5
    fitted = made.set_params(init="regression").fit(X, Y, qid=QID)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.get_params(deep=False)["objective"] == objective
