"""Small fits of either booster, and the data that they are made on."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gbrank import GBRanker, make_cubic
from plain_trees import PLAIN

Vector = NDArray[np.float64]

X_ALL, Y_ALL, QID_ALL = make_cubic(60, n_documents=15, n_features=6, random_state=0)
TRAIN = QID_ALL < 40
X, Y, QID = X_ALL[TRAIN], Y_ALL[TRAIN], QID_ALL[TRAIN]
VALID = {"eval_set": [(X_ALL[~TRAIN], Y_ALL[~TRAIN])], "eval_qid": [QID_ALL[~TRAIN]]}
HELD_OUT = (X_ALL[~TRAIN], Y_ALL[~TRAIN], QID_ALL[~TRAIN])
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def make(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker."""
    defaults = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}
    return GBRanker(objective, booster=booster, **{**PLAIN, **defaults, **params})


def fit(booster: str = "lightgbm", objective: Any = "lambdarank", **params: Any) -> GBRanker:
    """Return a small ranker, fitted."""
    return make(booster, objective, **params).fit(X, Y, qid=QID)


def regression(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return the derivatives of half the squared error."""
    return 0.0, scores - labels, np.ones_like(scores)
