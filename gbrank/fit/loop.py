"""The boosting loop: rounds, evaluation, early stopping, progress; the same for every booster."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import Derivatives, Steps
from gbrank.common.arrays import Vector
from gbrank.common.progress import Bar
from gbrank.common.warnings import warn_user
from gbrank.data.rows import Rows
from gbrank.data.schema import Schema
from gbrank.fit.callbacks import Callback, Round, call_all
from gbrank.measures.custom_measure import CustomMeasure
from gbrank.measures.measure import BoundMeasure, Measure, query_weights


class FitInterrupted(UserWarning):
    """Ctrl-C ended a fit; the model keeps the rounds that were done."""


class Evaluation:
    """Measures bound to one set of rows."""

    def __init__(
        self, name: str, rows: Rows, schema: Schema, measures: list[Measure], n_jobs: int
    ) -> None:
        self.name = name
        self._weights = query_weights(rows.queries, rows.sample_weight, rows.query_weight)
        self._bound: list[BoundMeasure] = []
        for measure in measures:
            if isinstance(measure, CustomMeasure):
                measure = measure.placed(schema)  # checked rows have no names of columns
            self._bound.append(measure.bind(rows.labels, rows.queries, n_jobs, rows.X))
        self.values(np.zeros(len(rows.labels)))  # an undefined measure fails before training

    def values(self, scores: Vector) -> dict[str, float]:
        """Return the mean of each measure."""
        return {str(item.measure): item.mean(scores, self._weights) for item in self._bound}


@dataclass
class History:
    """What happened in the rounds of a fit."""

    results: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # by set and measure
    best_round: int = 0  # how many rounds to keep
    best_value: float = math.nan  # the first measure after them; NaN without validation data
    done: int = 0  # how many rounds have been trained
    start_ended: int = 0  # the round in which early stopping ended the start; 0 if not

    def record(self, evaluation: Evaluation, scores: Vector) -> dict[str, str]:
        """Append the values of one set after a round; return the first for the progress bar."""
        values = evaluation.values(scores)
        for measure, value in values.items():
            self.results.setdefault(evaluation.name, {}).setdefault(measure, []).append(value)
        measure, value = next(iter(values.items()))
        return {f"{evaluation.name} {measure}": f"{value:.4f}"}

    def last_values(self) -> dict[str, dict[str, float]]:
        """Return the values of each set after the last round."""
        return {
            name: {measure: curve[-1] for measure, curve in curves.items()}
            for name, curves in self.results.items()
        }


def train(
    trainer: Steps,
    derivatives: Callable[[int], Derivatives | None],
    rounds: int,
    *,
    on_train: Evaluation | None,
    on_valid: list[Evaluation],
    patience: int | None,
    progress: bool,
    sigmas: dict[int, float],
    hook: GradientHook | None = None,
    callbacks: Sequence[Callback] = (),
    history: History | None = None,
    keep: Callable[[History, bool], None] | None = None,
) -> History:
    """Boost until the last round, a callback or Ctrl-C, or until validation stops improving.

    If validation stops improving in the start stage of `hook`, its objective itself begins.
    """
    history = history or History()
    if not on_valid:
        patience = None
    if history.start_ended and hook is not None:
        rounds = hook.end_start(history.start_ended)
    begin = 0 if hook is None else hook.begin
    bar = Bar(total=rounds, initial=history.done, disable=not progress, unit="round")
    if keep is not None:
        keep(history, True)
    stopped = False
    try:
        while not stopped and not _finished(history, rounds, begin, patience):
            round = history.done
            trainer.step(derivatives(round))
            shown = {"sigma": f"{sigmas[round]:.3g}"} if round in sigmas else {}
            if on_train is not None:
                shown |= history.record(on_train, trainer.train_scores())
            scores = trainer.valid_scores() if on_valid else []
            for evaluation, current in zip(on_valid, scores, strict=True):
                shown |= history.record(evaluation, current)
            history.done = round + 1
            if on_valid:
                _update_best(history, on_valid[0].name, patience)
            if hook is not None and history.done < begin and _out_of_patience(history, 0, patience):
                history.start_ended = begin = history.done
                bar.total = rounds = hook.end_start(begin)
            bar.set_postfix(shown, refresh=False)
            bar.update()
            if callbacks:
                best = history.best_round if on_valid else history.done
                summary = Round(round, rounds, sigmas.get(round), history.last_values(), best)
                stopped = call_all(callbacks, summary)
            if keep is not None:
                keep(history, stopped or _finished(history, rounds, begin, patience))
    except KeyboardInterrupt:
        if history.done == 0:
            raise
        n_kept = history.best_round if on_valid else history.done
        warn_user(
            f"Fit interrupted after {history.done} of {rounds} rounds: the model keeps {n_kept}.",
            FitInterrupted,
        )
    finally:
        bar.close()
    if not on_valid:
        history.best_round = history.done
    return history


def _finished(history: History, rounds: int, begin: int, patience: int | None) -> bool:
    """Say whether there is no round left, or early stopping has run out of patience."""
    return history.done >= rounds or _out_of_patience(history, begin, patience)


def _out_of_patience(history: History, begin: int, patience: int | None) -> bool:
    """Say whether `patience` rounds, from `begin` on, have passed without a new best one."""
    return patience is not None and history.done - max(history.best_round, begin) >= patience


def _update_best(history: History, name: str, patience: int | None) -> None:
    """Note the round to keep: the best one or, without early stopping, the last one."""
    value = next(iter(history.results[name].values()))[-1]
    if patience is None or history.best_round == 0 or value > history.best_value:
        history.best_round, history.best_value = history.done, value
