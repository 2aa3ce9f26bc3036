"""A ranker whose quality is known."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

__all__ = ["NOISY", "Noisy"]


class Noisy(BaseEstimator):
    """Scores the first feature plus noise of its seed; counts its fits."""

    fits = 0

    def __init__(self, noise: float = 0.0, random_state: int = 0) -> None:
        self.noise = noise
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, qid: Any, eval_set: Any, eval_qid: Any) -> "Noisy":
        """Check that the parts do not share a query."""
        Noisy.fits += 1
        assert not set(qid) & set(eval_qid[0])
        self.seen_ = set(qid)
        return self

    def predict(self, X: Any) -> Any:
        """Return the same scores for the same rows and seed."""
        draws = np.random.default_rng(self.random_state).normal(size=len(X))
        return np.asarray(X)[:, 0] + self.noise * draws


NOISY = {"clean": Noisy(), "noisy": Noisy(1.0), "worse": Noisy(5.0)}
