"""A small ranker with the boosters' own options."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank import GBRanker

N = 1500
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 4, N).astype(float)
X = RNG.normal(size=(N, 6)) + 0.5 * Y[:, None]
X[:, 0] = X[:, 0].round(1)
X[:, 3] = RNG.integers(0, 30, N) + 3 * Y  # categories
X[:, 4] = np.where(RNG.random(N) < 0.4, 0, X[:, 4])
X[RNG.random(N) < 0.2, 5] = np.nan


def scores(booster: str, params: dict[str, Any], **more: Any) -> NDArray[np.float64]:
    """Return what a small ranker predicts."""
    defaults = {"n_estimators": 12, "learning_rate": 0.2, "num_leaves": 20,
                "min_child_samples": 5, "colsample": 0.7}  # fmt: skip
    params = {"max_bin": 255, **params}
    options: dict[str, Any] = {"random_state": 0, "n_jobs": 1, **defaults, **more}
    ranker = GBRanker("ranknet", booster=booster, booster_params=params, **options)
    return ranker.fit(X, Y, group=[30] * 50, categorical_feature=[3]).predict(X)
