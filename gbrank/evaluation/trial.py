"""One trial of a comparison: one ranker, trained on one fold from one seed, and judged."""

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gbrank.common.argument_error import found_in
from gbrank.data.columns import fit_arguments
from gbrank.data.rows import Rows
from gbrank.data.splitting import Fold
from gbrank.evaluation.calibration_error import expected_calibration_error
from gbrank.evaluation.dataset import Dataset
from gbrank.fit.estimator import scores_of
from gbrank.fit.loop import as_part
from gbrank.measures.measure import Measure, bind_to_rows

PARTS = ("valid", "test")  # of a fold, in which rankers are judged


@dataclass(frozen=True)
class Trial:
    """Which fit it is; folds are counted from 1."""

    data: str
    ranker: str
    seed: int
    fold: int

    def __str__(self) -> str:
        return f"{self.ranker} on {self.data}, seed {self.seed}, fold {self.fold}"


@dataclass(frozen=True, eq=False)
class Scores:
    """The measures of the rankings of some queries."""

    queries: list[str]  # their ids
    values: dict[str, NDArray[np.float64]]  # by measure; NaN where a query is skipped
    calibration_error: float | None  # None where the ranker gives no probabilities


@dataclass(frozen=True, eq=False)
class Outcome:
    """The results of a trial."""

    trial: Trial
    valid: Scores  # of no query where the fold has none to validate on
    test: Scores
    rounds: int | None  # of the model; None where the ranker does not say
    cpu_seconds: float  # of the fit
    ranker: Any = None  # the fitted one, if the task keeps it


@dataclass(frozen=True, eq=False)
class Task:
    """All that a trial needs; the ranker is unfitted."""

    trial: Trial
    ranker: Any
    data: Dataset
    measures: Sequence[Measure]
    keeps_ranker: bool = False

    @property
    def fold(self) -> Fold:
        """The rows of the fold."""
        return self.data.splits[self.trial.fold - 1]

    def queries(self, part: str) -> list[str]:
        """Return the ids of the queries of a part of the fold, as they first appear."""
        return list(dict.fromkeys(map(str, self.data.qid[getattr(self.fold, part)].tolist())))


def configure(ranker: object, **values: Any) -> Any:
    """Return an unfitted copy of a ranker with these values of the parameters that it has."""
    copy = clone(ranker)
    ends = {name: name.rpartition("__")[2] for name in copy.get_params(deep=True)}
    return copy.set_params(**{name: values[end] for name, end in ends.items() if end in values})


def fit_on_rows(ranker: Any, data: Dataset, train: Rows, valid: Sequence[Rows]) -> Any:
    """Train a ranker on rows of a data set."""
    parts = [rows.as_given(rows.X) for rows in (train, *valid)]
    arguments = fit_arguments(parts[0], parts[1:])
    if data.categorical_feature is not None:
        arguments["categorical_feature"] = data.categorical_feature
    return as_part(lambda: ranker.fit(arguments.pop("X"), arguments.pop("y"), **arguments))


def run(task: Task) -> Outcome:
    """Train a ranker and judge it on the validation and on the test queries."""
    train, *valid, test = (task.data.rows(rows) for rows in task.fold if len(rows))
    start = time.process_time()
    with found_in(f"{task.trial}: "):
        ranker = fit_on_rows(task.ranker, task.data, train, valid)
    seconds = getattr(ranker, "cpu_seconds_", time.process_time() - start)
    return Outcome(
        task.trial,
        _judge(task, ranker, valid[0]) if valid else Scores([], {}, None),
        _judge(task, ranker, test),
        getattr(ranker, "best_iteration_", None),
        seconds,
        ranker if task.keeps_ranker else None,
    )


def run_in_worker(task: Task) -> Outcome:
    """Do `run` in a process that leaves Ctrl-C to its parent."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run(task)
    finally:
        signal.signal(signal.SIGINT, previous)


def _judge(task: Task, ranker: Any, rows: Rows) -> Scores:
    scores = scores_of(ranker, rows.X, rows.queries.ids[rows.queries.index])
    values = {
        str(measure): bind_to_rows(measure, rows, 1).per_query(scores) for measure in task.measures
    }
    largest = float(np.max(task.data.y)) or 1.0
    calibration, error = getattr(ranker, "calibration_", None), None
    if calibration is not None:
        shares = calibration.probabilities(scores) * calibration.largest_label / largest
        error = expected_calibration_error(rows.y / largest, shares)
    return Scores(list(map(str, rows.queries.ids.tolist())), values, error)
