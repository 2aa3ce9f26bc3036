"""Fits of a comparison: a ranker, trained on one fold from one seed, and judged."""

import signal
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone

from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_jobs
from gbrank.common.progress import Bar
from gbrank.common.threads import usable_threads
from gbrank.data.documents import Documents, fit_arguments
from gbrank.data.queries import Queries
from gbrank.evaluation.dataset import Dataset
from gbrank.evaluation.scorable import own_columns, predicted
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.interrupted import as_part

CATBOOST = {"random_seed": "random_state", "thread_count": "n_jobs"}  # its names, and ours


class Fit(NamedTuple):
    """A ranker to train, or its scores, with the seed and the fold, which is counted from 1."""

    name: str
    ranker: Any
    data: Dataset
    seed: int
    fold: int

    def __str__(self) -> str:
        return f"{self.name} on {self.data.name}, seed {self.seed}, fold {self.fold}"


class FitScores(NamedTuple):
    """The results of a fit."""

    scores: dict[str, Vector]  # of the documents of each part of the fold
    rounds: float  # of the model; NaN where the ranker does not say
    cpu_seconds: float


def run_fits(fits: Sequence[Fit], n_jobs: int | None, progress: bool) -> list[FitScores]:
    """Train in several processes, after a trial of each ranker: none fails late."""
    processes = usable_threads(check_jobs(n_jobs))
    for fit in {(fit.data.name, fit.name): fit for fit in fits}.values():
        try_ranker(fit)
    if processes == 1:
        results = map(run, fits)
    else:
        parallel = joblib.Parallel(processes, return_as="generator", batch_size=1)
        results = parallel(joblib.delayed(run_in_worker)(fit) for fit in fits)
    done = []
    with Bar(total=len(fits), disable=not progress, unit="fit") as bar:
        for fit, result in zip(fits, results, strict=True):
            done.append(result)
            bar.set_postfix_str(str(fit), refresh=False)
            bar.update()
    return done


def try_ranker(fit: Fit) -> None:
    """Train a ranker that has rounds for two, one of its start, on all rows of its data set."""
    ranker = configure(fit.ranker, n_estimators=2)
    if isinstance(ranker, np.ndarray) or "n_estimators" not in ends(ranker).values():
        return
    data, rows = fit.data, fit.data.splits[fit.fold - 1].valid
    valid = [data.rows(rows)] if len(rows) else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fits themselves warn
        try:
            fit_on_rows(ranker, data, data.rows(np.arange(data.queries.n_documents)), valid)
        except ArgumentError as error:
            raise error.at(f"{fit.name} on {data.name}: ") from None
        except Exception as error:  # libraries have their own kinds
            raise ValueError(f"{fit.name} on {data.name}: {error}") from error


def run(fit: Fit) -> FitScores:
    """Train a ranker, and score validation and test queries, unless it is scores already."""
    data, ranker = fit.data, fit.ranker
    chosen = data.splits[fit.fold - 1]._asdict()
    if isinstance(ranker, np.ndarray):
        scores = {part: ranker[rows] for part, rows in chosen.items() if len(rows)}
        return FitScores(scores, np.nan, 0.0)
    train, *judged = [(part, data.rows(rows)) for part, rows in chosen.items() if len(rows)]
    start = time.process_time()
    with found_in(f"{fit}: "):
        ranker = fit_on_rows(ranker, data, train[1], [rows for _, rows in judged[:-1]])
    seconds = getattr(ranker, "cpu_seconds_", time.process_time() - start)
    rounds = getattr(ranker, "best_iteration_", None) or np.nan  # LightGBM says 0 for all of them
    return FitScores({part: scores_on(ranker, rows) for part, rows in judged}, rounds, seconds)


def run_in_worker(fit: Fit) -> FitScores:
    """Do `run` in a process that leaves Ctrl-C to its parent."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run(fit)
    finally:
        signal.signal(signal.SIGINT, previous)


def ends(ranker: Any) -> dict[str, str]:
    """Return the last word of each parameter's name, by the name; CatBoost's in our words."""
    names = ranker.get_params(deep=True)
    words = {name: name.rpartition("__")[2] for name in names}
    if type(ranker).__module__.startswith("catboost"):  # it does not list its defaults
        words |= {name: word for name, word in CATBOOST.items() if word not in names}
    return words


def configure(ranker: object, **values: Any) -> Any:
    """Return an unfitted copy of a ranker with these values of the parameters that it has."""
    if isinstance(ranker, np.ndarray):  # scores, which nobody trains
        return ranker
    copy = clone(ranker)
    return copy.set_params(
        **{name: values[word] for name, word in ends(copy).items() if word in values}
    )


def fit_on_rows(
    ranker: Any, data: Dataset, train: Documents, valid: Sequence[Documents] = ()
) -> Any:
    """Train a ranker on rows of a data set."""
    parts = []
    for rows in (train, *valid):
        labels = {k: values for k, values in rows.labels.items() if k not in data.only_to_judge}
        parts.append(replace(rows, labels=labels))
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
            kept["eval_group"] = [part.sizes for part in queries[1:]]
        if "eval_X" in taken and "eval_set" in kept:  # as new versions of LightGBM want them
            kept["eval_X"], kept["eval_y"] = zip(*kept.pop("eval_set"), strict=True)
    elif "group_id" in taken:
        kept["group_id"] = queries[0].index
        kept.pop("eval_set", None)
    if unknown := sorted(set(kept) - set(taken) - {"X", "y"}):
        kind = type(ranker).__name__
        raise ArgumentError(unknown[0], f"must not be given where the fit of {kind} takes none")
    return kept


def scores_on(ranker: Any, rows: Documents) -> Vector:
    """Return a ranker's scores of rows, with initial scores, which are not part of it."""
    scores: Vector = predicted(ranker, rows.X, rows.arguments()["qid"])
    return scores if rows.init_score is None else scores + rows.init_score
