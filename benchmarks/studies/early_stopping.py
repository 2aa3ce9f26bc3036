"""When to stop: rules on recorded curves of validation queries, then "auto" on test queries.

python -m benchmarks.studies.early_stopping --data mq2008 ohsumed flights nfcorpus wikiqa
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from benchmarks.letor_folders import read_folds
from benchmarks.studies.as_they_come import MEASURE, Outcome, summarised
from benchmarks.writing import RESULTS, markdown_table, rows_to_json
from gbrank import GBRanker, Queries, make_cubic
from gbrank.data.sampling import query_keys, sampled
from gbrank.evaluation import Dataset
from gbrank.fit.defaults import learning_rate_of
from gbrank.fit.rounds import Stopping

Rule: TypeAlias = Callable[[int, float], Stopping]

SET_ASIDE = 0.2  # share of the training queries
SEED = 1
# Curves are recorded at the rates of so many rounds, for how many rounds.
RECORDED = {150: 450, 500: 1000}
BUDGETS = [(150, 150), (150, 450), (500, 500), (500, 1000)]  # of the rate, and of a fit
TEXT = """\
# Early stopping: means over rounds lose nothing beyond chance, the best single round does

What `early_stopping_rounds="auto"` ([how](../../docs/howto/fitting.md#early-stopping)) and a
patience of 50 rounds keep, against no early stopping with as many rounds.

```bash
{command}
```

## Rules on recorded curves: validation queries

`GBRanker` without early stopping, on four fifths of the training queries of five folds. A rule sees
NDCG@10 of the other fifth, round by round, and is judged on the validation queries: the difference
in NDCG@10 from no early stopping on the same queries, the mean over five data sets, and in brackets
the rounds trained, as a share of n, the number of rounds. "Means of as many" compares means of the
measure over so many rounds instead of single rounds, and keeps the last round of the best mean.
Curves were recorded at the default rates of 150 and 500 rounds, and cut at n.

{rules}

The best of many single rounds is mostly a lucky one, and a longer patience helps little: it has
more rounds to choose from. Means over rounds lose at most a third as much. `"auto"` was chosen from
this table: it is never behind by more than 0.0013, in the fewest rounds. The part with the rate
counts where there are more rounds than the data need.

Where the queries that decide come out of the training queries, the trees see fewer. Here is "auto"
as above against no early stopping on *all* training queries, and a ranker that is then trained on
all of them, for the rounds found. In brackets: rounds times queries, as a share.

{aside}

## Test queries

The validation parts of the folds decide when to stop. All rankers are trained on the training
parts, on one thread, and judged on the test parts. CPU seconds are those of a fit with its
measuring of validation queries, on a machine that was busy; differences are from no early stopping
with as many rounds, with p of the paired randomisation test, not corrected. Test queries were read
twice: `"auto"` first was the rule above it in the table of rules, which has -0.0013 with 150
rounds and +0.0014 with 500 on test queries, for more rounds. The present one was timed after the
other rankers.

In seconds, "auto" is level with no early stopping: to measure the validation queries in each round,
and to score them at the end, takes about a fifth of a fit's seconds here, nearly what the rounds
that are spared would have taken.

{results}
"""


def by_means(share: float, rates: float, wait: float = 1.0) -> Rule:
    """Return the rule that compares means over min(share · rounds, rates / rate) rounds."""

    def rule(rounds: int, rate: float) -> Stopping:
        window = max(1, round(min(share * rounds, rates / rate)))
        return Stopping(math.ceil(wait * window), window)

    return rule


RULES: dict[str, Rule] = {
    "50 rounds": lambda rounds, rate: Stopping(50),
    "1 / rate": lambda rounds, rate: Stopping(round(1 / rate)),
    "2 / rate": lambda rounds, rate: Stopping(round(2 / rate)),
    "n / 5": lambda rounds, rate: Stopping(rounds // 5),
    "50 rounds, means of 30": lambda rounds, rate: Stopping(50, window=30),
    "1 / rate, means of as many": by_means(np.inf, 1),
    "3 / rate, means of as many": by_means(np.inf, 3),
    "n / 5, means of as many": by_means(0.2, np.inf),
    "n / 4, means of as many": by_means(0.25, np.inf),
    "min(n / 5, 3 / rate), means of as many": by_means(0.2, 3),
    '`"auto"`: w / 2, means of w = min(n / 4, 3 / rate)': by_means(0.25, 3, 0.5),
}
STOPS: dict[str, dict[str, Any]] = {
    "": {},
    "early_stopping_rounds=50": {"early_stopping_rounds": 50},
    'early_stopping_rounds="auto"': {"early_stopping_rounds": "auto"},
}
LENGTHS: dict[str, dict[str, Any]] = {"": {}, "n_estimators=500": {"n_estimators": 500}}
TESTED = [
    {
        f"GBRanker({', '.join(filter(None, [length, stop]))})": LENGTHS[length] | STOPS[stop]
        for stop in STOPS
    }
    for length in LENGTHS
]


def stopped(curve: Sequence[float], stopping: Stopping) -> tuple[int, int]:
    """Return how many rounds a rule keeps of those of a curve, and after how many it stops."""
    means = [stopping.mean(curve, end) for end in range(1, len(curve) + 1)]
    best = 0
    for last, mean in enumerate(means):
        if mean > means[best]:
            best = last
        elif last - best >= stopping.patience:
            return best + 1, last + 1
    return best + 1, len(curve)


def kept(folder: Path | None, name: str, make: Callable[[], Any]) -> Any:
    """Return what was made before, or make it and keep it."""
    file = None if folder is None else folder / f"{name}.json"
    if file is not None and file.exists():
        return json.loads(file.read_text())
    made = make()
    if file is not None:
        file.write_text(json.dumps(made))
    return made


def curves(data: Dataset, number: int, planned: int) -> dict[str, Any]:
    """Return curves of queries set aside, and of validation queries without and with those."""
    train, valid, _ = data.fold(number)
    queries = Queries.from_qid(train.qid)  # those that validation_fraction would set aside
    chosen = sampled(query_keys(queries.ids), SET_ASIDE, SEED, 0)[queries.index]
    rest, aside = ([part[rows] for part in train] for rows in (~chosen, chosen))

    def fitted(X: Any, y: Any, qid: Any, *parts: Any) -> list[Any]:
        rate = learning_rate_of(GBRanker(n_estimators=planned), Queries.from_qid(qid))
        ranker = GBRanker(
            learning_rate=rate, n_estimators=RECORDED[planned], random_state=SEED, n_jobs=1
        )
        sets: Any = {
            "eval_set": [part[:2] for part in parts],
            "eval_qid": [part[2] for part in parts],
        }
        results = ranker.fit(X, y, qid=qid, **sets).evals_result_
        return [rate, *(results[f"valid_{i}"]["ndcg@10"] for i in range(len(parts)))]

    rate, stopping, judged = fitted(*rest, aside, valid)
    _, judged_all = fitted(*train, valid)
    return {"rate": rate, "aside": stopping, "judged": judged, "judged, all": judged_all}


def simulated(recorded: Mapping[int, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each budget and rule: means over data sets, differences in NDCG@10."""
    for planned, rounds in BUDGETS:
        for name, rule in RULES.items():
            means = [
                np.mean([_outcome(fit, rule, rounds) for fit in fits], axis=0)
                for fits in recorded[planned].values()
            ]
            found = zip(COLUMNS, map(float, np.mean(means, axis=0)), strict=True)
            budget = {"rate of": planned, "rounds": rounds}
            yield {"part": "valid", **budget, "rule": name, **dict(found)}


# Of a rule: its difference from no stopping on the same training queries, and its share of the
# rounds; the same against no stopping on all training queries, where 20% were set aside, and
# where a ranker was then trained on all of them for the rounds found. Costs are rounds times
# queries, as shares of no stopping's.
COLUMNS = ("difference", "cost", "aside", "aside cost", "again", "again cost")


def _outcome(fit: Mapping[str, Any], rule: Rule, rounds: int) -> list[float]:
    best, last = stopped(fit["aside"][:rounds], rule(rounds, fit["rate"]))
    judged, whole = fit["judged"], fit["judged, all"]
    cost = last / rounds
    return [
        *(judged[best - 1] - judged[rounds - 1], cost),
        *(judged[best - 1] - whole[rounds - 1], (1 - SET_ASIDE) * cost),
        *(whole[best - 1] - whole[rounds - 1], (1 - SET_ASIDE) * cost + best / rounds),
    ]


def tested(
    data: Dataset, rankers: Mapping[str, dict[str, Any]], folder: Path | None
) -> dict[str, Outcome]:
    """Return NDCG@10 of each test query, by ranker, and the CPU seconds of a fit."""

    def outcome(params: dict[str, Any], number: int) -> Outcome:
        train, valid, test = data.fold(number)
        stops = "early_stopping_rounds" in params
        sets: dict[str, Any] = {"eval_set": [valid[:2]], "eval_qid": [valid.qid]} if stops else {}
        start = time.process_time()
        ranker = GBRanker(random_state=number, n_jobs=1, **params)
        ranker.fit(train.X, train.y, qid=train.qid, **sets)
        spent = time.process_time() - start
        values = MEASURE.bind(test.y, Queries.from_qid(test.qid)).per_query(ranker.predict(test.X))
        return values[~np.isnan(values)].tolist(), spent

    found: dict[str, Outcome] = {name: ([], 0.0) for name in rankers}
    for number in range(1, len(data.splits) + 1):  # rankers take turns, so that seconds compare
        for name, params in rankers.items():
            own, spent = kept(
                folder, f"{data.name}-{name}-{number}", partial(outcome, params, number)
            )
            values, seconds = found[name]
            found[name] = values + own, seconds + spent / len(data.splits)
    return found


def page(rows: Sequence[Mapping[str, Any]], command: str) -> str:
    """Return the page."""
    simulations = {
        (row["rule"], row["rate of"], row["rounds"]): row for row in rows if "rule" in row
    }
    judged = {(row["data"], row["ranker"]): row for row in rows if "ranker" in row}
    labels = list(dict.fromkeys(data for data, _ in judged))
    head = ["", *(f"{rounds} at the rate of {planned}" for planned, rounds in BUDGETS)]

    def simulation(rule: str, text: str, value: str, cost: str) -> list[str]:
        own = [simulations[(rule, *budget)] for budget in BUDGETS]
        return [text, *(f"{row[value]:+.4f} ({row[cost]:.2f})" for row in own)]

    def result(ranker: str) -> list[str]:
        own = [judged[label, ranker] for label in labels]
        cells = [f"{row['ndcg@10']:.4f} ({row['cpu_seconds']:.1f} s)" for row in own]
        p, difference = own[-1]["p"], own[-1]["difference"]
        return [f"`{ranker}`", *cells, "" if p is None else f"{difference:+.4f} (p = {p:.4f})"]

    *_, auto = RULES
    return TEXT.format(
        command=command,
        rules=markdown_table(
            head, [simulation(rule, rule, "difference", "cost") for rule in RULES]
        ),
        aside=markdown_table(
            head,
            [
                simulation(auto, "20% set aside", "aside", "aside cost"),
                simulation(auto, "20% set aside, trained again", "again", "again cost"),
            ],
        ),
        results=markdown_table(
            ["", *labels, "difference of the mean"],
            [result(ranker) for rankers in TESTED for ranker in rankers],
        ),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", required=True, metavar="FOLDER")
    parser.add_argument("--results", type=Path, help="folder that keeps what is done")
    arguments = parser.parse_args()
    folder, datasets = arguments.results, [*map(read_folds, arguments.data)]
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    X, y, qid = make_cubic(9, random_state=0)
    GBRanker(n_estimators=1).fit(X, y, qid=qid)  # compiles, so that no fit that counts does
    recorded = {
        planned: {
            data.name: [
                kept(
                    folder,
                    f"{data.name}-curves-{planned}-{number}",
                    partial(curves, data, number, planned),
                )
                for number in range(1, len(data.splits) + 1)
            ]
            for data in datasets
        }
        for planned in RECORDED
    }
    rows = [*simulated(recorded)]
    for rankers in TESTED:
        found = {data.name: tested(data, rankers, folder) for data in datasets}
        rows += [{"part": "test", **row} for row in summarised(found)]
    names = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.early_stopping --data {names}"
    (RESULTS / "early_stopping.json").write_text(rows_to_json(rows), encoding="utf-8")
    (RESULTS / "early_stopping.md").write_text(page(rows, command), encoding="utf-8")
