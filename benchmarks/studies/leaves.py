"""Leaves of a tree: 31 or 63, and whether the rule for the learning rate still fits.

python -m benchmarks.studies.leaves --data mq2008 ohsumed flights nfcorpus wikiqa --large FOLDER

FOLDER holds Parquet files with the columns label and qid, and features. What `--results` names
keeps what is done.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.studies.default_parameters import gbrank_scores
from benchmarks.studies.fits import Study, artificial, by_data, compared, departures, folds, samples
from benchmarks.writing import markdown_table
from gbrank import GBRanker, Queries
from gbrank.evaluation import read_letor_folds
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
with 95% bootstrap intervals; p is that of the randomization test, not corrected. The learning rate
times 0.8 and 1.25 says whether its rule, chosen with 63 leaves, fits 31 leaves too.

```bash
{command}
```

{table}
"""


def with_rate(factor: float, train: Any, test: Any, seed: int) -> Any:
    """Return the scores of 31 leaves, at a multiple of the learning rate that the rule gives."""
    rate = chosen_trees(GBRanker(), Queries.from_qid(train.qid))["learning_rate"]
    return gbrank_scores(train, test, seed, num_leaves=31, learning_rate=rate * factor)


LEAVES = {f"{n} leaves": partial(gbrank_scores, num_leaves=n) for n in (63, 31)}
RATES = {f"31 leaves, rate × {factor}": partial(with_rate, factor) for factor in (0.8, 1.25)}


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
        lines.append(
            [data, trained_on(row), setting, base_value, change, f"{row['p']:.3f}", seconds]
        )
    head = ["data", "trained on", "setting", "63 leaves", "difference", "p", "CPU seconds, ratio"]
    return markdown_table(head, lines, words=3)


def trained_on(row: dict[str, Any]) -> str:
    """Return a size in words."""
    if row["size"] == "all":
        return "all"
    return f"{row['size']:,} {'queries' if row['data'] == 'mean' else 'documents'}"


def main() -> None:
    """Run the study, and write its page."""
    study = Study("leaves", __doc__, "--data", "--large")
    data = map(read_letor_folds, study.folders)
    cases = [case for one in data for case in folds(one, "valid", range(SEEDS))]
    days = (case._replace(seed=0) for case in departures(study.large, SPLITS))
    settings = {**LEAVES, **RATES}
    full = study.rows(cases, settings)
    rows = [*by_data(full), *compared(full), *compared(study.rows(samples(cases), LEAVES))]
    rows += compared(study.rows(days, settings))
    rows += by_data(study.rows(artificial(DOCUMENTS, random_state=2), settings))
    study.publish(rows, TEXT.format(command=study.command, table=table(rows)))


if __name__ == "__main__":
    main()
