"""The bound on the perceptron's loss: on random streams, and on one made to reach it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.loss_bounds import (
    papers_regret_bound,
    perceptron_loss_bound,
    perceptron_regret_bound,
)
from benchmarks.papers.slam import largest_ratio
from gbrank import Queries, SLAMPerceptron


@pytest.mark.parametrize("measure", ["ndcg@2", "ap"])
@given(st.integers(0, 9999), st.sampled_from([0.01, 1.0, 100.0]), st.sampled_from([0.1, 1.0]))
@settings(max_examples=20)
def test_random_streams(measure: str, seed: int, eta: float, margin: float) -> None:
    """Grades that a unit vector keeps apart, amid noise across it."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, 60).astype(float)
    X = rng.normal(size=(60, 4))
    X[:, 0] = 0.4 * labels + rng.uniform(0, 0.1, 60)  # u = (1, 0, 0, 0), γ = 0.3
    ranker = SLAMPerceptron(measure, learning_rate=eta, margin=margin)
    ranker.fit(X, labels, qid=np.arange(60) // 6)
    radius = np.linalg.norm(X, axis=1).max()
    assert ranker.cumulative_loss_[-1] <= perceptron_loss_bound(radius, 0.3, eta, margin)


def test_theorem_5_by_hand() -> None:
    """ΔA = F + c √A; weights of norm 0 lose as much as A may be; none lost is corollary 6."""
    root = np.sqrt(perceptron_regret_bound(0.5, 3.0, 7.0, 4.0, 2.0))
    assert 2 * root**2 == pytest.approx(7 + 3 * np.sqrt(1 + 1) * root)
    assert perceptron_regret_bound(1.0, 0.0, 6.0, margin=2.0) == pytest.approx(3)
    assert perceptron_loss_bound(1.5, 0.25, 0.5, 2.0) == pytest.approx((9 + 8) / 0.0625)


@given(*[st.floats(0, 9)] * 3, st.integers(1, 99), st.floats(1, 9))
def test_the_papers_factor_is_no_help(
    radius: float, norm: float, loss: float, m: int, ratio: float
) -> None:
    """With long steps, our bound is below that with the paper's factor."""
    ours = perceptron_regret_bound(radius, norm, loss, learning_rate=1e300)
    assert ours <= papers_regret_bound(radius, norm, loss, m, ratio) * (1 + 1e-9) + 1e-9


def test_largest_ratio_of_weights() -> None:
    """NDCG's are G D: 3 at rank 1, 1/log2(3) at rank 2; equal labels share, and AP's are equal."""
    queries = Queries.from_sizes([2, 3, 1])
    labels = np.array([1.0, 1, 0, 2, 1, 0])
    assert largest_ratio("ndcg", labels, queries) == pytest.approx(3 * np.log2(3))
    assert largest_ratio("ndcg", np.minimum(labels, 1), queries) == 1
    assert largest_ratio("ap", labels, queries) == 1
