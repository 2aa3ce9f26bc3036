"""One trial of a comparison: one ranker, trained on one fold from one seed, and judged."""

import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone

from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.arrays import Positions, Vector
from gbrank.data.documents import Documents, fit_arguments
from gbrank.data.ids import as_list
from gbrank.data.queries import Queries
from gbrank.data.splitting import Fold
from gbrank.evaluation.dataset import Dataset
from gbrank.evaluation.scorable import own_columns
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.interrupted import as_part
from gbrank.measures.judges import JUDGE, PEOPLE, both_values, queries_of_people
from gbrank.measures.measure import Measure, bind_to_rows

PARTS = ("valid", "test")  # of a fold, in which rankers are judged
CATBOOST = {"random_seed": "random_state", "thread_count": "n_jobs"}  # its names, and ours


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

    queries: list[Any]  # their ids
    values: dict[str, Vector]  # by measure; NaN where a query is skipped


@dataclass(frozen=True, eq=False)
class Outcome:
    """The results of a trial."""

    trial: Trial
    valid: Scores  # of no query where the fold has none to validate on
    test: Scores
    rounds: int | None  # of the model; None where the ranker does not say
    cpu_seconds: float  # of the fit


@dataclass(frozen=True, eq=False)
class Task:
    """All that a trial needs; the ranker is unfitted."""

    trial: Trial
    ranker: Any
    data: Dataset
    measures: Sequence[Measure]

    @property
    def fold(self) -> Fold:
        """The rows of the fold."""
        return self.data.splits[self.trial.fold - 1]


def by_judge(measure: str) -> str:
    """Return what a measure by the judge's labels is called, beside the one by people's."""
    return f"{measure}[{JUDGE}]"


def query_values(
    measures: Sequence[Measure], rows: Documents, scores: Vector, n_jobs: int | None = None
) -> dict[str, Vector]:
    """Return what each query is worth by each measure; by a judge too, where one has judged."""
    if JUDGE not in rows.labels:
        return {str(own): bind_to_rows(own, rows, n_jobs).per_query(scores) for own in measures}
    values: dict[str, Vector] = {}
    for measure in measures:
        people, judge = both_values(measure, rows, scores, n_jobs)
        values |= {str(measure): people, by_judge(str(measure)): judge}
    return values | {PEOPLE: queries_of_people(rows).astype(np.float64)}


def configure(ranker: object, **values: Any) -> Any:
    """Return an unfitted copy of a ranker with these values of the parameters that it has."""
    if isinstance(ranker, np.ndarray):  # scores, which nobody trains
        return ranker
    copy = clone(ranker)
    given = copy.get_params(deep=True)
    ends = {name: name.rpartition("__")[2] for name in given}
    if type(copy).__module__.startswith("catboost"):  # it does not list its defaults
        ends |= {name: end for name, end in CATBOOST.items() if end not in given}
    return copy.set_params(**{name: values[end] for name, end in ends.items() if end in values})


def fit_on_rows(
    ranker: Any, data: Dataset, train: Documents, valid: Sequence[Documents] = ()
) -> Any:
    """Train a ranker on rows of a data set."""
    parts = [data.to_train_on(rows) for rows in (train, *valid)]
    if not isinstance(ranker, BaseRanker):
        # As other libraries want them.
        parts = [replace(rows, X=own_columns(ranker, rows.X)).grouped() for rows in parts]
    training, *validation = [rows.arguments() for rows in parts]
    arguments = fit_arguments(training, validation)
    if data.categorical_feature is not None:
        arguments["categorical_feature"] = data.categorical_feature
    arguments = taken_by(ranker, arguments, [rows.queries for rows in parts])
    return as_part(lambda: ranker.fit(arguments.pop("X"), arguments.pop("y"), **arguments))


def taken_by(ranker: Any, arguments: dict[str, Any], queries: Sequence[Queries]) -> dict[str, Any]:
    """Return the arguments as the `fit` of an estimator takes them: with qid, group, or neither.

    Of what `fit` does not take, queries and validation data are left out; weights, positions and
    the like are refused.
    """
    taken = signature(getattr(ranker, "_final_estimator", ranker).fit).parameters
    if any(one.kind is one.VAR_KEYWORD for one in taken.values()):
        return arguments
    left_out = {"qid", "eval_set", "eval_qid"} - set(taken)
    kept = {name: value for name, value in arguments.items() if name not in left_out}
    if "verbose" in taken and "qid" in taken:  # XGBoost prints each round
        kept["verbose"] = False
    if "group" in taken and "qid" not in taken:
        kept["group"] = queries[0].sizes
        if "eval_set" in kept:
            kept["eval_group"] = [own.sizes for own in queries[1:]]
        if "eval_X" in taken and "eval_set" in kept:  # as new versions of LightGBM want them
            kept["eval_X"], kept["eval_y"] = zip(*kept.pop("eval_set"), strict=True)
    elif "group_id" in taken:
        kept["group_id"] = queries[0].index
        kept.pop("eval_set", None)
    if unknown := sorted(set(kept) - set(taken) - {"X", "y"}):
        kind = type(ranker).__name__
        raise ArgumentError(unknown[0], f"must not be given where the fit of {kind} takes none")
    return kept


def run(task: Task) -> Outcome:
    """Train a ranker, unless it is scores already, and judge it on validation and test queries."""
    parts = [(chosen, task.data.rows(chosen)) for chosen in task.fold if len(chosen)]
    train, *valid, test = parts
    start = time.process_time()
    ranker = task.ranker
    if not isinstance(ranker, np.ndarray):
        with found_in(f"{task.trial}: "):
            ranker = fit_on_rows(ranker, task.data, train[1], [rows for _, rows in valid])
    seconds = getattr(ranker, "cpu_seconds_", time.process_time() - start)
    rounds = getattr(ranker, "best_iteration_", None) or None  # LightGBM says 0 for all of them
    return Outcome(
        task.trial,
        _judge(task, ranker, *valid[0]) if valid else Scores([], {}),
        _judge(task, ranker, *test),
        rounds,
        seconds,
    )


def run_in_worker(task: Task) -> Outcome:
    """Do `run` in a process that leaves Ctrl-C to its parent."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run(task)
    finally:
        signal.signal(signal.SIGINT, previous)


def scores_on(ranker: Any, rows: Documents) -> Vector:
    """Return a ranker's scores of rows, with initial scores, which are not part of it."""
    scores: Vector = ranker.predict(own_columns(ranker, rows.X))
    return scores if rows.init_score is None else scores + rows.init_score


def _judge(task: Task, ranker: Any, chosen: Positions, rows: Documents) -> Scores:
    scores: Vector = ranker[chosen] if isinstance(ranker, np.ndarray) else scores_on(ranker, rows)
    values = query_values(task.measures, rows, scores, 1)
    return Scores(as_list(rows.queries.ids), values)
