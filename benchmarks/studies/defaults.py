"""The search for GBRanker's defaults: validation NDCG@10 by round, for one variant at a time.

python -m benchmarks.studies.defaults --data mq2008 ohsumed flights nfcorpus --folds 1 3 5

It reads training and validation queries only. The rows that stand in results/defaults.json were
run in this order: objectives on small slow trees, then trees, then the rate, then sampling; not
every variant on every fold.
"""

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.letor_folders import read_folds
from benchmarks.writing import RESULTS, rows_to_json
from gbrank import GBRanker

ROUNDS = (100, 200, 300, 400, 500)
WINDOW = 25  # rounds on either side that a value is the mean of
SLOW: dict[str, Any] = {
    "learning_rate": 0.05, "num_leaves": 15, "min_child_samples": 50, "subsample": 0.5,
    "colsample": 0.5, "extra_trees": True,
}  # fmt: skip
PLAIN: dict[str, Any] = {
    "learning_rate": 0.1, "num_leaves": 31, "min_child_samples": 20, "subsample": 1.0,
    "colsample": 1.0, "extra_trees": False,
}  # fmt: skip
LARGE = SLOW | {"learning_rate": 0.02, "num_leaves": 63, "min_child_samples": 20}
OBJECTIVES = (
    "lambda:ndcg", "noisy:ndcg", "lambda:ndcg+ranknet", "noisy:ndcg+ranknet", "lambda:ndcg+listmle",
    "listmle", "ranknet", "tie:ndcg", "xendcg", "listnet", "lambda:ndcg@10",
    "lambda(normalize=lightgbm):ndcg",
)  # fmt: skip


def variants() -> Iterator[dict[str, Any]]:
    """Yield the parameters of each ranker."""
    for trees in (SLOW, PLAIN):
        for objective in OBJECTIVES:
            yield {"objective": objective, **trees}
    for change in (
        {"num_leaves": 7}, {"num_leaves": 31}, {"num_leaves": 63}, {"min_child_samples": 20},
        {"min_child_samples": 100}, {"extra_trees": False}, {"subsample": 0.3}, {"subsample": 0.8},
        {"subsample": 1.0}, {"colsample": 1.0}, {"reg_lambda": 5.0}, {"reg_lambda": 20.0},
        {"learning_rate": 0.1},
    ):  # fmt: skip
        yield {"objective": "lambda:ndcg", **SLOW, **change}
    for leaves, smallest in ((15, 50), (31, 50), (63, 20)):
        for objective in OBJECTIVES[:4]:
            trees = LARGE | {"num_leaves": leaves, "min_child_samples": smallest}
            yield {"objective": objective, **trees}
    for sampling in (
        {"subsample_by": "query"}, {"subsample": 1.0}, {"subsample": 1.0, "colsample": 1.0},
        {"subsample_by": "query", "colsample": 1.0},
    ):  # fmt: skip
        yield {"objective": "noisy:ndcg", **LARGE, **sampling}


def outcome(params: dict[str, Any], train: Any, valid: Any, seed: int) -> dict[str, Any]:
    """Return validation NDCG@10 around some rounds, and the CPU seconds of the fit."""
    ranker = GBRanker(**params, n_estimators=ROUNDS[-1] + WINDOW, random_state=seed, n_jobs=1)
    start = time.process_time()
    ranker.fit(train.X, train.y, qid=train.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    seconds = time.process_time() - start
    curve = ranker.evals_result_["valid_0"]["ndcg@10"]
    values = {f"after {n}": float(np.mean(curve[n - WINDOW : n + WINDOW])) for n in ROUNDS}
    return {**values, "cpu_seconds": seconds}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--folds", nargs="+", type=int, default=[1, 3, 5])
    arguments = parser.parse_args()
    rows = []
    for folder in arguments.data:
        data = read_folds(folder)
        for fold in arguments.folds:
            train, valid, _ = data.fold(fold)
            for params in variants():
                found = outcome(params, train, valid, fold)
                rows.append({"data": data.name, "fold": fold, **params, **found})
                print(json.dumps(rows[-1]), flush=True)
    (RESULTS / "defaults.json").write_text(rows_to_json(rows), encoding="utf-8")
