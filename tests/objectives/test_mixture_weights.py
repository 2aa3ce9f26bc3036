"""Mixtures: weights, texts, trainings."""

from typing import Any

import numpy as np
import pytest
from plain_trees import PLAIN

import reference
from gbrank import (
    SLAM,
    GainRegression,
    GBRanker,
    LambdaRank,
    ListMLE,
    Mixture,
    Queries,
    RankNet,
    get_objective,
    make_cubic,
)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_mixture(share: float) -> None:
    """Each part over its weighted mean curvature, by its weight over the sum of weights."""
    data = reference.Data(31)
    queries = Queries.from_qid(data.qid)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data.y))
    parts = [o.bind(data.y, queries).gradients(data.scores) for o in (RankNet(), GainRegression())]
    mixed = Mixture([RankNet(), GainRegression()], [3 - 3 * share, 3 * share]).bind(
        data.y, queries, sample_weight=weights
    )
    for actual, first, second in zip(mixed.gradients(data.scores), *parts, strict=True):
        expected = (1 - share) * first / np.average(parts[0][1], weights=weights)
        expected += share * second / np.average(parts[1][1], weights=weights)
        np.testing.assert_allclose(actual, expected * weights, rtol=1e-12)
    losses = [o.bind(data.y, queries).loss(data.scores) for o in (RankNet(), GainRegression())]
    np.testing.assert_allclose(
        mixed.loss(data.scores), (1 - share) * losses[0] + share * losses[1], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lambda:ndcg+listmle", LambdaRank() + ListMLE()),
        (
            "ranknet + 0.8*slam(smooth=False):ndcg",
            Mixture([RankNet(), SLAM(smooth=False)], [1, 0.8]),
        ),
        ("0.7*ranknet + 0.3*listmle", Mixture([RankNet(), ListMLE()], [0.7, 0.3])),
        ("ranknet+listmle+lambda:ap", RankNet() + ListMLE() + LambdaRank("ap")),
        (
            "(2*lambda:ap+0.8*listmle)",
            Mixture([LambdaRank("ap"), ListMLE()], [2, 0.8]),
        ),
        (
            "lambda:ap+2*(ranknet)+listmle",
            LambdaRank("ap") + Mixture([RankNet(), ListMLE()], [2, 1]),
        ),
    ],
)
def test_strings(text: str, expected: Any) -> None:
    """Read, printed and read back."""
    assert get_objective(text) == expected
    assert get_objective(str(expected)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ranknet+half*listmle", "weight must be a number"),
        ("ranknet+(lambda:ap+listmle)", "objectives must not hold mixtures"),
        ("(ranknet", r"unknown objective '\(ranknet'"),
        ("ranknet+listmie", "unknown objective 'listmie'. Did you mean 'listmle'"),
    ],
)
def test_strings_that_mean_nothing(text: str, message: str) -> None:
    """The fault is named."""
    with pytest.raises(ValueError, match=message):
        get_objective(text)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_mixture_trains(booster: str) -> None:
    """A mixture is an objective like others, and its order of rows changes nothing."""
    X, y, qid = make_cubic(40, n_documents=12, n_features=8, random_state=1)
    ranker = GBRanker("lambda:ndcg+listmle", booster=booster, n_estimators=20, n_jobs=1, **PLAIN)
    scores = ranker.fit(X, y, qid=qid).predict(X)
    rows = np.random.default_rng(0).permutation(len(y))
    again = ranker.fit(X[rows], y[rows], qid=qid[rows]).predict(X)
    assert ranker.score(X, y, qid) > 0.8
    np.testing.assert_allclose(scores, again, rtol=1e-4, atol=1e-4)
