"""LambdaRank of functions, which have a value alone: each pair's labels are exchanged."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from gbrank import AP, DCG, GBRanker, LambdaRank, Queries, custom_measure, get_objective, make_cubic
from gbrank.extend import check_gradient


def dcg(scores: Any, labels: Any) -> float:
    """Return DCG, from the definition."""
    return float((2**labels - 1) @ (1 / np.log2(2 + np.arange(len(labels)))))


def precision_where_relevant(scores: Any, labels: Any) -> float:
    """Return the mean precision at relevant documents, NaN without one."""
    places = np.flatnonzero(labels > 0)
    return float(np.mean((1 + np.arange(len(places))) / (1 + places))) if len(places) else np.nan


@pytest.mark.parametrize(
    ("function", "measure", "largest"), [(dcg, DCG(), 4), (precision_where_relevant, AP(), 1)]
)
@pytest.mark.parametrize("sigma", [0.1, 2.0])
def test_functions_are_as_measures(function: Any, measure: Any, largest: int, sigma: float) -> None:
    """Loss, gradient and curvature, without ties; a query without a relevant document is one."""
    random = np.random.default_rng(0)
    sizes = [1, 2, 9, 30]
    labels, scores = random.integers(0, largest + 1, sum(sizes)), random.normal(size=sum(sizes))
    labels[1:3] = 0
    ours, exact = (
        LambdaRank(own).bind(labels, Queries.from_sizes(sizes), query_weight=[1, 2, 3, 4])
        for own in (function, measure)
    )
    assert_allclose(ours.loss(scores, sigma), exact.loss(scores, sigma), rtol=1e-9)
    both = zip(ours.gradients(scores, sigma), exact.gradients(scores, sigma), strict=True)
    for own, expected in both:
        assert_allclose(own, expected, rtol=1e-9, atol=1e-12)


def test_ties_teach_all_the_same() -> None:
    """Where all scores tie, equal labels have equal gradients, and the better ones go up."""
    labels = [0, 2, 1, 0, 2]
    gradient, _ = LambdaRank(dcg).bind(labels, Queries.from_sizes([5])).gradients(np.zeros(5))
    assert gradient[0] == gradient[3] > gradient[2] > gradient[1] == gradient[4]
    check_gradient(LambdaRank(dcg), sigmas=[0.3])


def test_trees_learn_a_function() -> None:
    """As well as from the measure that it is; by name, too."""
    X, y, qid = make_cubic(60, n_documents=10, n_features=5, random_state=0)
    custom_measure(dcg, name="own_dcg")
    rankers = [
        GBRanker(objective, n_estimators=5, random_state=0, n_jobs=1).fit(X, y, qid=qid)
        for objective in (LambdaRank(dcg), "lambda:own_dcg", LambdaRank(DCG()))
    ]
    first, second, exact = (DCG()(y, ranker.predict(X), qid=qid) for ranker in rankers)
    assert first == second == pytest.approx(exact, rel=0.02)
    assert_array_equal(rankers[0].predict(X), rankers[1].predict(X))


def test_what_cannot_be_exchanged_is_refused() -> None:
    """Long lists, columns of X, and parameters that need swap deltas."""
    long = get_objective(LambdaRank(dcg)).bind(np.arange(201) % 2, Queries.from_sizes([201]))
    with pytest.raises(ValueError, match="at most 200 documents"):
        long.gradients(np.zeros(201))
    with pytest.raises(ValueError, match="measure must take no columns of X"):
        LambdaRank(custom_measure(lambda scores, labels, price: 0.0, columns=["price"]))
    with pytest.raises(
        ValueError, match="truncation, normalize and ties must have their defaults with dcg"
    ):
        LambdaRank(dcg, truncation=3)
