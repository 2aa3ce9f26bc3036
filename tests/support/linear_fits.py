"""Small fits of LinearRanker, and the data that they are made on."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank import LinearRanker, make_cubic

Vector = NDArray[np.float64]

X_ALL, Y_ALL, QID_ALL = make_cubic(50, n_documents=12, n_features=5, random_state=0)
TRAIN = QID_ALL < 30
X, Y, QID = X_ALL[TRAIN], Y_ALL[TRAIN], QID_ALL[TRAIN]
HELD_OUT = (X_ALL[~TRAIN], Y_ALL[~TRAIN], QID_ALL[~TRAIN])
VALID = {"eval_set": [HELD_OUT[:2]], "eval_qid": [HELD_OUT[2]]}
WEIGHTS = np.random.default_rng(0).uniform(0.5, 2, len(Y))


def make(objective: Any = "smooth:ndcg", **params: Any) -> LinearRanker:
    """Return a ranker of one thread."""
    return LinearRanker(objective, **{"random_state": 0, "n_jobs": 1, **params})


def fit(objective: Any = "smooth:ndcg", **params: Any) -> LinearRanker:
    """Return a ranker, fitted."""
    return make(objective, **params).fit(X, Y, qid=QID)


def squared(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return half the squared error and its derivatives."""
    error = scores - labels
    return 0.5 * (error @ error), error, np.ones_like(error)
