"""The folder of results: one table of queries per trial, and the ranker where it is kept."""

import csv
import functools
import hashlib
import io
import pickle
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from gbrank.common.describe import describe
from gbrank.common.files import replace_file
from gbrank.evaluation.trial import PARTS, Outcome, Scores, Task, Trial
from gbrank.ranker import GBRanker


def outcome_path(folder: Path, task: Task) -> Path:
    """Return the CSV file of a trial; its name holds a hash of all that it depends on."""
    names = list(map(str, task.measures))  # a measure may have been named by an alias
    parts = [task.trial, task.ranker, task.measures, names, task.fold]
    try:
        digest = joblib.hash(describe([*parts, task.data.fingerprint, code_version()]))
    except (pickle.PicklingError, TypeError) as error:
        raise ValueError(
            f"results needs rankers and measures that can be pickled: {task.trial}: {error.args[0]}"
        ) from None
    label = re.sub(r"[^\w.@+-]+", "-", "_".join(map(str, astuple(task.trial))))
    return folder / f"{label[:100]}_{digest}.csv"


@functools.cache
def code_version() -> list[str]:
    """Return a hash of gbrank's source, and the versions of what it trains with."""
    source = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        if file.parent.name != "commands":
            source.update(file.read_bytes())
    versions = []
    for package in ("lightgbm", "xgboost", "catboost", "numpy"):
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return [source.hexdigest(), *versions]


def columns(measures: Sequence[str]) -> list[str]:
    """Return the names of the columns of a table."""
    trial = [field.name for field in fields(Trial)]
    return [*trial, "part", "query", *measures, "calibration_error", "rounds", "cpu_seconds"]


def rows(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    """Yield a table's rows, one for each query and part."""
    trial, end = astuple(outcome.trial), (outcome.rounds, outcome.cpu_seconds)
    for part in PARTS:
        scores: Scores = getattr(outcome, part)
        values = (item.tolist() for item in scores.values.values())
        for query in zip(scores.queries, *values, strict=True):
            yield (*trial, part, *query, scores.calibration_error, *end)


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Write the outcome of a trial, whole or not at all; a ranker goes into a folder beside it."""
    if outcome.ranker is not None:
        outcome.ranker.save(path.with_suffix(""))
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns(list(outcome.test.values)))
    writer.writerows(rows(outcome))
    replace_file(path, text.getvalue().encode())


def read_outcome(path: Path, task: Task) -> Outcome:
    """Read what `write_outcome` wrote."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file, strict=True))
        valid, test = (
            _scores([row for row in table if row["part"] == part], task, part) for part in PARTS
        )
        rounds = int(table[0]["rounds"]) if table[0]["rounds"] else None
        seconds = float(table[0]["cpu_seconds"])
    except (ValueError, TypeError, KeyError, IndexError, csv.Error) as error:
        raise ValueError(f"{path} is damaged ({error}): delete it.") from None
    ranker = GBRanker.load(path.with_suffix("")) if task.keeps_ranker else None
    return Outcome(task.trial, valid, test, rounds, seconds, ranker)


def _scores(table: list[dict[str, str]], task: Task, part: str) -> Scores:
    queries = [row["query"] for row in table]
    expected = task.queries(part)
    if queries != expected:
        raise ValueError(f"{len(queries)} {part} queries, expected {len(expected)} in their order")
    if not queries:
        return Scores([], {}, None)
    values = {name: np.array([float(row[name]) for row in table]) for name in task.names}
    error = table[0]["calibration_error"]
    return Scores(queries, values, float(error) if error else None)
