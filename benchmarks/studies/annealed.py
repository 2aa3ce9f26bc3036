"""Smoothed objectives as they come, beside LambdaRank: validation NDCG@10, and what training does.

python -m benchmarks.studies.annealed --data mq2008 ohsumed flights nfcorpus

Each ranker is `GBRanker(objective)`. `train_start` and `train_end` are training NDCG@10 after half
of the rounds, where RankNet hands over, and after all; `train_lowest` is the least in between.
Differences in test NDCG@10 from LambdaRank are paired by query. The tables are in
results/defaults.md.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import ttest_1samp

from benchmarks.letor_folders import read_folds
from benchmarks.writing import RESULTS, rows_to_json
from gbrank import NDCG, GBRanker, make_cubic
from gbrank.evaluation import Dataset

BASELINE = "lambda:ndcg"
OBJECTIVES = (BASELINE, "approx:ndcg", "smooth:ndcg", "tie:ndcg", "soft:ndcg")
SIZES = (1500, 10_000)  # queries of artificial data to train on
JUDGED = 1000  # and to validate on, and to test on
LAST = 10  # rounds that the validation measure is the mean of


def parts(
    folders: list[str], folds: list[int], sizes: Sequence[int] = SIZES
) -> Iterator[tuple[str, int, Any, Any, Any]]:
    """Yield the name of the data, the fold, and documents to train, validate and test on."""
    for folder in folders:
        data = read_folds(folder)
        for fold in folds:
            yield data.name, fold, *data.fold(fold)
    for size in sizes:
        X, y, qid = make_cubic(size + 2 * JUDGED, n_documents=50, random_state=7)
        part = np.digitize(qid, [size, size + JUDGED])
        name = f"artificial, {size:,} queries"
        sets = (Dataset(name, X[part == i], y[part == i], qid[part == i]) for i in range(3))
        yield name, 1, *sets


def outcome(objective: str, train: Any, valid: Any, test: Any) -> dict[str, Any]:
    """Return what a fit came to, its CPU seconds, and the measure of each test query."""
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
        "test": NDCG(k=10).per_query(test.y, ranker.predict(test.X), qid=test.qid),
    }


def row_of(name: str, fold: int, objective: str, *sets: Any) -> dict[str, Any]:
    """Return the row of a fit, and print it."""
    row = {"data": name, "fold": fold, "objective": objective} | outcome(objective, *sets)
    print(json.dumps({key: value for key, value in row.items() if key != "test"}), flush=True)
    return row


def compared(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the paired difference in test NDCG@10 from LambdaRank, by data set and pooled."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    real = [name for name in names if not name.startswith("artificial")]
    pools = {**{name: [name] for name in names}, "pooled, real": real, "pooled": names}
    for objective in OBJECTIVES[1:]:
        for data, pool in pools.items():
            ours, base = (
                np.concatenate(
                    [r["test"] for r in rows if r["objective"] == name and r["data"] in pool]
                )
                for name in (objective, BASELINE)
            )
            difference = (ours - base)[np.isfinite(ours)]
            yield {
                "data": data, "objective": objective,
                "test": float(np.nanmean(ours)), "test_lambda": float(np.nanmean(base)),
                "difference": float(difference.mean()),
                "p": float(ttest_1samp(difference, 0.0).pvalue),
            }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--folds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    arguments = parser.parse_args()
    rows = Parallel(arguments.jobs)(
        delayed(row_of)(name, fold, objective, *sets)
        for name, fold, *sets in parts(arguments.data, arguments.folds)
        for objective in OBJECTIVES
    )
    for row in compared(rows):
        print(json.dumps(row), flush=True)
    fits = [{key: value for key, value in row.items() if key != "test"} for row in rows]
    text = rows_to_json([*fits, *compared(rows)])
    (RESULTS / "annealed.json").write_text(text, encoding="utf-8")
