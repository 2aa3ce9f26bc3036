"""Whether a choice of context by validation queries is worth its seconds.

A quarter of the training queries is set aside; rankers with and without `context="zscore"` are
trained on the others, and the better one of them is trained again on all training queries.

python -m benchmarks.studies.context_choice --data mq2008 ohsumed flights nfcorpus wikiqa
"""

import argparse
from typing import Any

import numpy as np

from benchmarks.writing import markdown_table
from gbrank import NDCG, GBRanker, query_train_test_split
from gbrank.evaluation import Dataset, read_folds

KIND = "zscore"
SEEDS = (0, 1)


def fitted(context: str | None, seed: int, X: Any, y: Any, qid: Any) -> GBRanker:
    """Return a ranker with this context, or none."""
    return GBRanker(context=context, random_state=seed, n_jobs=1).fit(X, y, qid=qid)


def outcomes(data: Dataset, number: int, seed: int) -> dict[str, Any]:
    """Return what was chosen, and differences from no context on validation and test queries."""
    measure, (train, valid, test) = NDCG(k=10), data.fold(number)
    X, X_aside, y, y_aside, qid, qid_aside = query_train_test_split(
        train.X, train.y, qid=train.qid, test_size=0.25, random_state=seed
    )
    aside = [
        measure(
            y_aside, fitted(kind, seed, X, y, qid).predict(X_aside, qid=qid_aside), qid=qid_aside
        )
        for kind in (None, KIND)
    ]
    rankers = [fitted(kind, seed, train.X, train.y, train.qid) for kind in (None, KIND)]
    found: dict[str, Any] = {"chosen": float(aside[1] > aside[0])}
    for part, rows in (("valid", valid), ("test", test)):
        without, with_it = (
            measure(rows.y, ranker.predict(rows.X, qid=rows.qid), qid=rows.qid)
            for ranker in rankers
        )
        found[f"{part}, always"] = with_it - without
        found[f"{part}, by choice"] = found["chosen"] * (with_it - without)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    means: dict[str, dict[str, float]] = {}
    for data in map(read_folds, parser.parse_args().data):
        every = [
            outcomes(data, number, seed)
            for number in range(1, 1 + len(data.splits))
            for seed in SEEDS
        ]
        means[data.name] = {name: float(np.mean([own[name] for own in every])) for name in every[0]}
    means["mean"] = {
        name: float(np.mean([own[name] for own in means.values()]))
        for name in next(iter(means.values()))
    }
    lines = [
        [
            name,
            *(
                f"{own[name]:.2f}" if name == "chosen" else f"{own[name]:+.4f}"
                for own in means.values()
            ),
        ]
        for name in means["mean"]
    ]
    print(markdown_table(["", *means], lines))
