"""How long all steps together may be: validation NDCG@10 by their sum and the number of documents.

python -m benchmarks.studies.rates --data mq2008 ohsumed flights nfcorpus

`GBRanker(learning_rate=0.03, n_estimators=800)` trains on some of the training queries; its measure
after each round is that of steps of another sum. `GBRanker()` stands beside it. Test queries are
not read. The table is in results/defaults.md.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.studies.annealed import parts
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker
from gbrank.evaluation import LabelledDocuments

SIZES = (10_000, 25_000)  # documents to train on, besides all of them,
MANY = 100_000  # unless there are so many
RATE, ROUNDS = 0.03, 800
SUMS = (3.0, 4.8, 7.2, 12.0, 15.0, 18.0, 24.0)
LAST = 10  # rounds that a value is the mean of


def about(part: Any, n_documents: int, seed: int) -> LabelledDocuments:
    """Return whole queries, drawn at random, of so many documents together."""
    queries, sizes = np.unique(part.qid, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(queries))
    drawn = queries[order[np.cumsum(sizes[order]) <= n_documents]]
    chosen = np.isin(part.qid, drawn)
    return LabelledDocuments(part.X[chosen], part.y[chosen], part.qid[chosen])


def jobs(folders: list[str]) -> Iterator[tuple[str, Any, Any]]:
    """Yield a name, and documents to train and to validate on."""
    for name, fold, train, valid, _ in parts(folders, [1, 2, 3, 4, 5]):
        total = len(train.y)
        for size in SIZES if SIZES[-1] < total < MANY else ():
            yield f"{name}, {size:,} documents", about(train, size, fold), valid
        yield name, train, valid


def row_of(name: str, train: Any, valid: Any) -> dict[str, Any]:
    """Return the validation measure by the sum of steps, and that of the default."""
    data: dict[str, Any] = {
        "qid": train.qid, "eval_set": [(valid.X, valid.y)], "eval_qid": [valid.qid],
    }  # fmt: skip
    shared: dict[str, Any] = {"random_state": 1, "n_jobs": 1}
    ranker = GBRanker(learning_rate=RATE, n_estimators=ROUNDS, **shared)
    curve = ranker.fit(train.X, train.y, **data).evals_result_["valid_0"]["ndcg@10"]
    own = GBRanker(**shared).fit(train.X, train.y, **data)
    ends = {total: round(total / RATE) for total in SUMS}
    return {
        "data": name,
        "documents": len(train.y),
        **{f"{total:g}": float(np.mean(curve[end - LAST : end])) for total, end in ends.items()},
        "default": float(np.mean(own.evals_result_["valid_0"]["ndcg@10"][-LAST:])),
        "default_sum": own.learning_rate_ * own.n_estimators,
    }


def means(rows: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield the name, documents, measures and the default's sum of steps, means over folds."""
    columns = ["documents", *(f"{total:g}" for total in SUMS), "default", "default_sum"]
    for name in dict.fromkeys(row["data"] for row in rows):
        own = [row for row in rows if row["data"] == name]
        yield [name, *(float(np.mean([row[column] for row in own])) for column in columns)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    arguments = parser.parse_args()
    rows = Parallel(n_jobs=arguments.jobs, verbose=5)(
        delayed(row_of)(*job) for job in jobs(arguments.data)
    )
    (RESULTS / "rates.json").write_text(rows_to_json(rows), encoding="utf-8")
    lines = (
        [name, *(f"{value:.4f}" for value in values), f"{own:.4f} ({total:.1f})"]
        for name, _, *values, own, total in means(rows)
    )
    print(markdown_table(("", *(f"{total:g}" for total in SUMS), "`GBRanker()`"), lines))
