"""The compiled measures against enumeration, closed forms, and other people's programs."""

from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import lightgbm
import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import dcg_score, ndcg_score

import gbrank
import reference
from cases import groups, loop
from gbrank import AP, DCG, NDCG, RR, Precision, Recall

MEASURES = reference.by_measure(reference.CASES)
every_measure = groups("name, parameters", MEASURES)
some_measures = groups("name, parameters", MEASURES, slow=MEASURES.keys() - {"NDCG", "AP", "ERR"})
TIES = ("average", "pessimistic", "optimistic", "order")
NAMES = list(reference.VALUES)


# --- The reference itself, by hand ------------------------------------------------------------


@pytest.mark.parametrize(("name", "parameters", "labels", "expected"), reference.BY_HAND)
def test_reference_by_hand(
    name: str, parameters: dict[str, Any], labels: list[float], expected: float | None
) -> None:
    """The slow formulas give what pencil and paper give, and the compiled ones follow."""
    assert reference.VALUES[name](labels, **parameters) == pytest.approx(expected)
    actual = getattr(gbrank, name)(**parameters).per_query(labels, -np.arange(len(labels)))
    assert_allclose(actual, [np.nan if expected is None else expected])


# --- Enumeration and closed forms -------------------------------------------------------------


@some_measures
@given(reference.queries(6), st.sampled_from(["skip", 0, 1]))
@settings(max_examples=8, deadline=None)
def test_all_orders_of_tied_documents(
    name: str, parameters: dict[str, Any], query: reference.Query, empty: Any
) -> None:
    """Every tie rule is exact, and no_relevant decides where there is nothing to measure."""
    value = partial(reference.VALUES[name], **parameters)
    for ties in TIES:
        measure = getattr(gbrank, name)(**parameters, ties=ties, no_relevant=empty)
        expected = reference.tied(value, *query, ties)
        if expected is None:
            expected = np.nan if empty == "skip" else empty
        assert_allclose(measure.per_query(*query), [expected], rtol=1e-12, atol=1e-15)


@every_measure
def test_long_untied_lists(name: str, parameters: dict[str, Any]) -> None:
    """200 documents in 200 places: all tie rules agree with the plain formula."""
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(0, 5, 200), rng.permutation(200) / 7
    ranked = [float(label) for label in labels[np.argsort(-scores)]]
    expected = reference.VALUES[name](ranked, **parameters)
    for ties in TIES:
        measure = getattr(gbrank, name)(**parameters, ties=ties)
        assert_allclose(measure(labels, scores), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["AP", "RR", "ERR", "Precision", "Recall", "RBP"])
@loop("k", [None, 4, 9])
def test_binary_block_of_twelve(name: str, k: int | None) -> None:
    """Five relevant documents among twelve tied ones, between documents that are not tied."""
    value = partial(reference.VALUES[name], k=k)
    above, below = [1, 0], [0, 1, 0]
    blocks = [[int(i in hits) for i in range(12)] for hits in combinations(range(12), 5)]
    values = [value([*above, *block, *below]) for block in blocks]
    scores = [9, 8, *[5] * 12, 3, 2, 1]
    for ties, summarise in (("average", np.mean), ("pessimistic", min), ("optimistic", max)):
        measure = getattr(gbrank, name)(k=k, ties=ties)
        actual = measure([*above, *blocks[100], *below], scores)
        assert_allclose(actual, summarise(values), rtol=1e-12)


def test_thousands_of_tied_documents() -> None:
    """Constant scores: rank r holds a relevant document with probability R / m."""
    m, relevant = 3000, 40
    labels, scores, ranks = np.arange(m) < relevant, np.zeros(m), np.arange(1, m + 1)
    hits = 1 + (ranks - 1) * (relevant - 1) / (m - 1)  # down to a rank that holds one
    assert_allclose(AP()(labels, scores), np.mean(hits / ranks), rtol=1e-10)
    first = [comb(m - r, relevant - 1) / comb(m, relevant) for r in range(1, m - relevant + 2)]
    assert_allclose(RR()(labels, scores), sum(p / r for r, p in enumerate(first, 1)), rtol=1e-10)
    assert_allclose(Precision(k=7)(labels, scores), relevant / m, rtol=1e-12)
    assert_allclose(Recall(k=7)(labels, scores), 7 / m, rtol=1e-12)


def test_scores_tie_only_when_equal() -> None:
    """Zero has one value whatever its sign; the smallest double is not zero; 1e300 is a score."""
    assert RR()([0, 1], [0.0, -0.0]) == 0.75
    assert RR()([0, 1], [0.0, 5e-324]) == 1
    assert RR()([1, 0, 0], [-1e300, 1e300, 0.0]) == pytest.approx(1 / 3)


# --- Other people's programs ------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 1, 3, 10, 50])
@pytest.mark.parametrize("tied", [False, True])
def test_scikit_learn(k: int | None, tied: bool) -> None:
    """scikit-learn takes gains as they are, averages ties, gives 0 where nothing is relevant."""
    data = reference.Data(2, tied=tied)
    ours = NDCG(k=k, no_relevant=0).per_query(data.y, data.scores, qid=data.qid)
    dcg = DCG(k=k, no_relevant=0).per_query(data.y, data.scores, qid=data.qid)
    for query in np.flatnonzero(data.sizes > 1):
        own = data.qid == query
        args = [2.0 ** data.y[own] - 1], [data.scores[own]]
        assert_allclose(ours[query], ndcg_score(*args, k=k), rtol=1e-12)
        assert_allclose(dcg[query], dcg_score(*args, k=k), rtol=1e-12)


def test_lightgbm() -> None:
    """LightGBM's metrics of given scores: a constant feature, so that no tree changes them."""
    data, cuts, history = reference.Data(4), [1, 3, 5, 50], {}
    dataset = lightgbm.Dataset(
        np.ones((len(data.y), 1)), data.y, group=data.sizes, init_score=data.scores
    )
    parameters = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": cuts}
    record = lightgbm.record_evaluation(history)
    lightgbm.train(parameters | {"verbosity": -1}, dataset, 1, [dataset], callbacks=[record])
    for k in cuts:
        for name, measure in (("ndcg", NDCG), ("map", AP)):
            ours = measure(k=k, no_relevant=1)(data.y, data.scores, group=data.sizes)
            assert_allclose(ours, history["training"][f"{name}@{k}"][0], rtol=1e-7)


def test_xgboost() -> None:
    """XGBoost's metrics of given scores: a base margin and no round."""
    data, cuts = reference.Data(5), [1, 3, 5, 50]
    relevant = (data.y >= 1).astype(int)
    for metric, measure, labels in (("ndcg", NDCG, data.y), ("map", AP, relevant)):
        names = [f"{metric}@{k}" for k in cuts]
        given_scores = xgboost.DMatrix(
            np.ones((len(labels), 1)), labels, group=data.sizes, base_margin=data.scores
        )
        settings = {"objective": f"rank:{metric}", "eval_metric": names, "nthread": 1}
        report = xgboost.train(settings, given_scores, 0).eval(given_scores)
        theirs = [float(part.split(":")[1]) for part in report.split("\t")[1:]]
        ours = [measure(k=k, no_relevant=1)(labels, data.scores, group=data.sizes) for k in cuts]
        assert_allclose(ours, theirs, rtol=1e-6)


# --- Queries and weights ----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@loop("ties", TIES)
def test_mixed_rows_of_all_queries(name: str, ties: str) -> None:
    """Queries come in order of appearance; only ties="order" looks at the order of their rows."""
    data, rng = reference.Data(6, tied=True), np.random.default_rng(0)
    rows = rng.permutation(len(data.y))
    if ties == "order":  # mix the queries, but leave each one's rows in order
        rows = np.argsort(np.argsort(data.qid[rows], kind="stable"))
    qid = data.qid[rows]
    measure = getattr(gbrank, name)(ties=ties)
    by_query = measure.per_query(data.y, data.scores, group=data.sizes)
    mixed = measure.per_query(data.y[rows], data.scores[rows], qid=qid.astype(str))
    appearance = qid[np.sort(np.unique(qid, return_index=True)[1])]
    assert_allclose(mixed, by_query[appearance], rtol=1e-12)


def test_weighted_mean() -> None:
    """A query's weight is its own times the mean of its documents'; skipped queries have none."""
    data, rng = reference.Data(8), np.random.default_rng(8)
    document, query = rng.random(len(data.y)), rng.random(len(data.sizes))
    score = partial(NDCG(k=5), data.y, data.scores, qid=data.qid)
    values = NDCG(k=5).per_query(data.y, data.scores, qid=data.qid)
    means = np.bincount(data.qid, document) / data.sizes
    counted = ~np.isnan(values)
    assert 0 < counted.sum() < len(values)
    for actual, weights in (
        (score(), np.ones(len(query))),
        (score(sample_weight=document), means),
        (score(query_weight=query), query),
        (score(sample_weight=document, query_weight=query), means * query),
    ):
        assert_allclose(actual, np.average(values[counted], weights=weights[counted]), rtol=1e-12)


def test_every_query_of_positive_weight_skipped() -> None:
    """What a query of weight 0 is worth makes no mean either, unless the others count."""
    labels, scores = [0, 0, 1, 0], [1, 2, 3, 4]
    assert NDCG()(labels, scores, group=[2, 2], query_weight=[1, 2]) == pytest.approx(0.6309298)
    with pytest.raises(ValueError, match="ndcg is undefined on every query"):
        NDCG()(labels, scores, group=[2, 2], query_weight=[1, 0])
    counted = NDCG(no_relevant=1)(labels, scores, group=[2, 2], query_weight=[1, 0])
    assert counted == 1
