"""What a fit takes where its parameters leave it open."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gbrank import GBRanker, Queries, make_cubic
from gbrank.fit.boosted_ranker import chosen_trees

X, Y, QID = make_cubic(40, n_documents=15, n_features=6, random_state=0)  # 600 documents
ROUNDS = 20
RATE = 0.0694365  # 15 √(600 / 70,000) / 20


def fit(objective: str = "lambdarank", **params: Any) -> GBRanker:
    """Return a fitted ranker."""
    params = {"n_estimators": ROUNDS, "n_jobs": 1, "random_state": 0} | params
    ranker = GBRanker(objective, **params)
    return ranker.fit(X, Y, qid=QID)


@pytest.mark.parametrize(
    ("documents", "rounds", "expected"),
    [
        (70_000, 500, 0.03), (17_500, 500, 0.015), (280_000, 500, 0.06), (17_500, 100, 0.075),
        (1_000, 500, 0.01), (70_000, 5_000, 0.01), (10_000_000, 500, 0.2), (70_000, 10, 0.2),
    ],
)  # fmt: skip
def test_rate_depends_on_documents_and_rounds(documents: int, rounds: int, expected: float) -> None:
    """Four times the documents double it, twice the rounds halve it, between the two ends."""
    queries = Queries.from_sizes([20] * (documents // 20))
    rate = chosen_trees(GBRanker(n_estimators=rounds), queries)["learning_rate"]
    assert rate == pytest.approx(expected, rel=1e-12)


def test_a_long_list_counts_as_seventy_documents() -> None:
    """Its documents are not independent."""
    ranker = GBRanker(n_estimators=500)
    rates = [
        chosen_trees(ranker, Queries.from_sizes([n] * 1_000))["learning_rate"]
        for n in (69, 70, 3_000)
    ]
    assert rates[0] < rates[1] == rates[2] == pytest.approx(0.03, rel=1e-12)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_large_data_get_other_trees(booster: str) -> None:
    """From 100,000 documents on they see all features and thresholds, unless told otherwise."""

    def chosen(documents: int, **params: Any) -> tuple[float, bool]:
        X = np.random.default_rng(0).normal(size=(documents, 2))
        ranker = GBRanker("regression", booster=booster, n_estimators=1, num_leaves=2, **params)
        ranker.fit(X, (X[:, 0] > 0).astype(float), group=[100] * (documents // 100))
        return ranker.colsample_, ranker.extra_trees_

    random = booster == "lightgbm"
    assert chosen(99_900) == (0.5, random)
    assert chosen(100_000) == (1.0, False)
    given = chosen(100_000, colsample=0.7, extra_trees=True if random else None)
    assert given == (0.7, random)


def test_a_start_takes_steps_of_its_own() -> None:
    """Those for its own number of trees, whatever the rate of the ranker."""
    ranker = fit(init="regression", learning_rate=5.0)
    assert ranker.init_.n_estimators == 2
    assert ranker.init_.learning_rate_ == min(10 * RATE, 0.2)


def test_going_on_takes_smaller_steps(tmp_path: Path) -> None:
    """As a ranker of all the rounds would: those of the model that `init` is count too."""
    first = fit()
    for rounds in (2 * ROUNDS, 3 * ROUNDS):
        first = fit(init=first)
        assert first.learning_rate_ == pytest.approx(RATE * ROUNDS / rounds, rel=1e-6)
    first.save(tmp_path)
    again = fit(init=tmp_path)
    assert again.learning_rate_ == pytest.approx(RATE / 4, rel=1e-6)
    assert fit(init=first, learning_rate=0.3).learning_rate_ == 0.3
