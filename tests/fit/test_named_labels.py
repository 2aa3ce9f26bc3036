"""Labels by name: objectives and measures are of the label that they name, and of no other."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import (
    AP,
    DCG,
    NDCG,
    GBRanker,
    Precision,
    Queries,
    RankNet,
    get_measure,
    get_objective,
    make_cubic,
)
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.data.documents import Documents
from gbrank.extend import Measure
from gbrank.objectives.on_label import OnLabel

X, Y, QID = make_cubic(40, n_documents=12, n_features=6, random_state=0)
RNG = np.random.default_rng(0)
MARGIN = RNG.integers(0, 4, len(Y)).astype(np.float64)
UNJUDGED = RNG.random(len(Y)) < 0.3
UNJUDGED[QID == 3] = True  # a query without any
SPARSE = np.where(UNJUDGED, np.nan, MARGIN)
QUERIES = Queries.from_qid(QID)
SMALL: dict[str, Any] = {"n_estimators": 8, "min_child_samples": 5, "random_state": 0, "n_jobs": 1}
SCORES = RNG.normal(size=len(Y))

# --- One grammar --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("ndcg@10[margin]", NDCG(k=10, label="margin")),
        ("dcg(gain='linear')@10[margin]", DCG(k=10, gain="linear", label="margin")),
        ("map [price, EUR]", AP(label="price, EUR")),
        ("p@3(threshold=2)[a+b*c]", Precision(k=3, threshold=2, label="a+b*c")),
    ],
)
def test_measures_are_written_and_read(text: str, measure: Measure) -> None:
    """As they were requested."""
    assert str(get_measure(text)) == text
    assert get_measure(text) == measure
    assert get_measure(str(measure)) == measure


@pytest.mark.parametrize(
    "text",
    [
        "lambda:ndcg@5[margin]",
        "lambda:ndcg+0.3*lambda:dcg(gain='linear')[margin]",
        "ranknet[a+b]+2.0*listnet[(x)]",
        "linear(start=1,stop=0)*ranknet[a]+linear(start=0,stop=1)*approx:ap[b]",
    ],
)
def test_objectives_are_written_and_read(text: str) -> None:
    objective = get_objective(text)
    assert str(objective) == text
    assert get_objective(str(objective)) == objective


# --- Gradients and values -----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["noisy:ndcg", "listnet", "approx:ndcg"])
def test_only_judged_documents_have_a_gradient(text: str) -> None:
    """They have that of lists from which the others are missing."""
    bound = get_objective(f"{text}[margin]").bind(Y, QUERIES, labels={"margin": SPARSE})
    gradient, curvature = bound.gradients(SCORES, 0.5, 2)
    kept = ~UNJUDGED
    alone = get_objective(text).bind(MARGIN[kept], Queries.from_qid(QID[kept]))
    expected, curved = alone.gradients(SCORES[kept], 0.5, 2)
    assert_array_equal(gradient[kept], expected)
    assert_array_equal(curvature[kept], curved)
    assert not gradient[UNJUDGED].any()
    assert not curvature[UNJUDGED].any()
    losses = bound.loss(SCORES, 0.5, 2)
    assert losses[3] == 0
    assert_allclose(np.delete(losses, 3), alone.loss(SCORES[kept], 0.5, 2))


def test_unit_curvature_is_of_judged_documents_only() -> None:
    """Others would pull leaves to zero."""
    hook = StagedObjective("ranknet[margin]", curvature="unit")
    bound = hook.bind(Documents.checked(None, Y, QUERIES, labels={"margin": SPARSE}))
    assert_array_equal(hook.derivatives(bound, SCORES, 0)[1], ~UNJUDGED)


def test_weights_of_judged_documents() -> None:
    weights = RNG.uniform(0.5, 2, len(Y))
    bound = OnLabel(RankNet(), "m").bind(
        Y, QUERIES, labels={"m": SPARSE}, sample_weight=weights, query_weight=np.arange(1.0, 41)
    )
    kept = ~UNJUDGED
    alone = RankNet().bind(
        MARGIN[kept], Queries.from_qid(QID[kept]), sample_weight=(weights * (1 + QID))[kept]
    )
    assert_allclose(bound.gradients(SCORES)[0][kept], alone.gradients(SCORES[kept])[0])


def test_a_mixture_of_labels() -> None:
    mixed = get_objective("ranknet+3*ranknet[margin]").bind(Y, QUERIES, labels={"margin": MARGIN})
    gradient, _ = mixed.gradients(SCORES)
    parts = [RankNet().bind(labels, QUERIES).gradients(SCORES) for labels in (Y, MARGIN)]
    (g, h), (g_margin, h_margin) = parts
    assert_allclose(gradient, 0.25 * g / h.mean() + 0.75 * g_margin / h_margin.mean())


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_the_trees_of_the_named_label(booster: str) -> None:
    named = GBRanker("lambdarank[margin]", booster=booster, **SMALL)
    named.fit(X, Y, qid=QID, labels={"margin": MARGIN})
    plain = GBRanker("lambdarank", booster=booster, **SMALL).fit(X, MARGIN, qid=QID)
    assert_array_equal(named.predict(X), plain.predict(X))


def test_a_start_is_on_the_same_label() -> None:
    named = GBRanker("approx:ndcg[margin]", **SMALL).fit(X, Y, qid=QID, labels={"margin": MARGIN})
    plain = GBRanker("approx:ndcg", **SMALL).fit(X, MARGIN, qid=QID)
    assert_array_equal(named.predict(X), plain.predict(X))


def test_measures_of_the_named_label() -> None:
    """Of the queries and documents that are judged, by numbers computed apart."""
    metrics = ["ndcg@5", "ndcg@5[margin]", "ndcg@5[some]"]
    ranker = GBRanker("ranknet", eval_metric=metrics, **SMALL)
    labels = {"margin": MARGIN, "some": np.where(UNJUDGED, -1, MARGIN)}
    ranker.fit(
        X, Y, qid=QID, labels=labels, eval_set=[(X, Y)], eval_qid=[QID], eval_labels=[labels]
    )
    scores, kept, measure = ranker.predict(X), ~UNJUDGED, NDCG(5)
    found = {name: curve[-1] for name, curve in ranker.evals_result_["valid_0"].items()}
    assert found == {
        "ndcg@5": measure(Y, scores, qid=QID),
        "ndcg@5[margin]": measure(MARGIN, scores, qid=QID),
        "ndcg@5[some]": measure(MARGIN[kept], scores[kept], qid=QID[kept]),
    }
    ranker.set_params(eval_metric=metrics[::-1])
    assert ranker.score(X, Y, QID, labels=labels) == found["ndcg@5[some]"]


# --- Where labels come from ---------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_a_frame(library: Any) -> None:
    """They are no features."""
    columns = {f"f{i}": X[:, i] for i in range(6)} | {"margin": SPARSE}
    frame = library.DataFrame(columns)
    objective = "ranknet+ranknet[margin]"
    metric = "ndcg[margin]"
    by_name = GBRanker(objective, eval_metric=metric, **SMALL)
    by_name.fit(frame, Y, qid=QID, labels=["margin"], eval_set=[(frame, Y)], eval_qid=[QID])
    by_value = GBRanker(objective, eval_metric=metric, **SMALL)
    by_value.fit(X, Y, qid=QID, labels={"margin": SPARSE})
    features = frame.drop(columns="margin") if library is pd else frame.drop("margin")
    assert_array_equal(by_name.predict(features), by_value.predict(X))
    assert list(by_name.feature_names_in_) == [f"f{i}" for i in range(6)]
    values = by_name.score(features, Y, QID, labels={"margin": SPARSE})
    assert by_name.evals_result_["valid_0"]["ndcg[margin]"][-1] == values


@pytest.mark.parametrize("weights", ["sample_weight", "query_weight"])
def test_the_score_of_a_label_is_weighted(weights: str) -> None:
    """As that of y is; a query weighs the mean of its documents."""
    ranker = GBRanker("ranknet", eval_metric="ndcg[m]", **SMALL).fit(
        X, Y, qid=QID, labels={"m": MARGIN}
    )
    per_query = 1.0 + np.arange(QUERIES.n_queries) % 3
    given = {weights: per_query[QUERIES.index] if weights == "sample_weight" else per_query}
    found = ranker.score(X, Y, QID, labels={"m": MARGIN}, **given)
    values = get_measure("ndcg").bind(MARGIN, QUERIES).per_query(ranker.predict(X))
    kept = ~np.isnan(values)
    assert_allclose(found, np.average(values[kept], weights=per_query[kept]))
    assert found != ranker.score(X, Y, QID, labels={"m": MARGIN})
