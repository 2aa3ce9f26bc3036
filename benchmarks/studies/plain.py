"""Is a plain objective as good as the default at equal seconds? Validation NDCG@10 of both.

python -m benchmarks.studies.plain --data mq2008 ohsumed flights nfcorpus

All rankers have the default parameters, but each objective gets as many rounds as take the CPU
seconds of `GBRanker()` on the first fold. Test queries are not read. Run it with nothing else
running. The table is in results/defaults.md.
"""

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.artificial import cubic_queries
from benchmarks.letor_folders import read_folds
from benchmarks.studies.paired import against_first
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import NDCG, GBRanker, Queries
from gbrank.common.arrays import Matrix, Vector
from gbrank.evaluation import Dataset
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE

OBJECTIVES = (
    DEFAULT_OBJECTIVE, "lambda:ndcg", "lambda(normalize=lightgbm):ndcg", "listmle", "ranknet",
)  # fmt: skip
ROUNDS = GBRanker().n_estimators
ARTIFICIAL = ((1500, 50), (10_000, 50), (300, 400))  # queries (two fifths train), documents of each
MEASURE = NDCG(k=10)


def fitted(objective: str, rounds: int, train: Any, seed: int) -> GBRanker:
    """Return a ranker with the default parameters."""
    ranker = GBRanker(objective, n_estimators=rounds, random_state=seed, n_jobs=1)
    return ranker.fit(train.X, train.y, qid=train.qid)


def rounds_of_equal_seconds(data: Dataset) -> list[int]:
    """Return each objective's rounds that take the CPU seconds of the default."""
    train, _, _ = data.fold(1)
    seconds = []
    for objective in OBJECTIVES:
        fitted(objective, 1, train, 0)  # compiles
        spent = []
        for seed in range(2):
            start = time.process_time()
            fitted(objective, ROUNDS, train, seed)
            spent.append(time.process_time() - start)
        seconds.append(min(spent))
    return [round(ROUNDS * seconds[0] / own) for own in seconds]


def measured(objective: str, rounds: int, data: Dataset, fold: int, seed: int) -> Vector:
    """Return NDCG@10 of each validation query."""
    train, valid, _ = data.fold(fold)
    bound = MEASURE.bind(valid.y, Queries.from_qid(valid.qid))
    return bound.per_query(fitted(objective, rounds, train, seed).predict(valid.X))


def stratum(data: Dataset, rounds: Sequence[int], seeds: int, jobs: int) -> Matrix:
    """Return the means over seeds, of each objective in each validation query that has one."""
    columns = []
    for fold in range(1, len(data.splits) + 1):
        values = Parallel(n_jobs=jobs)(
            delayed(measured)(objective, own, data, fold, seed)
            for objective, own in zip(OBJECTIVES, rounds, strict=True)
            for seed in range(seeds)
        )
        columns.append(np.reshape(values, (len(OBJECTIVES), seeds, -1)).mean(axis=1))
    found = np.concatenate(columns, axis=1)
    return found[:, ~np.isnan(found[0])]


def rows_of(label: str, strata: Sequence[Matrix]) -> list[dict[str, Any]]:
    """Return each objective's mean, and its difference from the default's."""
    return [
        {"data": label, "objective": objective, **own}
        for objective, own in zip(OBJECTIVES, against_first(strata), strict=True)
    ]


def line(label: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return a table's line: NDCG@10 of each objective on some data, and p of its difference."""
    own = [row for row in rows if row["data"] == label]
    cells = (
        f"{row['ndcg@10']:.4f}" + ("" if row["p"] is None else f" ({row['p']:.2g})") for row in own
    )
    return [label, *cells]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    arguments = parser.parse_args()
    real = [read_folds(folder) for folder in arguments.data]
    artificial = [
        cubic_queries(n, length, f"artificial, {n * 2 // 5:,} queries of {length}")
        for n, length in ARTIFICIAL
    ]
    sets = [*real, *artificial]
    rounds = {data.name: rounds_of_equal_seconds(data) for data in sets}
    strata: dict[str, Matrix] = {}
    rows: list[dict[str, Any]] = []
    for data in sets:
        own = rounds[data.name]
        strata[data.name] = stratum(data, own, arguments.seeds, arguments.jobs)
        found = rows_of(data.name, [strata[data.name]])
        rows += [{**row, "rounds": count} for row, count in zip(found, own, strict=True)]
        print(*rows[-len(OBJECTIVES) :], sep="\n", flush=True)
    for label, some in (("real data, mean", real), ("all, mean", sets)):
        found = rows_of(label, [strata[data.name] for data in some])
        rows += [{**row, "rounds": None} for row in found]
    (RESULTS / "plain.json").write_text(rows_to_json(rows), encoding="utf-8")
    lines = (line(label, rows) for label in dict.fromkeys(row["data"] for row in rows))
    print(markdown_table(("", *(f"`{name}`" for name in OBJECTIVES)), lines))
