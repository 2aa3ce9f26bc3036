"""Annealed against fixed widths after the same start, chosen on validation queries.

python -m benchmarks.studies.widths --data mq2008 ohsumed flights nfcorpus --folds 1 2 3

Each ranker is `GBRanker(objective, sigma=recipe)`: half of the rounds are RankNet's. Widths are in
spreads of the scores (SmoothRank's are squared). For each fixed width there is an annealed recipe
that falls to a third around it. In each fold the fixed and the annealed recipe of the highest
validation NDCG@10 are judged; the table names those that are chosen most often. Fits are kept in
`.studies`, where a run that was stopped goes on.
"""

import argparse
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np
from joblib import Memory, Parallel, delayed
from scipy.stats import ttest_1samp

from benchmarks.studies.annealed import parts
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import NDCG, GBRanker
from gbrank.schedules import Schedule, constant, geometric

OBJECTIVES = ("approx:ndcg", "smooth:ndcg", "tie:ndcg", "soft:ndcg")
WIDTHS = (0.1, 0.17, 0.3, 0.5, 1.0)
FALL = 3.0  # of annealed widths, from the first round to the last
SIZES = (1500,)  # queries of artificial data to train on
KEPT = ".studies"


def recipes(objective: str) -> Iterator[tuple[str, str, Schedule]]:
    """Yield kind, name and schedule of each recipe."""
    power = 2 if objective.startswith("smooth") else 1
    for width in WIDTHS:
        yield "fixed", f"{width:g}", constant(width**power, unit="spread")
        high, low = width * FALL**0.5, width / FALL**0.5
        schedule = geometric(high**power, low**power, unit="spread")
        yield "annealed", f"{high:.2g} to {low:.2g}", schedule


def outcome(
    part: tuple[str, int, Any, Any, Any], objective: str, kind: str, name: str, sigma: Schedule
) -> dict[str, Any]:
    """Return a fit's validation measure, and its measure of each test query."""
    data, fold, train, valid, test = part
    ranker = GBRanker(objective, sigma=sigma, random_state=1, n_jobs=1)
    ranker.fit(train.X, train.y, qid=train.qid)
    judged = NDCG(k=10).per_query(test.y, ranker.predict(test.X), qid=test.qid)
    return {
        "data": data, "fold": fold, "objective": objective, "kind": kind, "recipe": name,
        "valid": ranker.score(valid.X, valid.y, valid.qid), "test": judged,
    }  # fmt: skip


def chosen(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the recipes of each fold's highest validation measure, and their test queries."""
    folds = dict.fromkeys(row["fold"] for row in rows)
    best = [max((r for r in rows if r["fold"] == fold), key=itemgetter("valid")) for fold in folds]
    return {
        "recipe": Counter(row["recipe"] for row in best).most_common(1)[0][0],
        "valid": float(np.mean([row["valid"] for row in best])),
        "test": np.concatenate([row["test"] for row in best]),
    }


def compared(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the best annealed recipe beside the best fixed one, by objective and data set."""
    for objective in OBJECTIVES:
        for data in dict.fromkeys(row["data"] for row in rows):
            own = [row for row in rows if (row["objective"], row["data"]) == (objective, data)]
            annealed, fixed = (
                chosen([row for row in own if row["kind"] == kind])
                for kind in ("annealed", "fixed")
            )
            difference = annealed["test"] - fixed["test"]
            difference = difference[np.isfinite(difference)]
            yield {
                "objective": objective, "data": data,
                "annealed": annealed["recipe"], "fixed": fixed["recipe"],
                "valid_annealed": annealed["valid"], "valid_fixed": fixed["valid"],
                "test_annealed": float(np.nanmean(annealed["test"])),
                "test_fixed": float(np.nanmean(fixed["test"])),
                "difference": float(difference.mean()),
                "p": float(ttest_1samp(difference, 0.0).pvalue),
            }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--folds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    arguments = parser.parse_args()
    kept = Memory(KEPT, verbose=0).cache(outcome)
    rows = Parallel(n_jobs=arguments.jobs, verbose=5)(
        delayed(kept)(part, objective, *recipe)
        for part in parts(arguments.data, arguments.folds, SIZES)
        for objective in OBJECTIVES
        for recipe in recipes(objective)
    )
    found = list(compared(rows))
    fits = [{key: value for key, value in row.items() if key != "test"} for row in rows]
    (RESULTS / "widths.json").write_text(rows_to_json([*fits, *found]), encoding="utf-8")
    print(
        markdown_table(
            ("objective", "data", "annealed", "fixed", "annealed", "fixed", "difference", "p"),
            (
                (
                    f"`{row['objective']}`", row["data"], row["annealed"], row["fixed"],
                    f"{row['test_annealed']:.4f}", f"{row['test_fixed']:.4f}",
                    f"{row['difference']:+.4f}",
                    "< 0.01" if row["p"] < 0.005 else f"{row['p']:.2f}",
                )
                for row in found
            ),
            words=4,
        )
    )  # fmt: skip
