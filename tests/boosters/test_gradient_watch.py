"""`GradientWatch` sees what boosters are given, in fits and in people's own training calls."""

from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, Queries, get_objective, lightgbm_fobj, make_cubic, xgboost_obj
from gbrank.extend import GradientWatch, RoundGradients

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)
SMALL: dict[str, Any] = {"n_estimators": 6, "min_child_samples": 3, "random_state": 0}


def of(scores: Any, gradient: Any, curvature: Any, sizes: Any) -> RoundGradients:
    """Return the gradients of a round."""
    arrays = (np.asarray(values, float) for values in (scores, gradient, curvature))
    return RoundGradients(0, "ranknet", 1.0, *arrays, Queries.from_sizes(sizes))


def test_sums_by_rank() -> None:
    """By hand: two queries, of which the second has a tie; the order of rows plays no part."""
    seen = of([1, 3, 2, 0, 0], [-1, 2, 4, 1, -5], [1] * 5, [3, 2])
    assert_array_equal(seen.by_rank(), [2 + 3, 4 + 3, 1])
    turned = of([0, 0, 2, 3, 1], [-5, 1, 4, 2, -1], [1] * 5, [2, 3])
    assert_array_equal(turned.by_rank(), seen.by_rank())


def test_ties_share_their_ranks() -> None:
    """By hand: the document at the top has 6 of 10, the two that tie 2 each, shown or not."""
    seen = of([1, 1, 2], [1, 3, 6], [1] * 3, [3])
    assert_array_equal(seen.by_rank(), [6, 2, 2])
    watch = GradientWatch()
    watch(seen)
    assert_array_equal(watch.shares_by_rank(2), [[0.6, 0.2]])
    assert_array_equal(watch.shares_by_rank(4), [[0.6, 0.2, 0.2, 0]])


def test_shares_of_documents() -> None:
    """Of four, one has no gradient and two have the longest step."""
    seen = of([4, 3, 2, 1], [0, -2, 1, 1], [1, 1, 0.5, 4], [4])
    assert seen.zero == 0.25
    assert seen.at_longest_step == 0.5
    assert of([1, 2], [0, 0], [1, 1], [2]).at_longest_step == 0


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_callback_of_a_fit(booster: str) -> None:
    """A row for each round, of the objective that trains in it; the first by the formula."""
    rounds: list[Any] = []
    watch = GradientWatch()
    ranker = GBRanker("approx:ndcg", booster=booster, **SMALL)
    ranker.fit(X, Y, qid=QID, callbacks=[watch, rounds.append])
    frame = watch.to_pandas()
    assert frame["objective"].tolist() == ["ranknet"] * 3 + ["approx:ndcg"] * 3
    assert_array_equal(frame["sigma"], ranker.sigmas_)
    first = rounds[0].gradients
    gradient, curvature = get_objective("ranknet").bind(Y, Queries.from_qid(QID)).gradients(0 * Y)
    assert_allclose(first.gradient, gradient / curvature.mean(), rtol=1e-12)
    assert_allclose(first.curvature, curvature / curvature.mean(), rtol=1e-12)
    assert frame["mean |gradient|"][0] == np.abs(first.gradient).mean()
    assert not (rounds[0].gradients.scores == rounds[1].gradients.scores).all()
    assert_allclose([sums.sum() for sums in watch.by_rank], len(Y) * frame["mean |gradient|"])


def test_hooks() -> None:
    """In `lgb.train` and `xgb.train`; another training begins anew."""
    watch = GradientWatch()
    for _ in range(2):
        fobj = lightgbm_fobj("lambda:ndcg", watch=watch)
        data = lgb.Dataset(X, Y, group=[8] * 12)
        lgb.train({"objective": fobj, "verbose": -1, "min_data_in_leaf": 3}, data, 4)
    assert [row["round"] for row in watch.rows] == [0, 1, 2, 3]
    assert len(watch.by_rank) == 4
    watch = GradientWatch()
    data = xgb.DMatrix(X, Y, qid=QID)
    xgb.train({"base_score": 0}, data, 3, obj=xgboost_obj("ranknet", watch=watch))
    assert [(row["round"], row["objective"]) for row in watch.rows] == [
        (n, "ranknet") for n in range(3)
    ]


def test_a_fit_of_one_round_begins_anew() -> None:
    """A callback of two fits keeps the second; a hook in cross-validation keeps all data sets."""
    X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    watch = GradientWatch()
    ranker = GBRanker("ranknet", n_estimators=1, n_jobs=1)
    for _ in range(2):
        ranker.fit(X, y, qid=qid, callbacks=[watch])
    assert len(watch.rows) == len(watch.by_rank) == 1
    hook_watch = GradientWatch()
    seen = of([0.0, 1.0], [1.0, -1.0], [1.0, 1.0], [2])
    for _ in range(2):
        hook_watch(seen)
    assert len(hook_watch.rows) == 2
