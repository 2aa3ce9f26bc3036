"""SLAMPerceptron: rounds by hand, invariance to scale, and the bounds on the cumulative loss."""

from math import log2
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from gbrank import AP, NDCG, SLAM, Queries, SLAMPerceptron, make_cubic
from slam_weights import weights

Vector = NDArray[np.float64]

X, Y, QID = make_cubic(40, n_documents=8, n_features=4, random_state=0)
MEASURES: list[Any] = ["ndcg", "ndcg@3", "ap", NDCG(k=5, gain="linear"), AP(threshold=2)]
GRADES = np.repeat([4.0, 3.0, 2.0, 1.0, 0.0], [3, 3, 4, 5, 5])


def narrow(n_queries: int, seed: int) -> tuple[Vector, Vector, Vector]:
    """Return queries whose grades stand 0.2 apart along (1, ..., 1), amid noise of sd 1 across."""
    generator = np.random.default_rng(seed)
    labels = np.tile(GRADES, n_queries)
    unit = np.full(10, 1 / np.sqrt(10))
    X = generator.normal(size=(len(labels), 10))
    X -= np.outer(X @ unit, unit)
    X += np.outer(0.3 * labels + generator.uniform(0, 0.1, len(labels)), unit)
    return X, labels, np.repeat(np.arange(n_queries), 20)


def by_hand(measure: Any, eta: float, margin: float) -> tuple[Vector, list[float]]:
    """Run the perceptron over the queries, one document at a time."""
    w, losses = np.zeros(4), []
    for query in range(40):
        own = slice(8 * query, 8 * query + 8)
        rows, labels = X[own], Y[own].tolist()
        scores = rows @ w
        value = measure.per_query(labels, scores)[0]
        losses.append(0.0 if np.isnan(value) else 1 - value)
        if losses[-1] <= 1e-12:
            continue
        # The measure's own grades: what is worth the same is not told apart.
        grades = [float(label >= 2) for label in labels] if isinstance(measure, AP) else labels
        gradient = np.zeros(4)
        for i, v in enumerate(weights(measure, labels)[1]):
            lower = [j for j in range(8) if grades[j] < grades[i]]
            if v == 0 or not lower:
                continue
            best = max((scores[j], grades[j]) for j in lower)
            if margin + best[0] - scores[i] > 0:
                at_best = [j for j in lower if (scores[j], grades[j]) == best]
                gradient += v * (rows[at_best].mean(axis=0) - rows[i])
        w = w - eta * gradient
    return w, losses


@pytest.mark.parametrize(
    ("measure", "eta", "margin"),
    [
        (NDCG(), 1.0, 1.0),
        (NDCG(k=3), 0.1, 1.0),
        (NDCG(k=5, gain="linear"), 1.0, 0.02),
        (AP(threshold=2), 1.0, 1.0),
        (AP(threshold=2), 0.1, 0.02),
    ],
)
def test_rounds_by_hand(measure: Any, eta: float, margin: float) -> None:
    """Weights and losses of every round."""
    ranker = SLAMPerceptron(measure, learning_rate=eta, margin=margin).fit(X, Y, qid=QID)
    w, losses = by_hand(measure, eta, margin)
    assert_allclose(ranker.coef_, w, atol=1e-12)
    assert_allclose(ranker.cumulative_loss_, np.cumsum(losses), atol=1e-12)
    assert ranker.score(X, Y, QID) == measure(Y, X @ ranker.coef_, qid=QID)


def test_only_errors_teach() -> None:
    """A query that is ranked perfectly changes nothing, though within the margin; nor does one
    that has nothing relevant."""
    ranker = SLAMPerceptron().partial_fit([[1.0], [0.0]], [1, 0])
    assert ranker.coef_.tolist() == [1.0]
    ranker.partial_fit([[0.3], [0.2]], [1, 0]).partial_fit([[0.3], [0.2]], [0, 0])
    assert ranker.coef_.tolist() == [1.0]
    ranker.partial_fit([[0.2], [0.3]], [1, 0])
    assert ranker.coef_[0] == pytest.approx(0.9)
    expected = np.cumsum([1 - (1 + 1 / log2(3)) / 2, 0, 0, 1 - 1 / log2(3)])
    assert_allclose(ranker.cumulative_loss_, expected)


# --- Scale ------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from(MEASURES), st.floats(0.01, 10), st.floats(0.01, 10), st.integers(-20, 20),
    st.floats(0.01, 100),
)  # fmt: skip
def test_joint_scale(measure: Any, eta: float, margin: float, power: int, scale: float) -> None:
    """η and the margin together scale the weights, and nothing else; exactly, by powers of 2."""
    first = SLAMPerceptron(measure, learning_rate=eta, margin=margin).fit(X, Y, qid=QID)
    two = 2.0**power
    other = SLAMPerceptron(measure, learning_rate=two * eta, margin=two * margin)
    other.fit(X, Y, qid=QID)
    assert_array_equal(other.coef_, two * first.coef_)
    assert_array_equal(other.cumulative_loss_, first.cumulative_loss_)
    other = SLAMPerceptron(measure, learning_rate=scale * eta, margin=scale * margin)
    assert_allclose(other.fit(X, Y, qid=QID).coef_, scale * first.coef_, rtol=1e-6)


# --- Bounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["ndcg", "ndcg@5", AP(threshold=3)])
@pytest.mark.parametrize("eta", [0.01, 0.3])
def test_regret(measure: Any, eta: float) -> None:
    """Proposition before theorem 5, for w* = 5 (1, ..., 1)/√10, whose surrogate is 0.

    Σ loss ≤ Σ surrogate ≤ (‖w*‖² + Σ ‖step‖²)/(2η) over the rounds that err.
    """
    rows, labels, qid = narrow(60, 7)
    slam = SLAM(measure, smooth=False)
    best = np.full(10, 5 / np.sqrt(10))
    assert slam.bind(labels, Queries.from_qid(qid)).loss(rows @ best).max() < 1e-12
    ranker = SLAMPerceptron(measure, learning_rate=eta)
    surrogate = steps = 0.0
    erring, w = 0, np.zeros(10)
    for query in range(60):
        own = slice(20 * query, 20 * query + 20)
        ranker.partial_fit(rows[own], labels[own])
        if (ranker.coef_ != w).any():
            bound = slam.bind(labels[own], Queries.from_sizes([20]))
            surrogate += bound.loss(rows[own] @ w)[0]
            steps += np.sum((ranker.coef_ - w) ** 2)
            erring += 1
        w = ranker.coef_
    assert erring > 10
    assert ranker.cumulative_loss_[-1] <= surrogate <= (25 + steps) / (2 * eta)


# --- Streams ----------------------------------------------------------------------------------


def test_streams() -> None:
    """One query at a time, several, all at once, several times over, saved in between."""
    whole = SLAMPerceptron(max_iter=2).fit(X, Y, qid=QID)
    ranker = SLAMPerceptron()
    for _ in range(2):
        for query in range(20):
            own = slice(8 * query, 8 * query + 8)
            ranker.partial_fit(X[own], Y[own])
        late = QID >= 20
        ranker.partial_fit(X[late], Y[late], group=[8] * 20)
    assert_array_equal(ranker.coef_, whole.coef_)
    assert_allclose(ranker.cumulative_loss_, whole.cumulative_loss_, rtol=1e-13)
    assert len(whole.cumulative_loss_) == 80
    assert_array_equal(whole.fit(X, Y, qid=QID).coef_, ranker.coef_)


def test_forms_of_data() -> None:
    """Sparse, in a frame, rows of a query apart: the same weights."""
    expected = SLAMPerceptron().fit(X, Y, qid=QID).coef_
    apart = np.argsort(np.tile(np.arange(8), 40), kind="stable")
    for rows, labels, qid in (
        (sp.csr_matrix(X), Y, QID),
        (pd.DataFrame(X), Y, QID),
        (X[apart], Y[apart], QID[apart]),
    ):
        assert_allclose(SLAMPerceptron().fit(rows, labels, qid=qid).coef_, expected, rtol=1e-9)
