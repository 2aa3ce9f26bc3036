"""Seconds of a whole fit on small data, beside LightGBM's ranker on the same trees.

10,005 documents of 25 features in lists of 15, 300 rounds: on LightGBM's default trees and on
`GBRanker`'s, by one thread and by two. The fits take turns in one process; medians are printed.

    python -m benchmarks.small
"""

import argparse
import time
from typing import Any

import lightgbm as lgb
import numpy as np

from gbrank import GBRanker

ROUNDS = 300
LENGTH, LISTS, FEATURES = 15, 667, 25
# In the names of either library: leaves, share of the features, random thresholds, rate.
TREES = {"LightGBM's": (31, 1.0, False, 0.1), "GBRanker's": (31, 0.5, True, 0.03)}


def rankers(trees: str, threads: int) -> tuple[GBRanker, lgb.LGBMRanker]:
    """Return both rankers, unfitted."""
    leaves, share, random, rate = TREES[trees]
    common: dict[str, Any] = {"n_estimators": ROUNDS, "num_leaves": leaves, "learning_rate": rate}
    common |= {"extra_trees": random, "min_child_samples": 20, "n_jobs": threads}
    ours = GBRanker(colsample=share, random_state=0, **common)
    return ours, lgb.LGBMRanker(colsample_bytree=share, verbosity=-1, random_state=0, **common)


def make_data() -> tuple[Any, Any, Any]:
    """Return features, labels and sizes of lists."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(LISTS * LENGTH, FEATURES))
    worth = X[:, :10] @ rng.normal(size=10) + 2 * rng.normal(size=len(X))
    return X, np.searchsorted(np.quantile(worth, [0.6, 0.8, 0.95]), worth), [LENGTH] * LISTS


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=15, help="fits of each ranker")
    times = parser.parse_args().times
    X, y, group = make_data()
    print(f"{'trees':14}{'threads':>8}{'GBRanker':>10}{'LightGBM':>10}{'ratio':>8}")
    for trees in TREES:
        for threads in (1, 2):
            seconds: list[list[float]] = []
            for _ in range(1 + times):  # the first one compiles
                seconds.append([])
                for ranker in rankers(trees, threads):
                    start = time.perf_counter()
                    ranker.fit(X, y, group=group)
                    seconds[-1].append(time.perf_counter() - start)
            ours, theirs = np.median(seconds[1:], axis=0)
            figures = f"{ours:9.2f}s{theirs:9.2f}s{ours / theirs:8.2f}"
            print(f"{trees:14}{threads:8}{figures}", flush=True)


if __name__ == "__main__":
    main()
