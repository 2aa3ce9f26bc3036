"""The bound on the perceptron's loss: on random streams, and on one made to reach it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gbrank import SLAMPerceptron, perceptron_loss_bound


@pytest.mark.parametrize("measure", ["ndcg", "ndcg@2", "ap", "ap@2"])
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


def test_near_equality() -> None:
    """An adversary shows one relevant document below 49 others, at right angles to the weights."""
    gap, eta, side = 0.1, 100.0, np.sqrt(4 - 0.1**2)
    ranker = SLAMPerceptron("ap", learning_rate=eta)
    ranker.partial_fit([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], [0, 0])
    for _ in range(1000):
        w = ranker.coef_
        across = np.linalg.norm(w[1:])
        cosine = (gap * w[0] + 1e-9) / (side * across) if across else 0.0
        if cosine > 1:
            break
        toward = -w[1:] / across if across else np.array([1.0, 0.0])
        aside = np.array([-toward[1], toward[0]])
        away = np.r_[gap, side * (cosine * toward + np.sqrt(1 - cosine**2) * aside)]
        ranker.partial_fit(np.vstack([away / 2, np.tile(-away / 2, (49, 1))]), [1] + [0] * 49)
    bound = perceptron_loss_bound(1.0, gap, eta)
    assert 0.95 * bound < np.nanmax(ranker.cumulative_loss_) <= bound


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 1), "radius must be a number of at least 0"),
        ((1, 0), "gap must be a number above 0"),
        ((1, 1, 0), "learning_rate must be a number above 0"),
        ((1, 1, 1, 0), "margin must be a number above 0"),
    ],
)
def test_bad_arguments(arguments: Any, message: str) -> None:
    """Errors name the argument, what it was and what it should be."""
    with pytest.raises(ValueError, match=message):
        perceptron_loss_bound(*arguments)
