"""Milliseconds of `predict` for one query, beside each booster's own ranker on the same trees.

40 documents of 50 features, 100 trees of 31 leaves, one thread: from a NumPy array, a pandas frame,
one with a column of categories, and a polars frame. The rankers take turns in one process; the
least of many repeats is printed, since whatever else runs only adds to it.

    python -m benchmarks.latency
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import polars as pl
import xgboost as xgb

from gbrank import GBRanker

QUERIES, LENGTH, FEATURES = 100, 40, 50
TREES: dict[str, Any] = {"n_estimators": 100, "learning_rate": 0.1, "n_jobs": 1}
COLUMNS = [f"f{place}" for place in range(FEATURES)]
# What the boosters' own rankers read too: LightGBM takes no polars frame, only its Arrow table.
FRAMES: dict[str, Callable[[Any], Any]] = {
    "NumPy": lambda X: X,
    "pandas": lambda X: pd.DataFrame(X, columns=COLUMNS),
    "pandas, a category": lambda X: with_category(pd.DataFrame(X, columns=COLUMNS)),
    "polars": lambda X: pl.DataFrame(X, schema=COLUMNS),
}


def with_category(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose first column has become one of categories."""
    words = np.array([*"abcdefgh"])[np.floor(np.abs(frame[COLUMNS[0]]) * 2).astype(int) % 8]
    return frame.assign(**{COLUMNS[0]: pd.Categorical(words, [*"abcdefgh"])})


def own_ranker(booster: str) -> Any:
    """Return the booster's own ranker, unfitted."""
    if booster == "lightgbm":
        return lgb.LGBMRanker(num_leaves=31, verbosity=-1, random_state=0, **TREES)
    leaves = {"max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide"}
    return xgb.XGBRanker(enable_categorical=True, random_state=0, **leaves, **TREES)


def least_seconds(calls: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Return the least seconds of each call; they take turns."""
    least = [np.inf] * len(calls)
    for _ in range(repeats):
        for place, call in enumerate(calls):
            start = time.perf_counter()
            call()
            least[place] = min(least[place], time.perf_counter() - start)
    return least


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--times", type=int, default=500, help="predictions of each ranker")
    times = parser.parse_args().times
    rng = np.random.default_rng(0)
    values = rng.normal(size=(QUERIES * LENGTH, FEATURES))
    y = np.searchsorted([0.0, 2.0, 4.0], values[:, :10].sum(axis=1))
    group = [LENGTH] * QUERIES
    print(f"{'booster':10}{'X':20}{'gbrank':>10}{'its own':>10}{'ratio':>8}")
    for booster in ("lightgbm", "xgboost"):
        ours = GBRanker(booster=booster, num_leaves=31, extra_trees=False, random_state=0, **TREES)
        for kind, make in FRAMES.items():
            X = make(values)
            # LightGBM's ranker takes polars as an Arrow table, made by each call.
            arrow = kind == "polars" and booster == "lightgbm"
            own = own_ranker(booster).fit(X.to_arrow() if arrow else X, y, group=group)
            query = X[:LENGTH]
            calls = [
                lambda ranker=ours.fit(X, y, group=group), X=query: ranker.predict(X),
                lambda ranker=own, X=query, arrow=arrow: ranker.predict(
                    X.to_arrow() if arrow else X
                ),
            ]
            first, second = least_seconds(calls, times)
            figures = f"{1e3 * first:8.2f}ms{1e3 * second:8.2f}ms{first / second:8.2f}"
            print(f"{booster:10}{kind:20}{figures}", flush=True)


if __name__ == "__main__":
    main()
