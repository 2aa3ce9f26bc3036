"""Objectives on large data, each at its best rate: at convergence, and in equal seconds.

python -m benchmarks.studies.larger --flights FOLDER --results OTHER

FOLDER holds Parquet files with the columns label and qid, and features. OTHER keeps what is done.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.named_rankers import ALL_PAIRS, ranker_from_name
from benchmarks.strata import against_first
from benchmarks.studies.fits import MEASURE, parquet_documents, with_exchanged_labels
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import make_cubic
from gbrank.evaluation import LabeledDocuments

RATES = (0.05, 0.1, 0.2, 0.3)  # the first on flights alone, whose labels are noisy
RANKERS = (
    ALL_PAIRS,
    "lightgbm:lambdarank",
    "noisy:ndcg",
    "noisy(draws=8):ndcg",
    "ranknet",
    "lambda:ndcg",
    "lambda(normalize=lightgbm):ndcg",
    "listmle",
)
OF_A_MILLION = (ALL_PAIRS, "noisy:ndcg", "ranknet", "listmle")
ROUNDS, PATIENCE = 500, 100
TREES = {"num_leaves": 31, "subsample": 1.0, "colsample": 1.0, "early_stopping_rounds": PATIENCE}
BUDGET = 300  # rounds of the first ranker at the rate of 0.1: the seconds that all others get
SPLITS = 3
STEP = 10  # rounds after which test queries are judged
TIMED = 30  # rounds that are timed
TEXT = """\
# With noise in the labels, three objectives beat lambdarank on 200,000 and 1,000,000 documents

Without noise they do so in equal seconds on 200,000 documents, and none does on 1,000,000; on
flights the lead is within chance.

Trees of 31 leaves, at least 20 documents a leaf, all documents, features and thresholds, one
thread; up to {rounds} rounds, ended after {patience} without a better NDCG@10 on validation
queries, which also choose the rate, of {rates}, and the number of rounds. *Equal seconds*: rate and
rounds are chosen among those that take no more CPU seconds than {budget} rounds of LightGBM's
`lambdarank` over all pairs at the rate of 0.1. Test queries then give the NDCG@10 here. Differences
are from LightGBM's `lambdarank` over all pairs, with the p-value of the paired randomization test,
which is not corrected for the number of rankers. With 1,000,000 documents rates are 0.1 and 0.3
with noise; without noise 0.3 and 0.5, and at most {budget} rounds, which is short of convergence.
`GBRanker()` grows [other trees](../../docs/defaults.md); this page is about objectives.

- *artificial*: queries of 50 documents with 50 features (`make_cubic`), 2,000 to test on and 1,000
  to validate; *noisy*: with a third of the training labels exchanged at random;
- *flights*: departures of a day from New York's airports by how late they arrived, {splits} splits
  by day.

```bash
python -m benchmarks.studies.larger --flights flights_full
```

{tables}
"""


class Data(NamedTuple):
    """Documents to train on, to validate and to test."""

    name: str
    train: LabeledDocuments
    valid: LabeledDocuments
    test: LabeledDocuments


class Curve(NamedTuple):
    """NDCG@10 of one fit after every tenth round."""

    valid: np.ndarray  # mean over validation queries
    test: np.ndarray  # a row for each tenth round, a column for each test query


def artificial(documents: int, share: float) -> Data:
    """Return artificial queries, some labels of which are exchanged."""
    n = documents // 50
    X, y, qid = make_cubic(n + 3_000, n_documents=50, random_state=1)
    bounds = ((0, n), (n, n + 1_000), (n + 1_000, n + 3_000))
    parts = [
        LabeledDocuments(X[own], y[own], qid[own])
        for own in ((qid >= low) & (qid < high) for low, high in bounds)
    ]
    name = f"{'noisy' if share else 'artificial'}, {documents:,} documents"
    return Data(name, with_exchanged_labels(parts[0], share), *parts[1:])


def flight_days(folder: str, split: int) -> Data:
    """Return departures by day: three fifths to train on, one fifth to validate and to test."""
    everything = parquet_documents(folder)
    days = np.random.default_rng(split).permutation(np.unique(everything.qid))
    ends = [0, len(days) * 3 // 5, len(days) * 4 // 5, len(days)]
    parts = []
    for low, high in pairwise(ends):
        own = np.isin(everything.qid, days[low:high])
        parts.append(LabeledDocuments(*(column[own] for column in everything)))
    return Data(f"flights {split}", *parts)


def ranker(name: str, rate: float, rounds: int) -> Any:
    """Return an unfitted ranker of this study, on one thread."""
    unfitted = ranker_from_name(name, **TREES, learning_rate=rate, n_estimators=rounds)
    return unfitted.set_params(n_jobs=1)


def curve_of(name: str, rate: float, rounds: int, data: Data, file: Path) -> Curve:
    """Train a ranker, unless the file has what it came to."""
    if not file.exists():
        train, valid, test = data[1:]
        held_out = {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.qid]}
        fitted = ranker(name, rate, rounds).fit(train.X, train.y, qid=train.qid, **held_out)
        by_round = fitted.evals_result_["valid_0"]["ndcg@10"][STEP - 1 :: STEP]
        scores, rows = np.zeros(len(test.y)), []
        for start in range(0, STEP * len(by_round), STEP):
            scores += fitted.booster_.predict(test.X, start_iteration=start, num_iteration=STEP)
            rows.append(MEASURE.per_query(test.y, scores, qid=test.qid))
        np.savez(file, valid=by_round, test=np.array(rows))
        print(f"{file.stem}: {max(by_round):.4f}", flush=True)
    with np.load(file) as kept:
        return Curve(kept["valid"], kept["test"])


def seconds_of(name: str, data: Data) -> float:
    """Return the CPU seconds of a round, without evaluation."""
    fresh = ranker(name, 0.1, TIMED).set_params(early_stopping_rounds=None)
    start = time.process_time()
    fresh.fit(data.train.X, data.train.y, qid=data.train.qid)
    return (time.process_time() - start) / TIMED


def chosen(curves: dict[float, Curve], rounds: float) -> tuple[float, int, np.ndarray]:
    """Return the rate and the rounds that validate best within so many, and their test values."""
    steps = int(min(max(rounds, STEP), ROUNDS)) // STEP
    rate = max(curves, key=lambda rate: curves[rate].valid[:steps].max())
    best = int(np.argmax(curves[rate].valid[:steps]))
    return rate, STEP * (best + 1), curves[rate].test[best]


class Setting(NamedTuple):
    """What is compared on some data."""

    splits: list[Data]
    rankers: Sequence[str]
    rates: Sequence[float]
    rounds: int = ROUNDS


def rows_of(setting: Setting, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield a row for each ranker, at convergence and in equal seconds."""
    splits, rankers, rates, most = setting
    curves = {
        (data.name, name): {
            rate: curve_of(name, rate, most, data, folder / f"{data.name} {slug(name)} {rate}.npz")
            for rate in rates
        }
        for data in splits
        for name in rankers
    }
    seconds = {name: seconds_of(name, splits[0]) for name in rankers}
    for within, budget in (
        ("convergence", np.inf),
        ("equal seconds", BUDGET * seconds[rankers[0]]),
    ):
        found = {
            name: [chosen(curves[data.name, name], budget / seconds[name]) for data in splits]
            for name in rankers
        }
        values = np.array([np.concatenate([one[2] for one in own]) for own in found.values()])
        judged = values[:, ~np.isnan(values).any(axis=0)]
        for name, own in zip(rankers, against_first([judged]), strict=True):
            yield {
                "data": splits[0].name.removesuffix(" 0"),
                "within": within,
                "ranker": name,
                **own,
                "rates": [one[0] for one in found[name]],
                "rounds": [one[1] for one in found[name]],
                "cpu_seconds": float(np.mean([one[1] for one in found[name]])) * seconds[name],
            }


def slug(name: str) -> str:
    """Return the name as part of a file's name."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return one data set's rows, convergence beside equal seconds."""
    by = {(row["ranker"], row["within"]): row for row in rows}
    lines = []
    for name in dict.fromkeys(row["ranker"] for row in rows):
        line = [f"`{name}`"]
        for within in ("convergence", "equal seconds"):
            row = by[name, within]
            line.append(f"{row['ndcg@10']:.4f}")
            line.append(
                f"{row['difference']:+.4f} ({row['p']:.4f})" if row["p"] is not None else ""
            )
        converged = by[name, "convergence"]
        rates = ", ".join(f"{rate:g}" for rate in sorted(set(converged["rates"])))
        lines.append([*line[:3], rates, f"{converged['cpu_seconds']:.0f}", *line[3:]])
    head = ["at convergence", "difference (p)", "rate", "CPU s"]
    again = ["equal seconds", "difference (p)"]
    return markdown_table(["ranker", *head, *again], lines)


def main() -> None:
    """Run the study, and write its page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flights", required=True, metavar="FOLDER")
    parser.add_argument(
        "--results", type=Path, required=True, help="folder that keeps what is done"
    )
    arguments = parser.parse_args()
    folder = arguments.results
    folder.mkdir(parents=True, exist_ok=True)
    settings = [
        Setting([flight_days(arguments.flights, n) for n in range(SPLITS)], RANKERS, RATES),
        Setting([artificial(200_000, 1 / 3)], RANKERS, RATES[1:]),
        Setting([artificial(200_000, 0.0)], RANKERS, RATES[1:]),
        Setting([artificial(1_000_000, 1 / 3)], OF_A_MILLION, (0.1, 0.3)),
        Setting([artificial(1_000_000, 0.0)], OF_A_MILLION, (0.3, 0.5), BUDGET),
    ]
    found = [list(rows_of(setting, folder)) for setting in settings]
    text = TEXT.format(
        rounds=ROUNDS,
        patience=PATIENCE,
        rates=", ".join(map(str, RATES)),
        budget=BUDGET,
        splits=SPLITS,
        tables="\n\n".join(f"*{rows[0]['data']}*:\n\n{table(rows)}" for rows in found),
    )
    rows = [row for own in found for row in own]
    (RESULTS / "larger.json").write_text(rows_to_json(rows), encoding="utf-8")
    (RESULTS / "larger.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
