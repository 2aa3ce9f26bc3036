"""Rankers with default parameters, from 10 training queries to 1,000,000 documents.

python -m benchmarks.studies.sizes --data mq2008 ohsumed flights nfcorpus wikiqa --large FOLDER

FOLDER holds Parquet files with the columns label and qid, and features. What `--results` names
keeps what is done.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.strata import against_first
from benchmarks.studies.default_parameters import RANKERS, gbrank_scores
from benchmarks.studies.study import parquet_documents
from benchmarks.writing import RESULTS, SITE, markdown_table, rows_to_json
from gbrank import NDCG, GBRanker, Queries, make_cubic, query_train_test_split
from gbrank.evaluation import LabelledDocuments, read_letor_folds
from gbrank.plots.style import PALETTE, tidy

MEASURE = NDCG(k=10)
FEW, DRAWS = (10, 20, 40, 80, 160, 320), 2
SPLITS = 8
FLIGHTS, LARGEST = (6_000, 12_000, 25_000, 50_000), 133_000  # documents, about
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


class Outcome(NamedTuple):
    """What one fit came to."""

    ids: list[Any]  # of the test queries
    values: list[float]  # of each; NaN where it is skipped
    seconds: float


class Study:
    """Fits that are done once: what they came to is kept in a file."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        text = file.read_text() if file is not None and file.exists() else ""
        self._known = dict(json.loads(line) for line in text.splitlines())

    def outcome(
        self, name: str, scores_of: Any, train: Any, test: LabelledDocuments, seed: int
    ) -> Outcome:
        """Return the NDCG@10 of each test query, and the CPU seconds of the fit."""
        if name not in self._known:
            start = time.process_time()
            scores = scores_of(train, test.X, seed)
            seconds = time.process_time() - start
            values = MEASURE.per_query(test.y, scores, qid=test.qid).tolist()
            self._known[name] = [values, seconds]
            print(f"{name}: {np.nanmean(values):.4f}, {seconds:.1f} s", flush=True)
            if self._file is not None:
                with self._file.open("a") as file:
                    file.write(json.dumps([name, self._known[name]]) + "\n")
        return Outcome(Queries.from_qid(test.qid).ids.tolist(), *self._known[name])


def drawn(train: LabelledDocuments, n_queries: int, seed: int) -> LabelledDocuments:
    """Return the documents of some queries."""
    ids = np.unique(train.qid)
    chosen = np.random.default_rng(seed).choice(ids, n_queries, replace=False)
    return LabelledDocuments(*(part[np.isin(train.qid, chosen)] for part in train))


def best_feature(train: LabelledDocuments, X: Any, seed: int) -> Any:
    """Return the feature, with its sign, that ranks the training queries best."""

    def worth(column: int, sign: int) -> float:
        return MEASURE(train.y, sign * dense(train.X)[:, column], qid=train.qid)

    signed = [(column, sign) for column in range(train.X.shape[1]) for sign in (1, -1)]
    column, sign = max(signed, key=lambda one: worth(*one))
    return sign * dense(X)[:, column]


def dense(X: Any) -> Any:
    """Return features as an array of finite numbers."""
    return np.nan_to_num(X.toarray() if hasattr(X, "toarray") else np.asarray(X, float))


def few_labels(study: Study, folders: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the values and seconds of each ranker, number of queries and data set."""
    rankers = {**ON_FEW, BEST: best_feature}
    for folder in folders:
        data = read_letor_folds(folder)
        for n in FEW:
            found: dict[str, list[Outcome]] = {name: [] for name in rankers}
            for number in range(1, len(data.splits) + 1):
                train, _, test = data.fold(number)
                if n > len(np.unique(train.qid)):
                    continue
                for draw in range(DRAWS):
                    part = drawn(train, n, 100 * number + draw)
                    for name, scores_of in rankers.items():
                        key = f"{data.name} {n} {number} {draw} {name}"
                        found[name].append(study.outcome(key, scores_of, part, test, draw))
            for name, outcomes in found.items():
                if outcomes:
                    yield {"data": data.name, "size": n, "ranker": name, **joined(outcomes)}


def with_exchanged_labels(part: LabelledDocuments, share: float) -> LabelledDocuments:
    """Return the documents with this share of their labels exchanged at random."""
    rng = np.random.default_rng(1)
    labels = part.y.copy()
    changed = rng.random(len(labels)) < share
    labels[changed] = rng.permutation(labels[changed])
    return LabelledDocuments(part.X, labels, part.qid)


def large(study: Study, folder: str) -> Iterator[dict[str, Any]]:
    """Yield the values and seconds of each ranker on flights, by the number of documents."""
    X, y, qid = parquet_documents(folder)
    found: dict[tuple[int, str], list[Outcome]] = {}
    for split in range(SPLITS):
        parts = query_train_test_split(X, y, qid=qid, test_size=1 / 3, random_state=split)
        X_train, X_test, y_train, y_test, qid_train, qid_test = parts
        everything = LabelledDocuments(X_train, y_train, np.asarray(qid_train))
        test = LabelledDocuments(X_test, y_test, np.asarray(qid_test))
        n_days = len(np.unique(everything.qid))
        for size in (*FLIGHTS, LARGEST):
            train = everything
            if size < LARGEST:
                train = drawn(everything, round(n_days * size / LARGEST), split)
            for name, scores_of in ON_LARGE.items():
                part = "" if size == LARGEST else f" {size}"
                key = f"{Path(folder).name}{part} {split} {name}"
                outcome = study.outcome(key, scores_of, train, test, split)
                found.setdefault((size, name), []).append(outcome)
    for (size, name), outcomes in sorted(found.items(), key=lambda item: item[0][0]):
        yield {"data": "flights", "size": size, "ranker": name, **joined(outcomes)}


def artificial(study: Study) -> Iterator[dict[str, Any]]:
    """Yield the values and seconds of each ranker on artificial data, with and without noise."""
    for documents in DOCUMENTS:
        n = documents // 50
        X, y, qid = make_cubic(n + 2_000, n_documents=50, random_state=1)
        known = qid < n
        test = LabelledDocuments(X[~known], y[~known], qid[~known])
        for data, share in (("artificial", 0.0), ("noisy artificial", 1 / 3)):
            train = with_exchanged_labels(LabelledDocuments(X[known], y[known], qid[known]), share)
            for name, scores_of in ON_LARGE.items():
                one = study.outcome(f"{data} {documents} {name}", scores_of, train, test, 1)
                yield {"data": data, "size": documents, "ranker": name, **joined([one])}


def joined(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return each query's mean value over several fits, and their mean seconds."""
    by_query: dict[Any, list[float]] = {}
    for one in outcomes:
        for query, value in zip(one.ids, one.values, strict=True):
            by_query.setdefault(query, []).append(value)
    values = np.array([np.mean(own) for own in by_query.values()])
    return {"values": values, "seconds": float(np.mean([one.seconds for one in outcomes]))}


def compared(found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each size and ranker, the mean over data sets against the first ranker."""
    rows = []
    for size in dict.fromkeys(one["size"] for one in found):
        own = [one for one in found if one["size"] == size]
        names = list(dict.fromkeys(one["ranker"] for one in own))
        strata = []
        for data in dict.fromkeys(one["data"] for one in own):
            values = np.array([one["values"] for one in own if one["data"] == data])
            strata.append(values[:, ~np.isnan(values).any(axis=0)])
        for name, summary in zip(names, against_first(strata), strict=True):
            seconds = float(np.mean([one["seconds"] for one in own if one["ranker"] == name]))
            rows.append(
                {"data": own[0]["data"] if len(strata) == 1 else "mean", "sets": len(strata)}
                | {"size": size, "ranker": name, **summary, "cpu_seconds": seconds}
            )
    return rows


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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--large", required=True, metavar="FOLDER", help="flights, as Parquet")
    parser.add_argument("--results", type=Path, help="file that keeps what is done")
    arguments = parser.parse_args()
    X, y, qid = make_cubic(9, random_state=0)
    GBRanker(n_estimators=1).fit(X, y, qid=qid)  # compiles, so that no fit that counts does
    study = Study(arguments.results)
    found = list(few_labels(study, arguments.data))
    few = compared(found)
    flights = compared(list(large(study, arguments.large)))
    made = list(artificial(study))
    parts = [
        (data, compared([one for one in made if one["data"] == data]))
        for data in dict.fromkeys(one["data"] for one in made)
    ]
    names = " ".join(Path(folder).name for folder in arguments.data)
    text = TEXT.format(
        command=f"python -m benchmarks.studies.sizes --data {names} --large flights_full",
        draws=DRAWS,
        sets=names.replace(" ", ", "),
        few=value_table(few, False),
        splits=SPLITS,
        large=value_table(flights, True),
        artificial="\n\n".join(
            f"{data.capitalize()}:\n\n{value_table(rows, False)}" for data, rows in parts
        ),
    )
    rows = [*few, *flights, *(row for _, own in parts for row in own)]
    (RESULTS / "sizes.json").write_text(rows_to_json(rows), encoding="utf-8")
    (SITE / "sizes.md").write_text(text, encoding="utf-8")
    everywhere = [
        one for one in found if one["data"] != "ohsumed"
    ]  # which has too few for all sizes
    draw(compared(everywhere), SITE / "sizes.png")


if __name__ == "__main__":
    main()
