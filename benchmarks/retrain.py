"""Eight weeks of drift: a ranker trained anew on all weeks, or on four, or gone on with.

Each week brings 200 queries of 20 documents with 20 features. The weights of the features turn by a
tenth of a right angle from week to week. After each week a ranker is judged on the queries of the
next one. Printed are means over the weeks from the second on, and of the last model its file's size
and the least CPU time of a request of 20 documents; all are means over seeds.

    python -m benchmarks.retrain
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.writing import markdown_table
from gbrank import GBRanker
from gbrank.boosters.lightgbm.trained_model import LightGBMModel

WEEKS, QUERIES, LENGTH, FEATURES, TURN = 8, 200, 20, 20, 0.1 * np.pi / 2
GRADES = [0.5, 1.0, 1.5, 2.0]
Data = tuple[Any, Any, Any]


def weeks_of(seed: int) -> list[Data]:
    """Return the documents, labels and queries of each week, and of the one after the last."""
    rng = np.random.default_rng(seed)
    weights, weeks = rng.normal(size=FEATURES), []
    weights /= np.linalg.norm(weights)
    for week in range(WEEKS + 1):
        X = rng.normal(size=(QUERIES * LENGTH, FEATURES))
        value = X @ weights + 0.5 * X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=len(X))
        qid = np.repeat(np.arange(QUERIES), LENGTH) + week * QUERIES
        weeks.append((X, np.digitize(value, GRADES).astype(float), qid))
        other = rng.normal(size=FEATURES)
        other -= weights * (other @ weights)
        weights = np.cos(TURN) * weights + np.sin(TURN) * other / np.linalg.norm(other)
    return weeks


def joined(weeks: list[Data]) -> Data:
    """Return the data of several weeks as one."""
    X, y, qid = (np.concatenate(parts) for parts in zip(*weeks, strict=True))
    return X, y, qid


def fitted(weeks: list[Data], **options: Any) -> GBRanker:
    """Return a ranker that is trained on the data of weeks."""
    X, y, qid = joined(weeks)
    return GBRanker(random_state=0, n_jobs=1, **options).fit(X, y, qid=qid)


def go_on(weeks: list[Data], old: GBRanker | None, rounds: int) -> GBRanker:
    """Return the ranker of the week before with trees for the new one; the first is whole."""
    return fitted(weeks) if old is None else fitted(weeks[-1:], init=old, n_estimators=rounds)


WAYS: dict[str, Callable[[list[Data], GBRanker | None], GBRanker]] = {
    "the first week's": lambda weeks, old: old or fitted(weeks),
    "anew, all weeks": lambda weeks, _: fitted(weeks),
    "anew, last four weeks": lambda weeks, _: fitted(weeks[-4:]),
    "anew, last week": lambda weeks, _: fitted(weeks[-1:]),
    "go on, 30 rounds": lambda weeks, old: go_on(weeks, old, 30),
    "go on, 150 rounds": lambda weeks, old: go_on(weeks, old, 150),
}


def chain_of(ranker: Any) -> list[Any]:
    """Return the native boosters of a ranker and of those that it adds to."""
    own = [ranker.booster_]
    return own + chain_of(ranker.init_) if ranker.init_ is not None else own


def least(call: Callable[[], Any], times: int = 1000) -> float:
    """Return the least CPU microseconds of a call."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        call()
        spent.append(time.process_time() - start)
    return 1e6 * min(spent)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    found: dict[str, list[list[float]]] = defaultdict(list)
    for seed in range(seeds):
        weeks = weeks_of(seed)
        for name, train in WAYS.items():
            ranker, values, seconds = None, [], 0.0
            for week in range(1, WEEKS + 1):
                start = time.process_time()
                ranker = train(weeks[:week], ranker)
                if week > 1:
                    seconds += time.process_time() - start
                    X, y, qid = weeks[week]
                    values.append(ranker.score(X, y, qid))
            chain = [LightGBMModel(booster) for booster in chain_of(ranker)]
            size = sum(len(model.dump()) for model in chain) / 1e6
            predictor, X = ranker.predictor(), weeks[-1][0][:20]
            one = LightGBMModel.weighted_sum(chain, [1.0] * len(chain)).native
            folded = least(lambda X=X, one=one: one.predict(X, raw_score=True, num_threads=1))
            asked = least(lambda X=X, predictor=predictor: predictor.predict(X))
            trees = one.num_trees()
            mean = float(np.mean(values))
            found[name].append([mean, values[-1], seconds, trees, size, asked, folded])
            print(seed, name, *(f"{number:.4g}" for number in found[name][-1]), flush=True)
    rows = [[name, *(f"{v:.4g}" for v in np.mean(of, axis=0))] for name, of in found.items()]
    head = ["ranker", "NDCG@10", "last week", "CPU s", "trees", "MB", "request, µs", "folded, µs"]
    print(markdown_table(head, rows))


if __name__ == "__main__":
    main()
