"""From 10 to 80 labelled queries: one column, columns fused, a linear ranker, or trees.

python -m benchmarks.studies.few_labels --data mq2008 ohsumed flights nfcorpus wikiqa
"""

import argparse
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.studies.default_parameters import RANKERS, gbrank_scores
from benchmarks.studies.sizes import MEASURE, Outcome, compared, drawn, joined, value_table
from benchmarks.writing import RESULTS, rows_to_json
from gbrank import GBRanker, LinearRanker, Queries, make_cubic
from gbrank.evaluation import LabelledDocuments, read_letor_folds
from gbrank.linear.features import z_scores

SIZES, COLUMNS, SEEDS = (10, 20, 40, 80), 5, 5
FOLDS = {"mq2008": 5, "wikiqa": 5}  # two of the others, whose longer lists take LinearRanker long
TEXT = """\
# Few labels

NDCG@10 on test queries, by the number of training queries, and mean CPU seconds of a fit; two of
five folds like LETOR's, five on mq2008 and wikiqa. The best column, with its sign, ranks
the training queries best; RRF (k = 60) and the mean of z-scores by query are of the five best, each
with its sign. Rankers have default parameters, but for `LinearRanker(by_query=True)`.

```bash
python -m benchmarks.studies.few_labels --data {sets}
```
"""


def best_columns(train: LabelledDocuments) -> list[tuple[int, int]]:
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


def one_column(train: Any, test: LabelledDocuments, seed: int, best: Any) -> Any:
    """Return the scores of the best column."""
    return signed(test.X, *best[0])


def fused(by_ranks: bool, train: Any, test: LabelledDocuments, seed: int, best: Any) -> Any:
    """Return the sum of reciprocal ranks, or of z-scores, of the best columns."""
    chosen: dict[int, int] = {}
    for column, sign in best:
        chosen.setdefault(column, sign)
    some = dict([*chosen.items()][:COLUMNS])
    X = test.X[:, [*some]] * [*some.values()]
    if not by_ranks:
        return z_scores(X, Queries.from_qid(test.qid)).sum(axis=1)
    return (1 / (60 + pd.DataFrame(-X).groupby(test.qid).rank())).sum(axis=1).to_numpy()


def linear(train: LabelledDocuments, test: LabelledDocuments, seed: int, best: Any) -> Any:
    """Return the scores of a LinearRanker on z-scores."""
    ranker = LinearRanker(by_query=True, n_jobs=1).fit(train.X, train.y, qid=train.qid)
    return ranker.predict(test.X, test.qid)


def trees(scores_of: Any, train: Any, test: LabelledDocuments, seed: int, best: Any) -> Any:
    """Return the scores of a ranker of trees."""
    return scores_of(train, test.X, seed)


ON_FEW: dict[str, Any] = {
    "GBRanker()": partial(trees, gbrank_scores),
    "LGBMRanker()": partial(trees, RANKERS["LGBMRanker()"]),
    "LinearRanker(by_query=True)": linear,
    "z-scores of five": partial(fused, False),
    "RRF of five": partial(fused, True),
    "best feature": one_column,
}


def retrievers(seed: int) -> tuple[LabelledDocuments, LabelledDocuments]:
    """Return queries with the scores of five retrievers, each of a scale of its own by query.

    A retriever has scores of the 35 of 50 documents that it ranks first.
    """
    rng = np.random.default_rng(seed)
    shape, qid = (280, 50, 1), np.repeat(np.arange(280), 50)
    relevance = rng.normal(size=shape)
    X = relevance + rng.normal(size=(280, 50, 5)) * [0.8, 1.0, 1.2, 1.5, 2.0]
    X = np.where(np.quantile(X, 0.3, axis=1, keepdims=True) > X, np.nan, X)
    X = (X * rng.lognormal(size=(280, 1, 5)) + rng.normal(size=(280, 1, 5))).reshape(-1, 5)
    y = np.digitize(relevance.ravel() + 0.3 * rng.normal(size=len(qid)), [1.0, 1.6, 2.2])
    known = qid < 80
    parts = [
        LabelledDocuments(X[part], y[part].astype(np.float64), qid[part])
        for part in (known, ~known)
    ]
    return parts[0], parts[1]


def outcomes(
    data: str, splits: list[tuple[LabelledDocuments, LabelledDocuments]]
) -> Iterator[dict[str, Any]]:
    """Yield the values and seconds of each ranker and number of queries."""
    for n in SIZES:
        results: dict[str, list[Outcome]] = {name: [] for name in ON_FEW}
        for number, (train, test) in enumerate(splits, 1):
            if n > len(np.unique(train.qid)):
                continue
            part = drawn(train, n, 100 * number)
            best = best_columns(part)
            for name, scores_of in ON_FEW.items():
                start = time.process_time()
                scores = scores_of(part, test, 0, best)
                seconds = time.process_time() - start
                values = MEASURE.per_query(test.y, scores, qid=test.qid).tolist()
                ids = [(number, query) for query in np.unique(test.qid).tolist()]
                results[name].append(Outcome(ids, values, seconds))
        for name, each in results.items():
            if each:
                yield {"data": data, "size": n, "ranker": name, **joined(each)}
                print(
                    data,
                    n,
                    name,
                    f"{np.nanmean(np.concatenate([one.values for one in each])):.4f}",
                    flush=True,
                )


def publish(sets: list[str], tables: dict[str, Any], made: list[dict[str, Any]]) -> None:
    """Write the numbers and the page."""
    everything = [row for rows in tables.values() for row in rows]
    parts = {"mean": everything, **tables, "five retrievers, artificial": made}
    rows = {name: compared(part) for name, part in parts.items()}
    blocks = [f"## {name}\n\n{value_table(part, True)}" for name, part in rows.items()]
    page = "\n\n".join([TEXT.format(sets=" ".join(sets)).strip(), *blocks]) + "\n"
    (RESULTS / "few_labels.md").write_text(page, encoding="utf-8")
    numbers = [{"table": name} | row for name, part in rows.items() for row in part]
    (RESULTS / "few_labels.json").write_text(rows_to_json(numbers), encoding="utf-8")


def main() -> None:
    """Run the study, and write what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    arguments = parser.parse_args()
    X, y, qid = make_cubic(9, random_state=0)
    GBRanker(n_estimators=1).fit(X, y, qid=qid)  # compiles, so that no fit that counts does
    tables = {}
    for folder in arguments.data:
        data = read_letor_folds(folder)
        folds = [data.fold(number) for number in range(1, FOLDS.get(data.name, 2) + 1)]
        tables[data.name] = list(outcomes(data.name, [(fold[0], fold[2]) for fold in folds]))
    made = list(outcomes("five retrievers", [retrievers(seed) for seed in range(SEEDS)]))
    publish([Path(folder).name for folder in arguments.data], tables, made)


if __name__ == "__main__":
    main()
