"""Seconds per boosting round, and the gradient's own share, on data shaped like MSLR-WEB30K.

The same trees (31 leaves, 2 threads, learning rate 0.1, 255 bins) are grown on: squared loss;
stored derivatives, which cost nothing and bend like LambdaRank's; LightGBM's lambdarank and
XGBoost's rank:ndcg; and gbrank's LambdaRank and default objective on both boosters; the default
objective also on the trees that `GBRanker()` grows. At the end
stands the gradient of every objective alone, at scattered scores, and its ratio to that of
LightGBM's lambdarank over all pairs at the same scores: what its rounds take beyond those on
stored derivatives where trees cost next to nothing, with two leaves and one feature of two values.
Everything is measured in one process, in turn; medians are reported, and the ratios are those of
the same run.

    python -m benchmarks.gradient            # 6,000 queries, about 717,000 documents
    python -m benchmarks.gradient --quick    # a tenth of that
    python -m benchmarks.gradient --length 440 --rounds-only    # longer lists, no single gradients
"""

import argparse
import itertools
import time
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb

from benchmarks.names import objective_names
from gbrank import NDCG, LambdaRank, Queries, get_objective, lightgbm_fobj, xgboost_obj
from gbrank.extend import Objective
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE

THREADS = 2
ALL_PAIRS = 10_000
LIMIT = 5.0  # seconds
MOVED = 0.05  # about as far as scores move in a round of boosting
FLOOR = "stored derivatives"
DEFAULT = f"gbrank {DEFAULT_OBJECTIVE}"
ALL_PAIRS_OURS = "gbrank LambdaRank, all pairs"
OWN_TREES = f"{DEFAULT}, GBRanker's trees"
DEFAULT_TREES = {"num_leaves": 31, "feature_fraction": 0.5, "extra_trees": True}
DEFAULT_BINS = {"max_bin": 63}


def make_data(n_queries: int, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return float32 features, five grades, and a sixth to eleven sixths of `length` a query."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(length // 6, length * 11 // 6, n_queries)
    n = int(sizes.sum())
    X = rng.normal(size=(n, 136)).astype(np.float32)
    worth = X[:, :20] @ rng.normal(size=20) + 2 * rng.normal(size=n)
    cuts = np.quantile(worth, np.cumsum([0.52, 0.32, 0.13, 0.02]))
    return X, np.searchsorted(cuts, worth).astype(np.float64), sizes


def lightgbm_round(data: lgb.Dataset, objective: Any, **params: object) -> Callable[[], object]:
    """Return a function that grows one more tree."""
    common = {"num_leaves": 31, "num_threads": THREADS, "verbosity": -1, "metric": "none"}
    custom = callable(objective)
    booster = lgb.Booster({**common, "objective": "none" if custom else objective, **params}, data)
    return (lambda: booster.update(fobj=objective)) if custom else booster.update


def xgboost_round(data: xgb.DMatrix, objective: Any, **params: object) -> Callable[[], object]:
    """Return a function that grows one more tree."""
    common = {
        "max_leaves": 31, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist",
        "nthread": THREADS, "base_score": 0, "disable_default_eval_metric": 1, "max_bin": 255,
    }  # fmt: skip
    custom = callable(objective)
    chosen = {} if custom else {"objective": objective}
    booster = xgb.Booster({**common, **chosen, **params}, [data])

    def grow() -> None:
        booster.update(data, booster.num_boosted_rounds(), objective if custom else None)

    return grow


def gradient_seconds(objective: Objective, y: np.ndarray, queries: Queries) -> float:
    """Return the seconds of one gradient at scattered scores, which move a little in between."""
    small = Queries.from_sizes([2])
    objective.bind([0, 1], small).gradients([0.0, 1.0])  # compiles
    bound = objective.bind(y, queries, n_jobs=THREADS)
    rng = np.random.default_rng(1)
    scores = rng.normal(size=len(y))
    rounds = itertools.cycle([scores, scores + MOVED * rng.normal(size=len(y))])
    return least(lambda: bound.gradients(next(rounds)), 5)


def least(run: Callable[[], object], times: int) -> float:
    """Return the least seconds of several runs, or of fewer if they take long."""
    seconds: list[float] = []
    while len(seconds) < times and sum(seconds) < LIMIT:
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure(rounds: dict[str, Callable[[], object]], warm_up: int, times: int) -> dict[str, float]:
    """Return the median seconds of a round of each contender, taken in turn."""
    for run in rounds.values():
        for _ in range(warm_up):
            run()
    seconds: dict[str, list[float]] = {name: [] for name in rounds}
    for _ in range(times):
        for name, run in rounds.items():
            seconds[name].append(least(run, 1))
    return {name: float(np.median(values)) for name, values in seconds.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the data")
    parser.add_argument("--rounds", type=int, default=15, help="measured rounds of each contender")
    parser.add_argument("--length", type=int, default=120, help="documents in a list, on average")
    parser.add_argument("--rounds-only", action="store_true", help="measure no single gradients")
    options = parser.parse_args()
    X, y, sizes = make_data(
        (72_000 if options.quick else 720_000) // options.length, options.length
    )
    queries = Queries.from_sizes(sizes)
    print(f"{len(y):,} documents, {len(sizes):,} queries, {THREADS} threads, medians\n")

    all_pairs, top = LambdaRank(NDCG()), LambdaRank(NDCG(), truncation=30)
    light = lgb.Dataset(X, y, group=sizes, params={"verbosity": -1}).construct()
    coarse = lgb.Dataset(X, y, group=sizes, params={"verbosity": -1, **DEFAULT_BINS}).construct()
    extreme = xgb.DMatrix(X, y, group=sizes)
    level = "lambdarank_truncation_level"
    pairs = {"lambdarank_pair_method": "topk", "lambdarank_num_pair_per_sample": ALL_PAIRS}
    bound = all_pairs.bind(y, queries)
    scores = np.random.default_rng(1).normal(size=len(y))
    stored = bound.gradients(scores)

    def replay(scores: np.ndarray, data: object) -> tuple[np.ndarray, np.ndarray]:
        return stored

    boosters: dict[str, dict[str, Callable[[], object]]] = {
        "LightGBM": {
            "squared loss": lightgbm_round(light, "regression", boost_from_average=False),
            FLOOR: lightgbm_round(light, replay),
            "lambdarank, truncation 30": lightgbm_round(light, "lambdarank", **{level: 30}),
            "lambdarank, all pairs": lightgbm_round(light, "lambdarank", **{level: ALL_PAIRS}),
            "gbrank LambdaRank, truncation 30": lightgbm_round(
                light, lightgbm_fobj(top, n_jobs=THREADS)
            ),
            ALL_PAIRS_OURS: lightgbm_round(light, lightgbm_fobj(all_pairs, n_jobs=THREADS)),
            DEFAULT: lightgbm_round(light, lightgbm_fobj(n_jobs=THREADS)),
            OWN_TREES: lightgbm_round(coarse, lightgbm_fobj(n_jobs=THREADS), **DEFAULT_TREES),
        },
        "XGBoost": {
            "squared loss": xgboost_round(extreme, "reg:squarederror"),
            FLOOR: xgboost_round(extreme, replay),
            "rank:ndcg, all pairs": xgboost_round(extreme, "rank:ndcg", **pairs),
            ALL_PAIRS_OURS: xgboost_round(extreme, xgboost_obj(all_pairs, n_jobs=THREADS)),
            DEFAULT: xgboost_round(extreme, xgboost_obj(n_jobs=THREADS)),
        },
    }
    for booster, rounds in boosters.items():
        seconds = measure(rounds, 5, options.rounds)
        print(f"{booster:36}{'s/round':>9}{'over floor':>12}")
        for name, value in seconds.items():
            print(f"  {name:34}{value:9.3f}{value - seconds[FLOOR]:12.3f}")
        theirs = next(name for name in rounds if "all pairs" in name and "gbrank" not in name)
        for ours in (name for name in (ALL_PAIRS_OURS, DEFAULT, OWN_TREES) if name in rounds):
            print(f"  whole round, {ours}: {seconds[ours] / seconds[theirs]:.2f} x {theirs}")
        print()
    if options.rounds_only:
        return
    sign = lgb.Dataset(np.sign(X[:, :1]), y, group=sizes, init_score=scores).construct()
    stumps = {
        "lambdarank": lightgbm_round(sign, "lambdarank", num_leaves=2, **{level: ALL_PAIRS}),
        FLOOR: lightgbm_round(sign, replay, num_leaves=2),
    }
    seconds = measure(stumps, 5, 2 * options.rounds)
    own = seconds["lambdarank"] - seconds[FLOOR]
    print(f"{'gradient':36}{'ms':>9}{'x lambdarank, all pairs':>26}")
    print(f"  {'LightGBM lambdarank, all pairs':34}{own * 1e3:9.1f}{1:26.2f}")
    for name in objective_names():
        gradient = gradient_seconds(get_objective(name), y, queries)
        print(f"  {name:34}{gradient * 1e3:9.1f}{gradient / own:26.2f}")


if __name__ == "__main__":
    main()
