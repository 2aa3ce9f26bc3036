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
from gbrank.data.queries import Queries
from gbrank.evaluation.calibration_error import expected_calibration_error
from gbrank.evaluation.folds import Dataset, Documents, Fold
from gbrank.fit.estimator import scores_of
from gbrank.fit.loop import part_of_more
from gbrank.measures.measure import Measure

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
    valid: Scores
    test: Scores
    rounds: int | None  # of the model; None where the ranker does not say
    cpu_seconds: float  # of the fit


@dataclass(frozen=True, eq=False)
class Task:
    """All that a trial needs; the ranker is unfitted and has the trial's seed."""

    trial: Trial
    ranker: Any
    data: Dataset
    measures: Sequence[Measure]

    @property
    def fold(self) -> Fold:
        """The rows of the fold."""
        return self.data.splits[self.trial.fold - 1]

    def queries(self, part: str) -> list[str]:
        """Return the ids of the queries of a part of the fold, as they first appear."""
        queries = self.data.queries
        numbers = dict.fromkeys(queries.index[getattr(self.fold, part)].tolist())
        return [str(query) for query in queries.ids[list(numbers)].tolist()]


def configured(ranker: object, seed: int) -> Any:
    """Return an unfitted copy of a ranker with this seed, that uses one thread."""
    copy = clone(ranker)
    values = {"random_state": seed, "n_jobs": 1}
    ends = {name: name.rpartition("__")[2] for name in copy.get_params(deep=True)}
    return copy.set_params(**{name: values[end] for name, end in ends.items() if end in values})


def run(task: Task) -> Outcome:
    """Train a ranker and judge it on the validation and on the test queries."""
    train, valid, test = task.data.fold(task.trial.fold)
    start = time.process_time()
    with found_in(f"{task.trial}: "), part_of_more():
        held_out = {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.qid]}
        ranker = task.ranker.fit(train.X, train.y, qid=train.qid, **held_out)
    seconds = getattr(ranker, "cpu_seconds_", time.process_time() - start)
    on_valid, on_test = _judge(task, "valid", ranker, valid), _judge(task, "test", ranker, test)
    return Outcome(task.trial, on_valid, on_test, getattr(ranker, "best_iteration_", None), seconds)


def run_in_worker(task: Task) -> Outcome:
    """Do `run` in a process that leaves Ctrl-C to its parent."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run(task)
    finally:
        signal.signal(signal.SIGINT, previous)


def _judge(task: Task, part: str, ranker: Any, documents: Documents) -> Scores:
    scores = scores_of(ranker, documents.X, documents.qid)
    queries = Queries.from_qid(documents.qid)
    values = {
        str(measure): measure.bind(documents.y, queries, 1, documents.X).per_query(scores)
        for measure in task.measures
    }
    largest = float(np.max(task.data.y)) or 1.0
    calibration, error = getattr(ranker, "calibration_", None), None
    if calibration is not None:
        shares = calibration.probabilities(scores) * calibration.largest_label / largest
        error = expected_calibration_error(documents.y / largest, shares)
    return Scores(task.queries(part), values, error)
