"""Trials in several processes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import joblib
import numpy as np

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_jobs
from gbrank.common.progress import Bar
from gbrank.common.threads import usable_threads
from gbrank.evaluation.trial import Outcome, Task, configure, fit_on_rows, run, run_in_worker


def run_tasks(tasks: Sequence[Task], n_jobs: int | None, progress: bool) -> list[Outcome]:
    """Return the outcome of each trial; before all, rankers are tried, so that none fails late."""
    processes = usable_threads(check_jobs(n_jobs))
    _try_all(tasks)
    if processes == 1:
        fits = map(run, tasks)
    else:
        parallel = joblib.Parallel(processes, return_as="generator", batch_size=1)
        fits = parallel(joblib.delayed(run_in_worker)(task) for task in tasks)
    outcomes = []
    with Bar(total=len(tasks), disable=not progress, unit="fit") as bar:
        for outcome in fits:
            outcomes.append(outcome)
            bar.set_postfix_str(str(outcome.trial), refresh=False)
            bar.update()
    return outcomes


def _try_all(tasks: Sequence[Task]) -> None:
    """Train each ranker that has rounds for two, one of its start, on all rows of each data set."""
    first = {(task.trial.data, task.trial.ranker): task for task in tasks}
    for task in first.values():
        if isinstance(task.ranker, np.ndarray):
            continue
        ranker = configure(task.ranker, n_estimators=2)
        if "n_estimators" not in {name.rpartition("__")[2] for name in ranker.get_params()}:
            continue
        data, every = task.data, np.arange(task.data.queries.n_documents)
        valid = [data.rows(rows) for rows in task.fold[1:2] if len(rows)]
        place = f"{task.trial.ranker} on {task.trial.data}: "
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fits themselves warn
            try:
                fit_on_rows(ranker, data, data.rows(every), valid)
            except ArgumentError as error:
                raise error.at(place) from None
            except Exception as error:  # libraries have their own kinds
                said, remedy = str(error).partition("\n")[0], "Leave it out, or change the data."
                raise ValueError(f"{place}{said.rstrip('.')}. {remedy}") from error
