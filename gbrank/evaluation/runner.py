"""Trials in several processes, each done once: what a folder of results holds is read."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import joblib
import numpy as np

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_jobs
from gbrank.common.progress import Bar
from gbrank.common.threads import usable_threads
from gbrank.evaluation.stored_outcomes import outcome_path, read_outcome, write_outcome
from gbrank.evaluation.trial import Outcome, Task, configure, fit_on_rows, run, run_in_worker


def run_tasks(
    tasks: Sequence[Task],
    results: str | os.PathLike[str] | None,
    n_jobs: int | None,
    progress: bool,
    *,
    try_first: bool = False,
) -> list[Outcome]:
    """Return the outcome of each trial: from its file, or by running it.

    Rankers may be tried first, each on each data set, so that none is refused after hours.
    """
    processes = usable_threads(check_jobs(n_jobs))
    paths: list[Path | None] = [None] * len(tasks)
    if results is not None:
        paths = [outcome_path(Path(results), task) for task in tasks]
    outcomes, missing = {}, []
    for task, path in zip(tasks, paths, strict=True):
        if path is not None and path.exists():
            outcomes[task.trial] = read_outcome(path, task)
        else:
            missing.append((task, path))
    if try_first:
        _try_all([task for task, _ in missing])
    if results is not None:
        Path(results).mkdir(parents=True, exist_ok=True)
    if processes == 1:
        fits = (_run_and_keep(run, *item) for item in missing)
    else:
        parallel = joblib.Parallel(processes, return_as="generator_unordered", batch_size=1)
        fits = parallel(joblib.delayed(_run_and_keep)(run_in_worker, *item) for item in missing)
    with Bar(total=len(tasks), initial=len(outcomes), disable=not progress, unit="fit") as bar:
        for outcome in fits:
            outcomes[outcome.trial] = outcome
            bar.set_postfix_str(str(outcome.trial), refresh=False)
            bar.update()
    return [outcomes[task.trial] for task in tasks]


def _run_and_keep(fit: Callable[[Task], Outcome], task: Task, path: Path | None) -> Outcome:
    outcome = fit(task)
    if path is not None:
        write_outcome(path, outcome)
    return outcome


def _try_all(tasks: Sequence[Task]) -> None:
    """Train each ranker that has rounds for two, one of its start, on all rows of each data set."""
    first: dict[tuple[str, str], Task] = {}
    for task in tasks:
        if not isinstance(task.ranker, np.ndarray):
            first.setdefault((task.trial.data, task.trial.ranker), task)
    for task in first.values():
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
            except Exception as error:  # libraries have classes of their own
                remedy = "Leave it out, or change the data."
                raise ValueError(f"{place}{str(error).rstrip('.')}. {remedy}") from None
