"""SLAM against its written formula, its two bounds, and its smooth form's limit."""

import math
from itertools import permutations
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import reference
from gbrank import AP, NDCG, Queries
from gbrank.objectives.objective import BoundObjective
from gbrank.objectives.slam import SLAM
from slam_weights import weights

MEASURES: list[Any] = [
    NDCG(),
    NDCG(k=3),
    NDCG(k=1, gain="linear", discount="letor"),
    NDCG(gain=(0, 3, 1, 7, 7), discount="reciprocal"),
    AP(),
    AP(k=2),
    AP(threshold=2.0),
]
measures = pytest.mark.parametrize("measure", MEASURES, ids=str)


def bind(measure: Any, labels: reference.Labels, **options: Any) -> BoundObjective:
    """Bind SLAM to one query."""
    return SLAM(measure, **options).bind(labels, Queries.from_sizes([len(labels)]))


def slam(
    measure: Any,
    labels: reference.Labels,
    scores: reference.Labels,
    margin: float,
    sigma: float | None,
) -> float:
    """Return the loss; smooth if there is a sigma."""
    x, v = weights(measure, labels)
    loss = 0.0
    for i, weight in enumerate(v):
        gaps = [margin + scores[j] - scores[i] for j in range(len(x)) if x[j] < x[i]]
        if sigma is None:
            loss += weight * max(0.0, *gaps) if gaps else 0.0
        else:
            loss += weight * sigma * log(1 + sum(exp(gap / sigma) for gap in gaps))
    return loss


@measures
@given(reference.queries(8), st.sampled_from([0.25, 1.0, 2.0]))
@settings(max_examples=15)
def test_by_formula(measure: Any, query: reference.Query, margin: float) -> None:
    """Both forms; sigma plays no part in the exact one. The weights sum to at most 1."""
    labels, scores = query
    exact = bind(measure, labels, margin=margin, smooth=False)
    expected = slam(measure, labels, scores, margin, None)
    assert_allclose(exact.loss(scores), [expected], atol=1e-12)
    assert_array_equal(exact.loss(scores, 7.0), exact.loss(scores))
    smooth = bind(measure, labels, margin=margin)
    for sigma in (0.3, 2.0):
        expected = slam(measure, labels, scores, margin, sigma)
        assert_allclose(smooth.loss(scores, sigma), [expected], atol=1e-12)
    assert sum(weights(measure, labels)[1]) <= 1 + 1e-12


@measures
@pytest.mark.parametrize("smooth", [True, False])
@given(reference.queries(7), st.sampled_from([0.01, 1.0, 10.0]))
@settings(max_examples=15)
def test_bounds(measure: Any, smooth: bool, query: reference.Query, sigma: float) -> None:
    """1 − measure ≤ loss for the worst order of equal scores, at any sigma."""
    labels, scores = query
    value = reference.VALUES[type(measure).__name__]
    names = {"NDCG": ("k", "gain", "discount"), "AP": ("k", "threshold")}
    options = {name: getattr(measure, name) for name in names[type(measure).__name__]}
    worst = reference.tied(lambda order: value(order, **options), labels, scores, "pessimistic")
    if worst is not None:
        (loss,) = bind(measure, labels, smooth=smooth).loss(scores, sigma)
        assert 1 - worst <= loss + 1e-12


@measures
@pytest.mark.parametrize("smooth", [True, False])
@given(reference.queries(8), st.integers(0, 99))
@settings(max_examples=15)
def test_tangents(measure: Any, smooth: bool, query: reference.Query, seed: int) -> None:
    """The loss is above every tangent plane, kinks and ties included."""
    labels, scores = query
    start = np.array(scores)
    other = np.random.default_rng(seed).normal(scale=2, size=len(scores)).round(1)
    bound = bind(measure, labels, smooth=smooth)
    ends = bound.loss(start)[0], bound.loss(other)[0]
    gradient, _ = bound.gradients(start)
    assert ends[1] >= ends[0] + gradient @ (other - start) - 1e-12


@measures
@given(reference.queries(8))
@settings(max_examples=15)
def test_narrow_smoothing_is_exact(measure: Any, query: reference.Query) -> None:
    """0 ≤ smooth − exact ≤ σ log m; gradients agree away from kinks and ties."""
    labels, scores = query
    exact, smooth = bind(measure, labels, smooth=False), bind(measure, labels)
    for sigma in (1.0, 0.1, 1e-3, 1e-300):
        excess = smooth.loss(scores, sigma) - exact.loss(scores)
        assert -1e-12 <= excess[0] <= sigma * log(len(labels)) + 1e-12
    apart = 0.3 * np.random.default_rng(0).permutation(len(labels))  # the margin is 1
    assert_allclose(smooth.gradients(apart, 1e-3)[0], exact.gradients(apart)[0], atol=1e-12)


def losses_of_orders(m: int, n_relevant: int) -> dict[frozenset[int], float]:
    """Return the largest 1 − AP by which relevant documents stand below an irrelevant one."""
    found: dict[frozenset[int], float] = {}
    for order in permutations(range(m)):
        precisions, wrong = [], set()
        for rank, document in enumerate(order, 1):
            if document < n_relevant:
                precisions.append((len(precisions) + 1) / rank)
                if len(precisions) < rank:
                    wrong.add(document)
        loss = 1 - sum(precisions) / n_relevant
        found[frozenset(wrong)] = max(found.get(frozenset(wrong), 0.0), loss)
    return found


@pytest.mark.parametrize(("m", "n_relevant"), [(m, r) for m in range(2, 7) for r in range(1, m)])
def test_tight_weights_over_all_orders(m: int, n_relevant: int) -> None:
    """v bounds 1 − AP without slack for every number of errors; its mean for all.

    Below an irrelevant document, a hinge is at least 1. With scores that are nearly equal within
    an order, and the margin of 1, the bound's limit is the sum of v.
    """
    others = m - n_relevant
    v = [others / n_relevant / (others + i) for i in range(1, n_relevant + 1)]
    worst = losses_of_orders(m, n_relevant)
    slack = [math.inf] * (n_relevant + 1)
    for wrong, loss in worst.items():
        excess = sum(v[i] for i in wrong) - loss
        assert excess >= -1e-12
        slack[len(wrong)] = min(slack[len(wrong)], excess)
        assert len(wrong) * sum(v) / n_relevant >= loss - 1e-12
    assert slack == pytest.approx([0] * (n_relevant + 1), abs=1e-12)
    labels = [1] * n_relevant + [0] * others
    (loss,) = bind("ap", labels, smooth=False, tight=True).loss(np.zeros(m))
    assert loss == pytest.approx(worst[frozenset(range(n_relevant))])
    assert loss < bind("ap", labels, smooth=False).loss(np.zeros(m))[0]


@given(reference.queries(8), st.booleans())
@settings(max_examples=40)
def test_tight_bound(query: reference.Query, smooth: bool) -> None:
    """1 − AP ≤ loss for the worst order of equal scores; a factor on all else, query by query."""
    labels, scores = query
    worst = reference.tied(
        lambda order: reference.VALUES["AP"](order, k=None, threshold=1.0), labels, scores,
        "pessimistic",
    )  # fmt: skip
    tight, rows, wide = (bind("ap", labels, smooth=smooth, tight=t) for t in (True, "rows", False))
    if worst is not None:
        for bound in (tight, rows):
            assert 1 - worst <= bound.loss(scores)[0] + 1e-12
    zeros = np.zeros(len(labels))  # where the paper's weights are worth as much as their mean
    assert_allclose(rows.loss(zeros), tight.loss(zeros), atol=1e-12)
    m, n_relevant = len(labels), sum(label >= 1 for label in labels)
    factor = np.mean([(m - n_relevant) / (m - n_relevant + i + 1) for i in range(n_relevant)] or 0)
    assert_allclose(tight.loss(scores), factor * wide.loss(scores), atol=1e-12)
    assert_allclose(tight.gradients(scores)[0], factor * wide.gradients(scores)[0], atol=1e-12)


def test_weights_document_by_document() -> None:
    """The i-th relevant document by row has v_i, also among equal scores."""
    qid, labels = [0, 1, 0, 1, 0, 0, 1, 0], [1, 1, 0, 2, 3, 0, 0, 1]  # 3 of 5, and 2 of 3
    bound = SLAM("ap", smooth=False, tight="rows").bind(labels, Queries.from_qid(qid))
    v = {0: 2 / 9, 4: 2 / 12, 7: 2 / 15, 1: 1 / 4, 3: 1 / 6}
    gradient, curvature = bound.gradients(np.zeros(8))
    for i, weight in v.items():
        assert gradient[i] == pytest.approx(-weight)
        assert curvature[i] == pytest.approx(weight)
    assert_allclose(bound.loss(np.zeros(8)), [2 / 9 + 2 / 12 + 2 / 15, 1 / 4 + 1 / 6])
    scores = np.array([5.0, 0.0, 2.0, 9.0, 0.5, -1.0, 3.0, 1.5])
    assert_allclose(bound.loss(scores), [2.5 * 2 / 12 + 1.5 * 2 / 15, 4 / 4])
