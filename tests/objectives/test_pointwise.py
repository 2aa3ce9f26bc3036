"""The pointwise objective, and mixtures with it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from plain_trees import PLAIN
from scipy.optimize import minimize_scalar
from scipy.special import expit, xlogy

import reference
from gbrank import (
    GBRanker,
    LambdaRank,
    Mixture,
    Pointwise,
    Queries,
    RankNet,
    get_objective,
    make_cubic,
)

Vector = NDArray[np.float64]


def written_out(labels: Any, scores: Any, strength: float, sigma: float) -> float:
    """Minimise the loss of one query over its intercept."""
    z, t = np.array(scores) / sigma, np.array(labels) / (max(labels) or 1)
    mean = np.clip(t.mean(), 0.5 / len(t), 1 - 0.5 / len(t))
    anchor = np.log(mean / (1 - mean)) - z.mean()

    def loss(b: float) -> float:
        p = expit(z + b)
        cross_entropy = -(xlogy(t, p) + xlogy(1 - t, 1 - p)).sum()
        return float(cross_entropy + strength / 2 * (b - anchor) ** 2)

    return float(minimize_scalar(loss, bracket=(anchor - 1, anchor + 1), tol=1e-12).fun)


@given(reference.queries(7), st.sampled_from([0.1, 10.0]), st.sampled_from([0.5, 2.0]))
@settings(max_examples=60)
def test_loss(query: reference.Query, strength: float, sigma: float) -> None:
    """Against a general-purpose minimiser."""
    labels, scores = query
    bound = Pointwise(strength).bind(labels, Queries.from_sizes([len(labels)]))
    expected = written_out(labels, scores, strength, sigma)
    assert bound.loss(scores, sigma)[0] == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_anchor_is_that_of_all_data() -> None:
    """A query without relevant documents in data that are half relevant is drawn to the half."""
    queries = Queries.from_sizes([2, 2])
    alone = Pointwise().bind([0, 0], Queries.from_sizes([2])).loss([0.0, 0.0])[0]
    among = Pointwise().bind([0, 0, 1, 1], queries).loss(np.zeros(4))[0]
    assert alone < among < 2 * np.log(2)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_mixture(share: float) -> None:
    """Each part over its weighted mean curvature, by its weight over the sum of weights."""
    data = reference.Data(31)
    queries = Queries.from_qid(data.qid)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(data.y))
    parts = [o.bind(data.y, queries).gradients(data.scores) for o in (RankNet(), Pointwise())]
    mixed = Mixture([RankNet(), Pointwise()], [3 - 3 * share, 3 * share]).bind(
        data.y, queries, sample_weight=weights
    )
    for actual, first, second in zip(mixed.gradients(data.scores), *parts, strict=True):
        expected = (1 - share) * first / np.average(parts[0][1], weights=weights)
        expected += share * second / np.average(parts[1][1], weights=weights)
        np.testing.assert_allclose(actual, expected * weights, rtol=1e-12)
    losses = [o.bind(data.y, queries).loss(data.scores) for o in (RankNet(), Pointwise())]
    np.testing.assert_allclose(
        mixed.loss(data.scores), (1 - share) * losses[0] + share * losses[1], rtol=1e-12
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lambda:ndcg+pointwise", LambdaRank() + Pointwise()),
        ("ranknet + 0.8*pointwise(strength=3)", Mixture([RankNet(), Pointwise(3)], [1, 0.8])),
        ("0.7*ranknet + 0.3*pointwise", Mixture([RankNet(), Pointwise()], [0.7, 0.3])),
        ("ranknet+pointwise+lambda:ap", RankNet() + Pointwise() + LambdaRank("ap")),
        (
            "(2*lambda:ap+0.8*pointwise)",
            Mixture([LambdaRank("ap"), Pointwise()], [2, 0.8]),
        ),
        (
            "lambda:ap+2*(ranknet)+pointwise",
            LambdaRank("ap") + Mixture([RankNet(), Pointwise()], [2, 1]),
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
        ("ranknet+half*pointwise", "weight must be a number"),
        ("ranknet+(lambda:ap+pointwise)", "objectives must not hold mixtures"),
        ("(ranknet", r"unknown objective '\(ranknet'"),
        ("ranknet+pointwize", "unknown objective 'pointwize'. Did you mean 'pointwise'"),
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
    ranker = GBRanker("lambda:ndcg+pointwise", booster=booster, n_estimators=20, n_jobs=1, **PLAIN)
    scores = ranker.fit(X, y, qid=qid).predict(X)
    rows = np.random.default_rng(0).permutation(len(y))
    again = ranker.fit(X[rows], y[rows], qid=qid[rows]).predict(X)
    assert ranker.score(X, y, qid) > 0.8
    np.testing.assert_allclose(scores, again, rtol=1e-4, atol=1e-4)
