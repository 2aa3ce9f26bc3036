"""Leaf values that are fitted to other documents, in trees that stay."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import GBRanker, lightgbm_fobj, load_ranker, make_cubic
from plain_trees import PLAIN

X, Y, QID = make_cubic(60, n_documents=12, n_features=5, random_state=0)
OLD, NEW = QID < 30, QID >= 30
WEEK: dict[str, Any] = {"X": X[NEW], "y": Y[NEW], "qid": QID[NEW]}
both = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def fit(objective: Any = "noisy:ndcg", **params: Any) -> GBRanker:
    """Return a small ranker of the first queries."""
    small = {"n_estimators": 12, "num_leaves": 6, "random_state": 0, "n_jobs": 1}
    return GBRanker(objective, **PLAIN | small | params).fit(X[OLD], Y[OLD], qid=QID[OLD])


@both
@pytest.mark.parametrize("reg_lambda", [0.0, 5.0])
def test_values_by_hand(booster: str, reg_lambda: float) -> None:
    """Steps at a rate of 0.1 from the ranker's scores: three trees from one gradient, then one."""
    ranker = fit("ranknet", booster=booster, n_estimators=4, reg_lambda=reg_lambda)
    newer = ranker.refit(**WEEK)
    hook, scores, expected = lightgbm_fobj("ranknet"), ranker.predict(X[NEW]), ranker.predict(X)
    parts = [0 * Y, *(ranker.predict(X, num_iteration=number) for number in (1, 2, 3, 4))]
    for number, (before, after) in enumerate(pairwise(parts)):
        values = np.round(after - before, 5)  # tells the leaf of a row
        if number in (0, 3):
            gradient, curvature = hook.at_round(0, Y[NEW], scores, None, [12] * 30)
        for leaf in np.unique(values):
            rows = values[NEW] == leaf
            step = -0.1 * gradient[rows].sum() / (curvature[rows].sum() + reg_lambda + 1e-9)
            expected[values == leaf] += step
        scores = expected[NEW]
    assert_allclose(newer.predict(X), expected, atol=1e-4)
    assert np.abs(expected - ranker.predict(X)).max() > 0.01


@both
def test_steps_begin_at_the_scores_of_all(booster: str) -> None:
    """By hand: the trees add to those of the ranker that they were boosted from."""
    first = fit("ranknet", booster=booster)
    ranker = fit("ranknet", booster=booster, init=first, n_estimators=1, learning_rate=0.3)
    hook, before = lightgbm_fobj("ranknet"), first.predict(X)
    scores = ranker.predict(X)
    gradient, curvature = hook.at_round(0, Y[NEW], scores[NEW], None, [12] * 30)
    values, expected = np.round(scores - before, 5), scores.copy()
    for leaf in np.unique(values):
        rows = values[NEW] == leaf
        expected[values == leaf] -= 0.3 * gradient[rows].sum() / (curvature[rows].sum() + 1e-9)
    assert_allclose(ranker.refit(**WEEK).predict(X), expected, atol=1e-4)


@pytest.mark.parametrize("objective", ["approx:ndcg", "smooth:ndcg", "tie:ndcg"])
@pytest.mark.parametrize("how", ["refit", "init"])
def test_new_data_are_learned_from_the_widest_sigma(objective: str, how: str) -> None:
    """A narrow one has no gradient where labels contradict the scores."""
    turned = Y.max() - Y
    ranker = fit(objective, n_estimators=60)
    if how == "refit":
        newer = ranker.refit(X[NEW], turned[NEW], qid=QID[NEW])
    else:
        newer = GBRanker(**ranker.get_params() | {"init": ranker})
        newer.fit(X[NEW], turned[NEW], qid=QID[NEW])
        again = fit(objective, n_estimators=60, init=ranker)
        assert newer.sigmas_[0] == 1.0  # of RankNet
        assert again.sigmas_[0] < 0.5 * newer.sigmas_[30]  # the same data: where it was
    gain = newer.score(X[NEW], turned[NEW], QID[NEW]) - ranker.score(X[NEW], turned[NEW], QID[NEW])
    assert gain > 0.05


@both
def test_what_changes_and_what_stays(booster: str, tmp_path: Path) -> None:
    """Better on the new queries; splits, parameters and the old ranker stay; saved as any other."""
    ranker = fit(booster=booster)
    scores = ranker.predict(X)
    other = Y[NEW].max() - Y[NEW]  # a week that turns all around
    newer = ranker.refit(X[NEW], other, qid=QID[NEW])
    assert newer.score(X[NEW], other, QID[NEW]) > ranker.score(X[NEW], other, QID[NEW]) + 0.05
    newer = ranker.refit(**WEEK)
    assert_array_equal(ranker.predict(X), scores)
    assert newer.get_params() == ranker.get_params()
    assert_array_equal(newer.importances("split"), ranker.importances("split"))
    assert (newer.best_iteration_, newer.evals_result_) == (12, {})
    assert np.isnan(newer.best_score_)
    assert newer.training_data_ == {"train": {"documents": 360, "queries": 30}}
    newer.save(tmp_path)
    assert_array_equal(load_ranker(tmp_path).predict(X), newer.predict(X))
    assert_array_equal(newer.predictor().predict(X), newer.predict(X))
    assert_array_equal(ranker.refit(**WEEK).predict(X), newer.predict(X))
    assert (newer.refit(**WEEK).predict(X) != newer.predict(X)).any()


@both
def test_rows_of_other_kinds(booster: str) -> None:
    """Sparse rows are the same rows; a query of weight 0 counts for nothing; categories, too."""
    ranker = fit("ranknet", booster=booster, learning_rate=0.05)
    dense = ranker.refit(**WEEK).predict(X)
    assert_allclose(
        ranker.refit(**WEEK | {"X": sp.csr_matrix(X[NEW])}).predict(X), dense, atol=1e-5
    )
    half = NEW & (QID < 45)
    weighed = ranker.refit(**WEEK, query_weight=np.repeat([1.0, 0.0], 15)).predict(X)
    alone = ranker.refit(X[half], Y[half], qid=QID[half]).predict(X)
    assert_allclose(weighed, alone, atol=1e-4)
    assert np.abs(dense - alone).max() > 1e-3


@pytest.mark.parametrize("objective", ["smooth:ndcg", "listmle"])
def test_the_start_of_a_chain_stays(objective: str) -> None:
    """The objective itself makes the steps, from the scores of all."""
    first = fit("ranknet")
    above = fit(objective, init=first)
    newer = above.refit(**WEEK)
    assert_array_equal(newer.init_.predict(X), first.predict(X))
    assert (newer.predict(X) != above.predict(X)).any()
