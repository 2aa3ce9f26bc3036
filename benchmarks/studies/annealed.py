"""Smoothed objectives as they come, beside LambdaRank: validation NDCG@10, and what training does.

python -m benchmarks.studies.annealed --data mq2008 ohsumed flights nfcorpus --folds 1 2 3

Each ranker is `GBRanker(objective)`. `train_start` and `train_end` are training NDCG@10 after half
of the rounds, where RankNet hands over, and after all; `train_lowest` is the least in between.
The table is in docs/defaults.md.
"""

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.writing import RESULTS, rows_to_json
from gbrank import Dataset, GBRanker, make_cubic, read_folds

OBJECTIVES = ("lambda:ndcg", "approx:ndcg", "smooth:ndcg", "tie:ndcg")
QUERIES, JUDGED = 1500, 1000
LAST = 10  # rounds that the validation measure is the mean of


def parts(folders: list[str], folds: list[int]) -> Iterator[tuple[str, int, Any, Any]]:
    """Yield the name of the data, the fold, and documents to train on and to judge by."""
    for folder in folders:
        data = read_folds(folder)
        for fold in folds:
            train, valid, _ = data.fold(fold)
            yield data.name, fold, train, valid
    X, y, qid = make_cubic(QUERIES + JUDGED, n_documents=50, random_state=7)
    train, valid = (
        Dataset("artificial", X[rows], y[rows], qid[rows])
        for rows in (qid < QUERIES, qid >= QUERIES)
    )
    yield train.name, 0, train, valid


def outcome(objective: str, train: Any, valid: Any) -> dict[str, float]:
    """Return what a fit came to, and its CPU seconds."""
    ranker = GBRanker(objective, random_state=1, n_jobs=1)
    start = time.process_time()
    ranker.fit(
        train.X, train.y, qid=train.qid,
        eval_set=[(valid.X, valid.y), (train.X, train.y)], eval_qid=[valid.qid, train.qid],
    )  # fmt: skip
    seconds = time.process_time() - start
    judged, learned = (ranker.evals_result_[f"valid_{i}"]["ndcg@10"] for i in range(2))
    half = len(learned) // 2 - 1
    return {
        "valid": float(np.mean(judged[-LAST:])),
        "train_start": learned[half],
        "train_end": learned[-1],
        "train_lowest": min(learned[half:]),
        "cpu_seconds": seconds,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--folds", nargs="+", type=int, default=[1, 2, 3])
    arguments = parser.parse_args()
    rows = []
    for name, fold, train, valid in parts(arguments.data, arguments.folds):
        for objective in OBJECTIVES:
            found = outcome(objective, train, valid)
            rows.append({"data": name, "fold": fold, "objective": objective, **found})
            print(json.dumps(rows[-1]), flush=True)
    (RESULTS / "annealed.json").write_text(rows_to_json(rows), encoding="utf-8")
