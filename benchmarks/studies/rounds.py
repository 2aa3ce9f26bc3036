"""Rounds against the size of the training data: 150, 300 or 500.

python -m benchmarks.studies.rounds --large FOLDER

FOLDER holds Parquet files with the columns label and qid, and features. What `--results` names
keeps what is done.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import lightgbm as lgb

from benchmarks.studies.default_parameters import RANKERS, gbrank_scores, peer_scores
from benchmarks.studies.fits import Study, artificial, by_data, compared, departures
from benchmarks.writing import markdown_table

SPLITS = range(200, 203)  # of flights, others than those of the other studies
FLIGHTS = (12_000, 50_000)  # training documents, about
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
that of the randomization test, not corrected for the number of rows. CPU seconds of a fit are
multiples of those of `GBRanker()`.

```bash
{command}
```

{tables}
"""


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
    study = Study("rounds", __doc__, "--large")
    rows = [
        *compared(study.rows(departures(study.large, SPLITS, FLIGHTS), SETTINGS)),
        *by_data(study.rows(artificial(DOCUMENTS, random_state=3), SETTINGS)),
    ]
    names = dict.fromkeys(row["data"] for row in rows)
    tables = (table([row for row in rows if row["data"] == name]) for name in names)
    study.publish(rows, TEXT.format(command=study.command, tables="\n\n".join(tables)))


if __name__ == "__main__":
    main()
