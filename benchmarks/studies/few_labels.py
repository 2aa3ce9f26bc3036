"""From 10 to 80 labelled queries: one column, columns fused, a linear ranker, or trees.

python -m benchmarks.studies.few_labels --data mq2008 ohsumed flights nfcorpus wikiqa
"""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.studies.default_parameters import RANKERS, gbrank_scores
from benchmarks.studies.fits import Case, Study, compared, folds, samples
from benchmarks.studies.sizes import BEST, best_columns, best_feature, value_table
from gbrank import LinearRanker, Queries
from gbrank.evaluation import LabeledDocuments, read_letor_folds
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
{command}
```
"""


def fused(by_ranks: bool, train: Any, test: LabeledDocuments, seed: int) -> Any:
    """Return the sum of reciprocal ranks, or of z-scores, of the best columns."""
    chosen: dict[int, int] = {}
    for column, sign in best_columns(train):
        chosen.setdefault(column, sign)
    some = dict([*chosen.items()][:COLUMNS])
    X = test.X[:, [*some]] * [*some.values()]
    if not by_ranks:
        return z_scores(X, Queries.from_qid(test.qid)).sum(axis=1)
    return (1 / (60 + pd.DataFrame(-X).groupby(test.qid).rank())).sum(axis=1).to_numpy()


def linear(train: LabeledDocuments, test: LabeledDocuments, seed: int) -> Any:
    """Return the scores of a LinearRanker on z-scores."""
    ranker = LinearRanker(by_query=True, n_jobs=1).fit(train.X, train.y, qid=train.qid)
    return ranker.predict(test.X, test.qid)


ON_FEW: dict[str, Any] = {
    "GBRanker()": gbrank_scores,
    "LGBMRanker()": RANKERS["LGBMRanker()"],
    "LinearRanker(by_query=True)": linear,
    "z-scores of five": partial(fused, False),
    "RRF of five": partial(fused, True),
    BEST: best_feature,
}


def retrievers() -> Iterator[Case]:
    """Yield queries with the scores of five retrievers, each of a scale of its own by query.

    A retriever has scores of the 35 of 50 documents that it ranks first.
    """
    shape, qid = (280, 50, 1), np.repeat(np.arange(280), 50)
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        relevance = rng.normal(size=shape)
        X = relevance + rng.normal(size=(280, 50, 5)) * [0.8, 1.0, 1.2, 1.5, 2.0]
        X = np.where(np.quantile(X, 0.3, axis=1, keepdims=True) > X, np.nan, X)
        X = (X * rng.lognormal(size=(280, 1, 5)) + rng.normal(size=(280, 1, 5))).reshape(-1, 5)
        noisy = relevance.ravel() + 0.3 * rng.normal(size=len(qid))
        y = np.digitize(noisy, [1.0, 1.6, 2.2]).astype(np.float64)
        parts = [
            LabeledDocuments(X[part], y[part], 1000 * seed + qid[part])
            for part in (qid < 80, qid >= 80)
        ]
        yield Case("five retrievers", "all", seed + 1, 0, parts[0], parts[1])


def cases(folder: str) -> Iterator[Case]:
    """Yield the first folds of a data set."""
    data = read_letor_folds(folder)
    return islice(folds(data, "test", [0]), FOLDS.get(data.name, 2))


def main() -> None:
    """Run the study, and write its numbers and its page."""
    study = Study("few_labels", __doc__, "--data")
    found = [study.rows(samples(cases(folder), SIZES), ON_FEW) for folder in study.folders]
    parts = {
        "mean": [row for rows in found for row in rows],
        **dict(zip(study.names, found, strict=True)),
        "five retrievers, artificial": study.rows(samples(retrievers(), SIZES), ON_FEW),
    }
    tables = {name: compared(part) for name, part in parts.items()}
    blocks = [f"## {name}\n\n{value_table(rows, True)}" for name, rows in tables.items()]
    page = "\n\n".join([TEXT.format(command=study.command).strip(), *blocks]) + "\n"
    study.publish(({"table": name} | row for name, rows in tables.items() for row in rows), page)


if __name__ == "__main__":
    main()
