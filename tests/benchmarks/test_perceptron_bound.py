"""The bound on the perceptron's loss: on random streams, and on one made to reach it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.papers.loss_bounds import perceptron_loss_bound, perceptron_regret_bound
from gbrank import SLAMPerceptron


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
