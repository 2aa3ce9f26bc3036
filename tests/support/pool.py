"""A script: fits in a pool of processes, some after OpenMP was used here; see test_concurrency.py.

    python pool.py METHOD

It prints the digest of each model's predictions: first this process's, then the pool's.
"""

import hashlib
import multiprocessing
import sys
from typing import Any

from gbrank import GBRanker, make_cubic

X, Y, QID = make_cubic(30, n_documents=12, n_features=5, random_state=0)
FITS = [(booster, seed) for seed in range(2) for booster in ("lightgbm", "xgboost")]


def fit(booster: str, seed: int, **params: Any) -> GBRanker:
    """Return a small ranker, fitted."""
    ranker = GBRanker(
        booster=booster, n_estimators=5, subsample=0.7, random_state=seed,
        **{"min_child_samples": 3, "n_jobs": 1, **params},
    )  # fmt: skip
    return ranker.fit(X, Y, qid=QID)


def digest(booster: str, seed: int) -> str:
    """Return what a ranker predicts, in a word."""
    return hashlib.sha256(fit(booster, seed).predict(X).tobytes()).hexdigest()


if __name__ == "__main__":
    print(*(digest(*case) for case in FITS))
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(*pool.starmap(digest, FITS))
