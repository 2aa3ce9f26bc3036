"""Annealed against fixed widths after the same start, chosen on validation queries.

python -m benchmarks.studies.widths --data mq2008 ohsumed flights nfcorpus --folds 1 2

Each ranker is `GBRanker(objective, sigma=recipe)`: half of the rounds are RankNet's. Widths are in
spreads of the scores (SmoothRank's are squared). The best fixed and the best annealed recipe of an
objective and data set are those of the highest mean validation NDCG@10.
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import ttest_1samp

from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import NDCG, Dataset, GBRanker, geometric, read_folds
from gbrank.schedules import Schedule, constant

OBJECTIVES = ("approx:ndcg", "smooth:ndcg", "tie:ndcg")
FIXED = (0.1, 0.2, 0.3, 0.5)
ANNEALED = ((0.3, 0.1), (0.1, 0.05))


def recipes(objective: str) -> Iterator[tuple[str, str, Schedule]]:
    """Yield kind, name and schedule of each recipe."""
    power = 2 if objective.startswith("smooth") else 1
    for width in FIXED:
        yield "fixed", f"{width:g}", constant(width**power, unit="spread")
    for high, low in ANNEALED:
        schedule = geometric(high**power, low**power, unit="spread")
        yield "annealed", f"{high:g} to {low:g}", schedule


def outcome(
    data: Dataset, fold: int, objective: str, kind: str, name: str, sigma: Schedule
) -> dict[str, Any]:
    """Return a fit's validation measure, and its measure of each test query."""
    train, valid, test = data.fold(fold)
    ranker = GBRanker(objective, sigma=sigma, random_state=1, n_jobs=1)
    ranker.fit(train.X, train.y, qid=train.qid)
    judged = NDCG(k=10).per_query(test.y, ranker.predict(test.X), qid=test.qid)
    return {
        "data": data.name, "fold": fold, "objective": objective, "kind": kind, "recipe": name,
        "valid": ranker.score(*valid), "test": judged,
    }  # fmt: skip


def chosen(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the recipe of the highest mean validation measure, and its test queries."""
    names = list(dict.fromkeys(row["recipe"] for row in rows))
    means = [np.mean([row["valid"] for row in rows if row["recipe"] == name]) for name in names]
    best = names[int(np.argmax(means))]
    parts = [row["test"] for row in rows if row["recipe"] == best]
    return {"recipe": best, "valid": float(max(means)), "test": np.concatenate(parts)}


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
    rows = Parallel(n_jobs=arguments.jobs, verbose=5)(
        delayed(outcome)(data, fold, objective, *recipe)
        for data in map(read_folds, arguments.data)
        for fold in arguments.folds
        for objective in OBJECTIVES
        for recipe in recipes(objective)
    )
    found = list(compared(rows))
    (RESULTS / "widths.json").write_text(rows_to_json(found), encoding="utf-8")
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
