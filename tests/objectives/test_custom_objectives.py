"""Objectives that users write: plain Python functions and compiled ones."""

import lightgbm as lgb
import numba
import numpy as np
import pytest
import xgboost as xgb
from hypothesis import given, settings
from numpy.testing import assert_allclose

import gbrank
import reference
from functions import Vector, custom, either, fail_at_three, listnet, listnet_compiled
from gbrank import (
    NDCG,
    GBRanker,
    Queries,
    get_objective,
    lightgbm_fobj,
    list_objectives,
    make_cubic,
    xgboost_obj,
)
from gbrank.extend import custom_objective
from plain_trees import PLAIN


@either
def test_against_the_function_itself(compiled: bool) -> None:
    """Query by query, by hand, with weights; rows of a query need not be neighbours."""
    data, weights = reference.Data(7), np.random.default_rng(0).random(25)
    rows = np.random.default_rng(1).permutation(len(data.y))
    y, scores, qid = data.y[rows], data.scores[rows], data.qid[rows]
    queries = Queries.from_qid(qid)
    bound = custom_objective(listnet_compiled if compiled else listnet).bind(
        y, queries, query_weight=weights
    )
    gradient, curvature = bound.gradients(scores, 2.0)
    for query, item in enumerate(queries.ids):
        own = qid == item
        loss, g, h = listnet(scores[own], y[own], 2.0)
        assert_allclose(gradient[own], g * weights[query], rtol=1e-9, atol=1e-15)
        assert_allclose(curvature[own], h * weights[query], rtol=1e-9, atol=1e-15)
        assert bound.loss(scores, 2.0)[query] == pytest.approx(loss * weights[query])


@either
@given(reference.queries(8))
@settings(max_examples=25, deadline=None)
def test_documents_come_best_first(compiled: bool, query: reference.Query) -> None:
    """By falling score, then by falling label; equal documents share the mean of their places."""
    labels, scores = query
    bound = custom_objective(PLACES if compiled else PLACES.py_func).bind(
        labels, Queries.from_sizes([len(labels)])
    )
    gradient, curvature = bound.gradients(scores)
    best_first = sorted(range(len(labels)), key=lambda row: (-scores[row], -labels[row]))
    for row, (label, score) in enumerate(zip(labels, scores, strict=True)):
        places = [
            place
            for place, other in enumerate(best_first)
            if (labels[other], scores[other]) == (label, score)
        ]
        assert gradient[row] == pytest.approx(np.mean(places), rel=1e-15)
        assert curvature[row] == pytest.approx(1 + label)


@numba.njit
def PLACES(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Give each document its place as gradient, and its label plus 1 as curvature."""
    return 0.0, np.arange(scores.size) * 1.0, 1 + labels


@either
def test_functions_may_change_their_arguments(compiled: bool) -> None:
    """`scores -= scores.max()` is a usual first line."""

    def careless(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        gradient = scores - labels
        scores[:] = 0.0
        labels[:] = 0.0
        return 0.0, gradient, np.ones_like(gradient)

    scores = np.array([3.0, 2.0, 1.0, 5.0])
    bound = custom(careless, compiled).bind([0, 0, 1, 2], Queries.from_sizes([3, 1]))
    for _ in range(2):
        assert bound.gradients(scores)[0].tolist() == [3, 2, 0, 3]
    assert scores.tolist() == [3, 2, 1, 5]


def test_names() -> None:
    """A named objective is known to strings; names are taken once."""
    objective = custom_objective(listnet, name="listnet_test")
    assert get_objective("listnet_test") == objective
    assert custom_objective(listnet, name="listnet_test") == objective  # once more: no other
    assert "listnet_test" in [item.name for item in list_objectives()]
    for taken in ("listnet_test", "ranknet", "lambda", "lambdarank"):
        with pytest.raises(ValueError, match=taken):
            custom_objective(fail_at_three, name=taken)
    with pytest.raises(ValueError, match="takes no metric"):
        get_objective("listnet_test:ndcg")
    assert "NDCG" in gbrank.__all__  # what gbrank exports does not depend on it


def test_a_function_is_an_objective_everywhere() -> None:
    """GBRanker, both hooks, by function, by object and compiled: the same trees."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=5, random_state=0)
    scores = []
    for objective in (listnet, custom_objective(listnet), listnet_compiled):
        ranker = GBRanker(objective, n_estimators=5, n_jobs=1, random_state=0, **PLAIN)
        scores.append(ranker.fit(X, y, qid=qid).predict(X))
    options = {"verbose": -1, "num_threads": 1, "deterministic": True, "num_leaves": 31,
               "force_col_wise": True}  # fmt: skip
    data = lgb.Dataset(X, y, group=[10] * 20)
    booster = lgb.train({**options, "objective": lightgbm_fobj(listnet)}, data, 5)
    scores.append(booster.predict(X))
    for other in scores[1:]:
        assert_allclose(other, scores[0], atol=1e-6)
    matrix = xgb.DMatrix(X, y, qid=qid, nthread=1)
    booster = xgb.train({"nthread": 1, "base_score": 0}, matrix, 5, obj=xgboost_obj(listnet))
    assert NDCG()(y, booster.predict(matrix), qid=qid) > 0.8


WRONG = {
    "gradient too short": "one entry per document",
    "curvature too long": "one entry per document",
    "negative curvature": r"curvatures >= 0, got .*: query 'b' \(3 documents\)",
    "NaN gradient": "finite numbers, .*: query 'b'",
    "infinite curvature": "finite numbers, .*: query 'b'",
    "NaN loss": "finite numbers, .*: query 'b'",
}


def wrong_by_sigma(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Be wrong in one of the ways of `WRONG`, the first with a sigma of 1: one is compiled."""
    loss, gradient, curvature = 0.0, scores.copy(), scores * scores
    if sigma == 1:
        gradient = scores[1:]
    elif sigma == 2:
        curvature = np.ones(scores.size + 1)
    elif sigma == 3:
        curvature -= 5.0
    elif sigma == 4:
        gradient = scores / (scores - 1.0)
    elif sigma == 5:
        curvature += np.inf
    elif sigma == 6:
        loss = np.nan
    return loss, gradient, curvature


@either
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_wrong_returns(compiled: bool, wrong: str) -> None:
    """The message says what is wrong, and with which query."""
    bound = custom(wrong_by_sigma, compiled).bind([1, 0, 2], Queries.from_qid(["b", "b", "b"]))
    with pytest.raises((TypeError, RuntimeError), match=WRONG[wrong]):
        bound.gradients([1.0, 2.0, 3.0], 1.0 + list(WRONG).index(wrong))
