"""Rankers with default parameters, from 10 training queries to 1,000,000 documents.

python -m benchmarks.studies.sizes --data mq2008 ohsumed flights nfcorpus wikiqa --large FOLDER

FOLDER holds Parquet files with the columns label and qid, and features. What `--results` names
keeps what is done.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.studies.default_parameters import RANKERS, gbrank_scores
from benchmarks.studies.fits import (
    FEW,
    MEASURE,
    Study,
    artificial,
    by_data,
    compared,
    departures,
    folds,
    samples,
)
from benchmarks.writing import SITE, markdown_table
from gbrank.evaluation import LabeledDocuments, read_letor_folds
from gbrank.plots.style import PALETTE, tidy

DRAWS, SPLITS = 2, 8
FLIGHTS = (6_000, 12_000, 25_000, 50_000)  # documents, about
DOCUMENTS = (10_000, 25_000, 50_000, 100_000, 200_000, 1_000_000)
PEERS = {name: RANKERS[name] for name in ("LGBMRanker()", "XGBRanker()")}
ON_FEW = {"GBRanker()": gbrank_scores, **PEERS}
ON_LARGE = {
    "GBRanker()": gbrank_scores,
    "GBRanker(colsample=0.5, extra_trees=True)": partial(
        gbrank_scores, colsample=0.5, extra_trees=True
    ),
    'GBRanker(booster="xgboost")': partial(gbrank_scores, booster="xgboost"),
    **PEERS,
}
BEST = "best feature"
TEXT = """\
# From 10 labeled queries to 1,000,000 documents

All rankers have default parameters and run on one thread. Tables show NDCG@10 on test queries and
the mean CPU seconds of one fit. [The JSON file](../../benchmarks/results/sizes.json) has the
differences from `GBRanker()`, with 95% bootstrap intervals over queries and p-values.

```bash
{command}
```

## How few labels are enough

The mean of {sets}, weighted equally, over five folds like LETOR's and {draws} random samples of the
training queries; columns are sample sizes. OHSUMED has 63 training queries, so it is left out from
80 queries on and in the picture. The best feature is the single feature, with its sign, that ranks
the sampled queries best.

![NDCG@10 by the number of training queries](sizes.png)

{few}

[Few labels](../howto/few_labels.md) adds fused columns and linear rankers.

## Large data

*Flights*: a query is a day's departures from New York's airports (303 on average), ranked by how
late they arrived. Columns are the approximate number of training documents; values are means of
{splits} splits by day. From 100,000 documents on, `GBRanker()` uses
[tree parameters for large data](../defaults.md#large-data); the second row uses those for small
data. The rule was chosen on other splits of the same days.

{large}

*Artificial data*: 50 documents per query with 50 features (`make_cubic`), without label noise and
with a third of the training labels permuted at random. NDCG@10 is computed on 2,000 other queries;
each size has its own random polynomial.

{artificial}
"""


def best_columns(train: LabeledDocuments) -> list[tuple[int, int]]:
    """Return columns and signs, those first that rank the training queries best."""
    worth = {
        (column, sign): MEASURE(train.y, signed(train.X, column, sign), qid=train.qid)
        for column in range(train.X.shape[1])
        for sign in (1, -1)
    }
    return sorted(worth, key=lambda each: -worth[each])


def signed(X: Any, column: int, sign: int) -> Any:
    """Return a column as scores, in which what is missing ranks last."""
    values = sign * X[:, column]
    return np.where(np.isnan(values), np.nanmin(values, initial=0.0) - 1, values)


def best_feature(train: LabeledDocuments, test: LabeledDocuments, seed: int) -> Any:
    """Return the feature, with its sign, that ranks the training queries best."""
    return signed(test.X, *best_columns(train)[0])


def value_table(rows: Sequence[dict[str, Any]], seconds: bool) -> str:
    """Return NDCG@10 by ranker and size."""
    sizes = list(dict.fromkeys(row["size"] for row in rows))
    by = {(row["ranker"], row["size"]): row for row in rows}
    lines = []
    for name in dict.fromkeys(row["ranker"] for row in rows):
        own = [by[name, size] for size in sizes]
        texts = [
            f"{row['ndcg@10']:.4f}" + (f" ({row['cpu_seconds']:.1f} s)" if seconds else "")
            for row in own
        ]
        lines.append([f"`{name}`" if name != BEST else name, *texts])
    return markdown_table(["NDCG@10", *(f"{size:,}" for size in sizes)], lines)


def draw(rows: Sequence[dict[str, Any]], file: Path) -> None:
    """Draw NDCG@10 by the number of training queries, a line for each ranker."""
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    names = list(dict.fromkeys(row["ranker"] for row in rows))
    for name, color in zip(names, [*PALETTE[: len(names) - 1], "gray"], strict=True):
        points = [(row["size"], row["ndcg@10"]) for row in rows if row["ranker"] == name]
        axes.plot(*zip(*points, strict=True), "o-", color=color, label=name)
    axes.set(xscale="log", xlabel="training queries", ylabel="NDCG@10, test queries")
    axes.set_xticks(FEW, [str(n) for n in FEW], minor=False)
    axes.minorticks_off()
    axes.legend()
    tidy(axes)
    figure.savefig(file, dpi=120)


def main() -> None:
    """Run the study, and write its page."""
    study = Study("sizes", __doc__, "--data", "--large")
    data = map(read_letor_folds, study.folders)
    cases = (case for one in data for case in folds(one, "test", range(DRAWS)))
    found = study.rows(samples(cases), {**ON_FEW, BEST: best_feature})
    few = compared(found)
    flights = compared(study.rows(departures(study.large, range(SPLITS), FLIGHTS), ON_LARGE))
    made = by_data(study.rows(artificial(DOCUMENTS, random_state=1), ON_LARGE))
    blocks = []
    for data in dict.fromkeys(row["data"] for row in made):
        own = value_table([row for row in made if row["data"] == data], False)
        blocks.append(f"{data.capitalize()}:\n\n{own}")
    text = TEXT.format(
        command=study.command,
        draws=DRAWS,
        sets=", ".join(study.names),
        few=value_table(few, False),
        splits=SPLITS,
        large=value_table(flights, True),
        artificial="\n\n".join(blocks),
    )
    study.publish([*few, *flights, *made], text, SITE)
    every_size = [row for row in found if row["data"] != "ohsumed"]  # it has too few queries
    draw(compared(every_size), SITE / "sizes.png")


if __name__ == "__main__":
    main()
