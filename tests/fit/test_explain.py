"""SHAP values of scores: they add up, and are Shapley's where these are counted out."""

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gbrank import GBRanker
from plain_trees import PLAIN

N, D = 600, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
X[RNG.random((N, D)) < 0.1] = np.nan
Y = 1.0 * (np.nan_to_num(X[:, 0]) > 0) + (np.nan_to_num(X[:, 1] * X[:, 2]) > 0.1)
QID = np.arange(N) // 20
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def fitted(table: Any = X, booster: str = "lightgbm", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {"n_estimators": 20, "num_leaves": 8, "random_state": 0, "n_jobs": 1}
    return GBRanker(booster=booster, **{**PLAIN, **defaults, **params}).fit(table, Y, qid=QID)


@boosters
@pytest.mark.parametrize("objective", ["lambdarank", "smooth:ndcg"])
def test_rows_sum_to_the_score(booster: str, objective: str) -> None:
    """With missing values, and with the trees of a start."""
    ranker = fitted(booster=booster, objective=objective)
    shares = ranker.explain(X)
    assert shares.shape == (N, D + 1)
    assert shares.dtype == np.float64
    assert_allclose(shares.sum(axis=1), ranker.predict(X), atol=1e-5)
    assert np.ptp(shares[:, -1]) < 1e-6  # the mean score
    assert (np.abs(shares[:, :3]).mean(axis=0) > 0.01).all()


def test_weights_of_trees() -> None:
    """Those of XGBoost's dart."""
    params = {"booster": "dart", "rate_drop": 0.5}
    ranker = fitted(booster="xgboost", booster_params=params)
    assert_allclose(ranker.explain(X).sum(axis=1), ranker.predict(X), atol=1e-5)


@boosters
def test_a_start_adds_its_own(booster: str) -> None:
    """Column by column."""
    start = fitted(booster=booster, objective="regression")
    ranker = fitted(booster=booster, init=start)
    alone = ranker._model.contributions(X, 1)
    assert_allclose(ranker.explain(X), alone + start.explain(X))


def expectation(node: dict[str, Any], row: Any, known: tuple[int, ...]) -> float:
    """Return a tree's mean over the training documents that agree with a row's known features."""
    if "leaf_value" in node:
        return float(node["leaf_value"])
    children = node["left_child"], node["right_child"]
    if node["split_feature"] in known:
        value = row[node["split_feature"]]
        left = node["default_left"] if np.isnan(value) else value <= node["threshold"]
        return expectation(children[0 if left else 1], row, known)
    counts = [child.get("internal_count", child.get("leaf_count")) for child in children]
    return float(np.average([expectation(child, row, known) for child in children], weights=counts))


def test_they_are_shapley_values() -> None:
    """By counting out all orders in which the features may become known."""
    ranker = fitted(n_estimators=3)
    trees = [tree["tree_structure"] for tree in ranker.booster_.dump_model()["tree_info"]]

    def value(row: Any, known: tuple[int, ...]) -> float:
        return sum(expectation(tree, row, known) for tree in trees)

    for row, shares in zip(X[:10], ranker.explain(X[:10]), strict=True):
        for feature in range(D):
            others = [other for other in range(D) if other != feature]
            share = sum(
                (value(row, (*known, feature)) - value(row, known)) / (D * comb(D - 1, size))
                for size in range(D)
                for known in combinations(others, size)
            )
            assert_allclose(shares[feature], share, atol=1e-9)
        assert_allclose(shares[-1], value(row, ()), atol=1e-9)
