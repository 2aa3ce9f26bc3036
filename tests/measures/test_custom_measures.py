"""Measures from users' functions of one query."""

import doctest
import pickle
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pandas as pd
import polars as pl
import pytest
import pytrec_eval
import scipy.sparse as sp
from hypothesis import given
from joblib import parallel_config
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

import gbrank
import reference
from gbrank import (
    DCG,
    RR,
    GBRanker,
    cross_validate_rankers,
    custom_measure,
    get_measure,
    list_measures,
    make_cubic,
)
from gbrank.evaluation import dataset, make_scorer
from gbrank.evaluation.dataset import run_in_worker
from gbrank.extend import register_measure
from plain_trees import PLAIN

Vector = NDArray[np.float64]
PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
needs_page = pytest.mark.skipif(not PAGE.parent.exists(), reason="docs/ is not beside the tests")
X, Y, QID = make_cubic(30, n_documents=10, n_features=5, random_state=0)
TRAIN, VALID = QID < 20, QID >= 20


def dcg_at_3(scores: Any, labels: Any) -> Any:
    """Sum the gains of the first three."""
    top = labels[:3]
    return float(((2**top - 1) / np.log2(np.arange(2, 2 + len(top)))).sum())


def first_relevant(scores: Any, labels: Any) -> Any:
    """Return the reciprocal rank, undefined without a relevant document."""
    return 1 / (1 + int(np.argmax(labels > 0))) if (labels > 0).any() else np.nan


@given(reference.queries(8))
def test_documents_come_best_first(query: reference.Query) -> None:
    """Equal scores by rising label: what our own measures call pessimistic."""
    labels, scores = map(np.array, query)
    expected = DCG(k=3, ties="pessimistic", no_relevant=0)(labels, scores, group=[len(labels)])
    assert_allclose(custom_measure(dcg_at_3)(labels, scores, group=[len(labels)]), expected)


@needs_page
def test_bpref_of_the_page() -> None:
    """trec_eval's own C code, on every query; the last query has relevant documents only."""
    data, names = reference.Data(3), {"np": np}
    own = [np.flatnonzero(data.qid == query) for query in range(len(data.sizes))]
    own.append(np.flatnonzero(data.y)[:9])
    judged = {f"q{q}": {f"d{i}": int(data.y[i]) for i in rows} for q, rows in enumerate(own)}
    run = {f"q{q}": {f"d{i}": float(data.scores[i]) for i in rows} for q, rows in enumerate(own)}
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"bpref"}).evaluate(run)
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        if example.source.startswith("def bpref"):
            exec(example.source, names)
    rows, sizes = np.concatenate(own), list(map(len, own))
    ours = custom_measure(names["bpref"]).per_query(data.y[rows], data.scores[rows], group=sizes)
    expected = [
        theirs[f"q{q}"]["bpref"] if data.y[rows].any() else np.nan for q, rows in enumerate(own)
    ]
    assert_allclose(ours, expected, rtol=1e-9)
    assert np.nanstd(ours) > 0.1


def test_queries_in_any_order() -> None:
    """Each is one call; NaN leaves a query out, of weighted means too."""
    rows = np.random.default_rng(0).permutation(len(Y))
    labels = np.where(QID % 3 == 0, 0.0, Y)[rows]
    scores = X[rows, 0].round(1)
    ours, exact = custom_measure(first_relevant), RR(ties="pessimistic")
    assert_allclose(
        ours.per_query(labels, scores, qid=QID[rows]),
        exact.per_query(labels, scores, qid=QID[rows]),
    )
    weights = {query: query + 1.0 for query in range(30)}
    data: dict[str, Any] = {"qid": QID[rows], "query_weight": weights}
    assert_allclose(ours(labels, scores, **data), exact(labels, scores, **data))
    with pytest.raises(ValueError, match="first_relevant is undefined on every query"):
        ours(0 * labels, scores, qid=QID[rows])


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_it_decides_early_stopping(booster: str) -> None:
    """And is `score`; a list may hold functions and names."""

    def fit(metric: Any) -> GBRanker:
        params: dict[str, Any] = {"n_estimators": 40, "early_stopping_rounds": 5, "random_state": 0}
        made = GBRanker("ranknet", booster=booster, eval_metric=metric, **PLAIN | params)
        return made.fit(
            X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], Y[VALID])],
            eval_qid=[QID[VALID]],
        )  # fmt: skip

    ours, exact = fit([dcg_at_3, "map"]), fit([DCG(k=3, ties="pessimistic"), "map"])
    assert list(ours.evals_result_["valid_0"]) == ["dcg_at_3", "map"]
    assert ours.best_iteration_ == exact.best_iteration_
    assert_allclose(ours.best_score_, exact.best_score_)
    assert fit(dcg_at_3).score(X[VALID], Y[VALID], QID[VALID]) == ours.best_score_


def carried(fit: dataset.Fit) -> dataset.FitResult:
    """Run a fit as it is after it was sent to another process."""
    return run_in_worker(pickle.loads(cloudpickle.dumps(fit)))


@pytest.mark.parametrize("backend", ["sequential", pytest.param("loky", marks=pytest.mark.slow)])
def test_comparisons(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In other processes; fast tests send to none what they would."""
    ranker = GBRanker("ranknet", **PLAIN | {"n_estimators": 2})
    if backend == "sequential":
        monkeypatch.setattr(dataset, "run_in_worker", carried)

    def local(scores: Any, labels: Any) -> Any:  # other processes cannot import this file
        top = labels[:3]
        return float(((2**top - 1) / np.log2(np.arange(2, 2 + len(top)))).sum())

    measures = [local, DCG(k=3, ties="pessimistic")]
    with parallel_config(backend):
        compared = cross_validate_rankers(
            {"ranknet": ranker}, X, Y, QID, folds=3, seeds=1, metric=measures, n_jobs=2,
            progress=False,
        )  # fmt: skip
    ours, exact = compared.summary()
    assert ours.metric == "local"
    assert_allclose(ours.mean, exact.mean)


def test_names() -> None:
    """A registered function is known to strings and lists."""
    measure = custom_measure(dcg_at_3, name="top3")
    assert get_measure("top3") == measure
    assert str(pickle.loads(pickle.dumps(measure))) == "top3"
    assert custom_measure(dcg_at_3, name="top3") == measure  # the same cell, run again
    (facts,) = [item for item in list_measures() if item.name == "top3"]
    assert facts.summary == "Sum the gains of the first three."
    for take in (
        lambda: custom_measure(first_relevant, name="top3"),
        lambda: custom_measure(first_relevant, name="map"),
        lambda: register_measure(type("Top", (DCG,), {"name": "top3"})),
    ):
        with pytest.raises(ValueError, match="is taken; choose another name"):
            take()
    with pytest.raises(ValueError, match="option of metric top3 'k'"):
        get_measure("top3@5")
    assert "NDCG" in gbrank.__all__  # what gbrank exports does not depend on it


@pytest.mark.parametrize("returned", [np.inf, "much", None, np.ones(2), 1j, 10**400])
def test_wrong_returns(returned: Any) -> None:
    """The function and the query are named."""

    def wrong(scores: Any, labels: Any) -> Any:
        return returned

    with pytest.raises(ValueError, match=r"wrong must return a finite number.*query 'a'"):
        custom_measure(wrong)([1, 0], [0, 1], qid=["a", "a"])


# --- Columns of features ----------------------------------------------------------------------


def sales(scores: Vector, labels: Vector, price: Vector) -> float:
    """Return the prices of the relevant documents among the first three."""
    return float(price[:3] @ (labels[:3] > 0))


PRICE = np.random.default_rng(1).gamma(2.0, 10.0, len(Y))
ARRAY = np.column_stack([PRICE, X])
FRAME = pd.DataFrame(ARRAY, columns=["price", *(f"x{i}" for i in range(X.shape[1]))])
TABLES = {
    "frame": (FRAME, "price"),
    "frame, by position": (FRAME, 0),
    "polars": (pl.from_pandas(FRAME), "price"),
    "array": (ARRAY, 0),
    "sparse": (sp.csr_matrix(ARRAY), 0),
}


def by_hand(scores: Vector) -> Vector:
    """Return the sales of each query, documents of equal score by rising label, then price."""
    values = []
    for query in dict.fromkeys(QID):
        own = np.flatnonzero(query == QID)
        best = own[np.lexsort((PRICE[own], Y[own], -scores[own]))][:3]
        values.append(PRICE[best] @ (Y[best] > 0))
    return np.array(values)


@pytest.mark.parametrize("table", TABLES)
def test_columns(table: str) -> None:
    """Are those of the documents, whatever holds them and in whatever order rows are."""
    data, column = TABLES[table]
    measure = custom_measure(sales, columns=[column])
    scores = np.random.default_rng(0).integers(0, 5, len(Y)).astype(float)
    assert_allclose(measure.per_query(Y, scores, qid=QID, X=data), by_hand(scores))
    if table == "array":
        order = np.random.default_rng(2).permutation(len(Y))
        mean = measure(Y[order], scores[order], qid=QID[order], X=data[order])
        assert mean == pytest.approx(by_hand(scores).mean())


@pytest.mark.parametrize("table", TABLES)
def test_columns_decide_a_fit(table: str) -> None:
    """Validation sets, given or set aside, `score` and scorers all find them, in both boosters."""
    data, column = TABLES[table]
    booster = ["lightgbm", "xgboost"][list(TABLES).index(table) % 2]
    measure = custom_measure(sales, columns=[column])
    ranker = GBRanker("ranknet", booster=booster, eval_metric=measure, n_estimators=8, n_jobs=1,
                      early_stopping_rounds=5, random_state=0)  # fmt: skip
    ranker.fit(data, Y, qid=QID, eval_set=[(data, Y)], eval_qid=[QID])
    mean = by_hand(ranker.predict(data)).mean()
    assert ranker.best_score_ == pytest.approx(mean)
    assert ranker.score(data, Y, QID) == pytest.approx(mean)
    assert make_scorer(measure)(ranker, data, Y, qid=QID) == pytest.approx(mean)
    ranker.set_params(validation_fraction=0.3).fit(data, Y, qid=QID)
    assert np.isfinite(ranker.best_score_)


def test_columns_by_position_are_those_of_fit() -> None:
    """In whatever order a frame has them later."""
    measure = custom_measure(sales, columns=[0])
    ranker = GBRanker("ranknet", eval_metric=measure, n_estimators=3, n_jobs=1)
    ranker.fit(FRAME, Y, qid=QID)
    mean = by_hand(ranker.predict(FRAME)).mean()
    assert ranker.score(FRAME[FRAME.columns[::-1]], Y, QID) == pytest.approx(mean)


def precision_at_2(y_true: Any, y_score: Any) -> Any:
    """Written as scikit-learn's metrics are, for documents in any order."""
    best = np.argsort(-np.asarray(y_score), kind="stable")[:2]
    return float(np.mean(np.asarray(y_true)[best] > 0))


def falls(labels: Any, scores: Any) -> Any:
    """Whether scores fall, in this order of arguments."""
    return float(scores[0] > scores[-1])


def test_names_of_parameters_decide_their_order() -> None:
    """Labels come first where the function says so; other names get scores first."""
    labels, scores = np.array([0, 1, 1, 0, 0]), np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    assert custom_measure(precision_at_2)(labels, scores, group=[5]) == 0.5
    assert custom_measure(falls)([0, 1], [2.0, 1.0], group=[2]) == 1.0
    assert custom_measure(roc_auc_score)(labels, scores, group=[5]) == pytest.approx(4 / 6)
    for function in (
        lambda a, b: a[0],
        lambda scores, y: scores[0],
        lambda y_pred, y_true: y_pred[0],
    ):
        assert custom_measure(function)(labels, scores, group=[5]) == 5.0


def squared_error(y_true: Any, y_pred: Any, sigma: float) -> Any:
    """Written with labels first, as an objective."""
    error = y_pred - y_true
    return error @ error / 2, error, np.ones_like(error)


def test_objectives_too() -> None:
    """Its loss decides: exchanged arguments change the gradient's sign."""
    bound = gbrank.extend.custom_objective(squared_error).bind(
        [0, 2], gbrank.Queries.from_sizes([2])
    )
    assert bound.gradients([3.0, 1.0])[0].tolist() == [3.0, -1.0]


def test_documents_never_retrieved_come_last() -> None:
    """With −inf, of all labels; what a run did retrieve comes as always."""
    seen = []

    def watch(scores: Any, labels: Any) -> float:
        seen.append((scores.tolist(), labels.tolist()))
        return 1.0

    scores = [1.0, -np.inf, 3.0, -np.inf]
    assert custom_measure(watch)([1, 2, 0, 1], scores, group=[4]) == 1.0
    assert seen == [([3.0, 1.0, -np.inf, -np.inf], [0.0, 1.0, 1.0, 2.0])]


def correlation(scores: Any, labels: Any) -> Any:
    """Undefined where all scores are equal."""
    return np.corrcoef(scores, labels)[0, 1] if np.ptp(scores) else np.nan


def test_a_measure_undefined_for_equal_scores() -> None:
    """It decides a fit and a comparison; its error says why it has no value."""
    ranker = GBRanker(eval_metric=correlation, **PLAIN | {"n_estimators": 3, "random_state": 0})
    ranker.fit(X[TRAIN], Y[TRAIN], qid=QID[TRAIN], eval_set=[(X[VALID], Y[VALID])],
               eval_qid=[QID[VALID]])  # fmt: skip
    assert ranker.best_score_ == ranker.score(X[VALID], Y[VALID], QID[VALID])
    row, *_ = gbrank.compare_scores(
        {"a": X[:, 0], "b": X[:, 1]}, Y, QID, metric=correlation
    ).summary()
    expected = [
        np.corrcoef(X[rows, 0], Y[rows])[0, 1] for rows in np.arange(len(Y)).reshape(-1, 10)
    ]
    assert row.mean == pytest.approx(np.mean(expected), rel=1e-12)
    with pytest.raises(ValueError, match=r"NaN for each, as a correlation does .* equal"):
        custom_measure(correlation)(Y, np.zeros(len(Y)), qid=QID)
