"""Rounds against the size of the training data: 150, 300 or 500.

python -m benchmarks.studies.rounds --large FOLDER

FOLDER holds Parquet files with the columns label and qid, and features. What `--results` names
keeps what is done.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from benchmarks.studies.default_parameters import RANKERS, gbrank_scores, peer_scores
from benchmarks.studies.sizes import Study, compared, drawn, joined, with_exchanged_labels
from benchmarks.studies.study import parquet_documents
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker, make_cubic, query_train_test_split
from gbrank.evaluation import LabelledDocuments

SPLITS = range(200, 203)  # of flights, others than those of the other studies
FLIGHTS, LARGEST = (12_000, 50_000), 133_000  # training documents, about
DOCUMENTS = (10_000, 50_000, 200_000, 700_000)
DEFAULT = "GBRanker()"
SETTINGS: dict[str, Any] = {
    DEFAULT: gbrank_scores,
    "GBRanker(n_estimators=300)": partial(gbrank_scores, n_estimators=300),
    "GBRanker(n_estimators=500)": partial(gbrank_scores, n_estimators=500),
    "LGBMRanker()": RANKERS["LGBMRanker()"],
    "LGBMRanker(n_estimators=500, learning_rate=0.05)": partial(
        peer_scores,
        lambda seed: lgb.LGBMRanker(
            n_estimators=500, learning_rate=0.05, random_state=seed, n_jobs=1, verbosity=-1
        ),
        "group",
        sizes=True,
    ),
}
TEXT = """\
# More rounds are worth their time on large data

`GBRanker(n_estimators=...)` and LightGBM's ranker on one thread, by the number of training
documents. *Flights*: all departures of a day from New York's airports, 303 a day on average, three
splits by day, NDCG@10 on the test days. *Artificial data*: `make_cubic`, 50 documents a query with
50 features, without noise and with a third of the training labels exchanged at random; NDCG@10 of
2,000 other queries. Differences are from `GBRanker()`, which has 150 rounds, paired by query; p is
that of the randomisation test, not corrected for the number of rows. CPU seconds of a fit are
multiples of those of `GBRanker()`.

```bash
python -m benchmarks.studies.rounds --large flights_full
```

{tables}
"""


def departures(study: Study, folder: str) -> Iterator[dict[str, Any]]:
    """Yield the values and seconds of each setting on flights, by the number of documents."""
    X, y, qid = parquet_documents(folder)
    for size in (*FLIGHTS, LARGEST):
        for name, scores_of in SETTINGS.items():
            outcomes = []
            for split in SPLITS:
                parts = query_train_test_split(X, y, qid=qid, test_size=1 / 3, random_state=split)
                X_train, X_test, y_train, y_test, qid_train, qid_test = parts
                train = LabelledDocuments(X_train, y_train, np.asarray(qid_train))
                if size < LARGEST:
                    n_days = len(np.unique(train.qid))
                    train = drawn(train, round(n_days * size / LARGEST), split)
                test = LabelledDocuments(X_test, y_test, np.asarray(qid_test))
                key = f"flights {size} {split} {name}"
                outcomes.append(study.outcome(key, scores_of, train, test, split))
            yield {"data": "flights", "size": size, "ranker": name, **joined(outcomes)}


def artificial(study: Study) -> Iterator[dict[str, Any]]:
    """Yield the values and seconds of each setting on artificial data."""
    for documents in DOCUMENTS:
        n = documents // 50
        X, y, qid = make_cubic(n + 2_000, n_documents=50, random_state=3)
        in_training = qid < n
        test = LabelledDocuments(X[~in_training], y[~in_training], qid[~in_training])
        clean = LabelledDocuments(X[in_training], y[in_training], qid[in_training])
        for data, share in (("artificial", 0.0), ("artificial, noisy labels", 1 / 3)):
            train = with_exchanged_labels(clean, share)
            for name, scores_of in SETTINGS.items():
                outcome = study.outcome(f"{data} {documents} {name}", scores_of, train, test, 1)
                yield {"data": data, "size": documents, "ranker": name, **joined([outcome])}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a table of one data set: a line for each setting, a column for each size."""
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    cells = {(row["ranker"], row["size"]): row for row in rows}
    lines = []
    for name in SETTINGS:
        line = [f"`{name}`"]
        for size in sizes:
            row = cells[name, size]
            text = f"{row['ndcg@10']:.4f}"
            if row["p"] is not None:
                times = row["cpu_seconds"] / cells[DEFAULT, size]["cpu_seconds"]
                text += f" ({row['difference']:+.4f}, p = {row['p']:.3f}, {times:.1f}×)"
            line.append(text)
        lines.append(line)
    head = ["NDCG@10", *(f"{size:,} documents" for size in sizes)]
    return f"## {rows[0]['data'].capitalize()}\n\n{markdown_table(head, lines)}"


def main() -> None:
    """Run the study, and write its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", required=True, metavar="FOLDER", help="flights, as Parquet")
    parser.add_argument("--results", type=Path, help="file that keeps what is done")
    arguments = parser.parse_args()
    X, y, qid = make_cubic(9, random_state=0)
    GBRanker(n_estimators=1).fit(X, y, qid=qid)  # compiles, so that no fit that counts does
    study = Study(arguments.results)
    outcomes = [*departures(study, arguments.large), *artificial(study)]
    names = dict.fromkeys(outcome["data"] for outcome in outcomes)
    parts = [compared([row for row in outcomes if row["data"] == name]) for name in names]
    numbers = rows_to_json(row for rows in parts for row in rows)
    (RESULTS / "rounds.json").write_text(numbers, encoding="utf-8")
    text = TEXT.format(tables="\n\n".join(map(table, parts)))
    (RESULTS / "rounds.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
