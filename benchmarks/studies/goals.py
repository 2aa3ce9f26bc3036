"""Two goals: do constraints hold on other queries, and what do they cost the first goal?

python -m benchmarks.studies.goals --data mq2008 flights nfcorpus wikiqa --results DONE
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.artificial import cubic_queries
from benchmarks.writing import PAGES, RESULTS, markdown_table, rows_to_json
from gbrank import Dataset, GBRanker, Queries, get_measure, make_cubic, read_folds
from gbrank.data.sampling import query_keys, sampled
from gbrank.evaluation.statistics import interval
from gbrank.measures.gains import gain_values
from gbrank.plots.style import BLUE, GREY, ORANGE

LABEL = "second"
FIRST, SECOND = get_measure("ndcg@10"), get_measure(f"ndcg@10[{LABEL}]")
LEVELS = (0.8, 0.9, 0.95)
WEIGHTS = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 5.0, 10.0)
CONFLICTS = ("mild", "sharp")
GRADES = (
    0.5,
    0.7,
    0.85,
    0.95,
)  # a document's grade: how many of these shares of documents it beats
Numbers = NDArray[np.float64]


def within_queries(values: Numbers, queries: Queries) -> Numbers:
    """Return ranks, less their mean in each query."""
    ranks = stats.rankdata(values) / len(values)
    means = np.bincount(queries.index, ranks) / queries.sizes
    return np.asarray(ranks - means[queries.index])


def with_second_label(data: Dataset, conflict: str) -> tuple[Numbers, Numbers]:
    """Return the features without one column, and this column as grades from 0 to 4.

    For a mild conflict it is the column whose ranks are least correlated with the labels within
    queries; for a sharp one, the column with the largest correlation, turned round.
    """
    X = np.asarray(data.X, np.float64)
    labels = within_queries(data.labels, data.queries)
    correlations = np.zeros(X.shape[1])
    for column, values in enumerate(X.T):
        if np.isnan(values).any() or len(np.unique(values)) < 20:
            correlations[column] = np.nan
            continue
        ranks = within_queries(values, data.queries)
        correlations[column] = np.corrcoef(ranks, labels)[0, 1]
    sizes = np.abs(correlations)
    chosen = int(np.nanargmin(sizes) if conflict == "mild" else np.nanargmax(sizes))
    sign = 1.0 if conflict == "mild" else -np.sign(correlations[chosen])
    shares = stats.rankdata(sign * X[:, chosen]) / len(X)
    return np.delete(X, chosen, axis=1), np.searchsorted(GRADES, shares).astype(np.float64)


def rankers(fold: int) -> dict[str, dict[str, Any]]:
    """Return what is changed of GBRanker, by name: constraints in all folds, the rest in the first.

    Blended labels are the gains of y + w × those of the second label, each over its mean.
    """
    makes: dict[str, dict[str, Any]] = {
        "first alone": {},
        "second alone": {"objective": f"noisy:ndcg[{LABEL}]"},
    }
    makes |= {
        f"constraint {level}": {"constraints": [f"{SECOND} >= {level} of best"]} for level in LEVELS
    }
    if fold == 1:
        makes |= {
            f"mixture {weight}": {"objective": f"noisy:ndcg+{weight}*noisy:ndcg[{LABEL}]"}
            for weight in WEIGHTS
        }
        makes |= {f"blend {weight}": {"blend": weight} for weight in WEIGHTS}
    return makes


def outcomes(data: Dataset, conflict: str, fold: int) -> Iterator[dict[str, Any]]:
    """Train every ranker on a fold, and measure both goals on each test query."""
    X, second = with_second_label(data, conflict)
    train, _, test = data.splits[fold - 1]
    qid = data.queries.ids[data.queries.index]
    y = data.labels
    for name, changes in rankers(fold).items():
        changes = dict(changes)
        target = y[train]
        if (weight := changes.pop("blend", None)) is not None:
            gains = [gain_values("exp2", label[train]) for label in (y, second)]
            target = gains[0] / gains[0].mean() + weight * gains[1] / gains[1].mean()
            changes["objective"] = "noisy:ndcg(gain='linear')"
        ranker = GBRanker(random_state=0, n_jobs=1, **changes)
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ranker.fit(X[train], target, qid=qid[train], labels={LABEL: second[train]})
        seconds = time.process_time() - begin
        scores = ranker.predict(X[test])
        plain = get_measure("ndcg@10")
        yield {
            "data": data.name,
            "conflict": conflict,
            "fold": fold,
            "ranker": name,
            "first": plain.per_query(y[test], scores, qid=qid[test]).tolist(),
            "second": plain.per_query(second[test], scores, qid=qid[test]).tolist(),
            "cpu_seconds": seconds,
            "trained": [vars(end) for end in ranker.constraints_],
        }


def stored(data: Dataset, conflict: str, fold: int, folder: Path | None) -> list[dict[str, Any]]:
    """Return the outcomes of a fold, from the folder if they are there."""
    path = None if folder is None else folder / f"{data.name}-{conflict}-{fold}.json"
    if path is not None and path.exists():
        return list(json.loads(path.read_text(encoding="utf-8")))
    found = list(outcomes(data, conflict, fold))
    if path is not None:
        path.write_text(json.dumps(found), encoding="utf-8")
    print(data.name, conflict, fold, flush=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--results", type=Path, help="folder that keeps what is done")
    arguments = parser.parse_args()
    if arguments.results is not None:
        arguments.results.mkdir(parents=True, exist_ok=True)
    X, y, qid = make_cubic(9, random_state=0)
    GBRanker(n_estimators=1).fit(X, y, qid=qid)  # compiles, so that no fit that counts does
    datasets = [*map(read_folds, arguments.data), cubic_queries(1000)]
    found = [
        outcome
        for fold in range(1, arguments.folds + 1)
        for data in datasets
        if fold <= len(data.splits)
        for conflict in CONFLICTS
        for outcome in stored(data, conflict, fold, arguments.results)
    ]
