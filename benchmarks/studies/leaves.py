"""Leaves of a tree: 31 or 63, and whether the rule for the learning rate still fits.

python -m benchmarks.studies.leaves --data mq2008 ohsumed flights nfcorpus wikiqa --large FOLDER

FOLDER holds Parquet files with the columns label and qid, and features. What `--results` names
keeps what is done.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.default_parameters import gbrank_scores
from benchmarks.studies.sizes import FEW, Study, compared, drawn, joined, with_exchanged_labels
from benchmarks.studies.study import parquet_documents
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker, Queries, make_cubic, query_train_test_split
from gbrank.evaluation import LabelledDocuments, read_letor_folds
from gbrank.fit.boosted_ranker import chosen_trees

SEEDS = 2
SPLITS = range(100, 103)  # of flights, others than those of the published sizes
DOCUMENTS = (10_000, 50_000, 200_000)
TEXT = """\
# On real data, trees of 31 leaves are no worse than trees of 63, and cheaper

`GBRanker(num_leaves=...)` on one thread, NDCG@10 on the validation queries of five folds with two
seeds, on draws of few training queries (two for each fold), on three splits by day of all
departures in *flights* (133,000 to train on), and on artificial data (`make_cubic`), without noise
and with a third of the training labels exchanged. Differences are from 63 leaves, paired by query,
with 95% bootstrap intervals; p is that of the randomisation test, not corrected. The learning rate
times 0.8 and 1.25 says whether its rule, chosen with 63 leaves, fits 31 leaves too.

```bash
{command}
```

{table}
"""


def with_rate(factor: float, train: Any, X: Any, seed: int) -> Any:
    """Return the scores of 31 leaves, at a multiple of the learning rate that the rule gives."""
    rate = chosen_trees(GBRanker(), Queries.from_qid(train.qid))["learning_rate"]
    return gbrank_scores(train, X, seed, num_leaves=31, learning_rate=rate * factor)


LEAVES = {f"{n} leaves": partial(gbrank_scores, num_leaves=n) for n in (63, 31)}
RATES = {f"31 leaves, rate × {factor}": partial(with_rate, factor) for factor in (0.8, 1.25)}


def folds(study: Study, folders: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield each setting's values on the validation queries of five folds, by data set."""
    for folder in folders:
        data = read_letor_folds(folder)
        for name, scores_of in {**LEAVES, **RATES}.items():
            outcomes = []
            for number in range(1, len(data.splits) + 1):
                train, valid, _ = data.fold(number)
                for seed in range(SEEDS):
                    key = f"{data.name} {number} {seed} {name}"
                    outcomes.append(study.outcome(key, scores_of, train, valid, seed))
            yield {"data": data.name, "size": "all", "ranker": name, **joined(outcomes)}


def few_queries(study: Study, folders: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the values of both sizes of trees by the number of training queries and data set."""
    for folder in folders:
        data = read_letor_folds(folder)
        for n in FEW:
            for name, scores_of in LEAVES.items():
                outcomes = []
                for number in range(1, len(data.splits) + 1):
                    train, valid, _ = data.fold(number)
                    if n > len(np.unique(train.qid)):
                        continue
                    for seed in range(SEEDS):
                        part = drawn(train, n, 100 * number + seed)
                        key = f"{data.name} {n} {number} {seed} {name}"
                        outcomes.append(study.outcome(key, scores_of, part, valid, seed))
                if outcomes:
                    yield {
                        "data": data.name,
                        "size": f"{n} queries",
                        "ranker": name,
                        **joined(outcomes),
                    }


def departures(study: Study, folder: str) -> Iterator[dict[str, Any]]:
    """Yield each setting's values on all departures of flights."""
    X, y, qid = parquet_documents(folder)
    for name, scores_of in {**LEAVES, **RATES}.items():
        outcomes = []
        for split in SPLITS:
            parts = query_train_test_split(X, y, qid=qid, test_size=1 / 3, random_state=split)
            X_train, X_test, y_train, y_test, qid_train, qid_test = parts
            train = LabelledDocuments(X_train, y_train, np.asarray(qid_train))
            test = LabelledDocuments(X_test, y_test, np.asarray(qid_test))
            outcomes.append(study.outcome(f"departures {split} {name}", scores_of, train, test, 0))
        yield {"data": "flights", "size": "133,000 documents", "ranker": name, **joined(outcomes)}


def artificial(study: Study) -> Iterator[dict[str, Any]]:
    """Yield each setting's values on artificial data, with and without noise."""
    for documents in DOCUMENTS:
        n = documents // 50
        X, y, qid = make_cubic(n + 2_000, n_documents=50, random_state=2)
        known = qid < n
        test = LabelledDocuments(X[~known], y[~known], qid[~known])
        for data, share in (("artificial", 0.0), ("noisy artificial", 1 / 3)):
            train = with_exchanged_labels(LabelledDocuments(X[known], y[known], qid[known]), share)
            for name, scores_of in {**LEAVES, **RATES}.items():
                outcome = study.outcome(f"{data} {documents} {name}", scores_of, train, test, 1)
                size = f"{documents:,} documents"
                yield {"data": data, "size": size, "ranker": name, **joined([outcome])}


def by_data(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of each data set alone."""
    names = dict.fromkeys(row["data"] for row in found)
    return [row for name in names for row in compared([r for r in found if r["data"] == name])]


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each data set, size and setting."""
    first = {(row["data"], row["size"]): row for row in rows if row["difference"] is None}
    lines = []
    for row in rows:
        base = first[row["data"], row["size"]]
        if row is base:
            continue
        change = f"{row['difference']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"
        seconds = f"{row['cpu_seconds'] / base['cpu_seconds']:.2f}"
        data = f"{row['sets']} data sets" if row["data"] == "mean" else row["data"]
        setting = row["ranker"]
        base_value = f"{base['ndcg@10']:.4f}"
        lines.append([data, row["size"], setting, base_value, change, f"{row['p']:.3f}", seconds])
    head = ["data", "trained on", "setting", "63 leaves", "difference", "p", "CPU seconds, ratio"]
    return markdown_table(head, lines, words=3)


def main() -> None:
    """Run the study, and write its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--large", required=True, metavar="FOLDER", help="flights, as Parquet")
    parser.add_argument("--results", type=Path, help="file that keeps what is done")
    arguments = parser.parse_args()
    X, y, qid = make_cubic(9, random_state=0)
    GBRanker(n_estimators=1).fit(X, y, qid=qid)  # compiles, so that no fit that counts does
    study = Study(arguments.results)
    full = list(folds(study, arguments.data))
    rows = [*by_data(full), *compared(full), *compared(list(few_queries(study, arguments.data)))]
    rows += [*compared(list(departures(study, arguments.large))), *by_data(list(artificial(study)))]
    names = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.leaves --data {names} --large flights_full"
    (RESULTS / "leaves.json").write_text(rows_to_json(rows), encoding="utf-8")
    text = TEXT.format(command=command, table=table(rows))
    (RESULTS / "leaves.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
