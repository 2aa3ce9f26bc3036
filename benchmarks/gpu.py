"""Seconds of fits on XGBoost with and without a GPU, and of the gradient, which the CPU computes.

Normal features in single precision, lists of 50, "lambda:ndcg", all features in each tree. A round
is what a fit of 55 rounds takes more than one of 5, divided by 50.

    python -m benchmarks.gpu
"""

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.writing import markdown_table
from gbrank import GBRanker, Queries, get_objective

SIZES = ((100_000, 50), (1_000_000, 100))
LENGTH, ROUNDS = 50, (5, 55)
GRADIENTS = 10


def seconds(data: tuple[Any, ...], rounds: int, device: str) -> float:
    """Return the seconds of a fit; a GPU that XGBoost does not find is an error."""
    X, y, qid = data
    ranker = GBRanker(
        "lambda:ndcg",
        booster="xgboost",
        n_estimators=rounds,
        colsample=1.0,
        n_jobs=-1,
        booster_params={"device": device},
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(X, y, qid=qid)
    return time.perf_counter() - start


def gradient_seconds(y: Any, qid: Any) -> float:
    """Return the seconds of one gradient, on all processors."""
    bound = get_objective("lambda:ndcg").bind(y, Queries.from_qid(qid))
    scores = np.random.default_rng(1).normal(size=len(y))
    bound.gradients(scores)
    start = time.perf_counter()
    for _ in range(GRADIENTS):
        bound.gradients(scores)
    return (time.perf_counter() - start) / GRADIENTS


def main() -> None:
    """Measure and print."""
    rows = []
    for n_documents, n_features in SIZES:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n_documents, n_features)).astype(np.float32)
        utility = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_documents)
        y, qid = np.clip(np.round(utility), 0, 4), np.arange(n_documents) // LENGTH
        gradient = gradient_seconds(y, qid)
        for device in ("cpu", "cuda"):
            seconds((X, y, qid), 2, device)
            few, many = (seconds((X, y, qid), rounds, device) for rounds in ROUNDS)
            each = (many - few) / (ROUNDS[1] - ROUNDS[0])
            numbers = f"{many:.1f}", f"{1000 * each:.0f}", f"{1000 * gradient:.0f}"
            rows.append([f"{n_documents:,} x {n_features}", device, *numbers])
    head = ["documents x features", "device", "s a fit", "ms a round", "of it the gradient"]
    print(markdown_table(head, rows, words=2))


if __name__ == "__main__":
    main()
