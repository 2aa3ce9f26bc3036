"""The boosting loop: rounds, evaluation, early stopping, progress; the same for every booster."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import Derivatives, Steps
from gbrank.common.arrays import Vector
from gbrank.common.progress import Bar
from gbrank.common.warnings import warn_user
from gbrank.data.rows import Rows
from gbrank.data.schema import Schema
from gbrank.fit.callbacks import Callback, Round, call_all
from gbrank.fit.constraints import MULTIPLIERS, Multipliers
from gbrank.fit.evals_result import EvalsResult
from gbrank.fit.stopping import Stopping
from gbrank.measures.measure import Measure
from gbrank.measures.on_rows import on_rows


class FitInterrupted(UserWarning):
    """Ctrl-C ended a fit; the model keeps the rounds that were done."""


_is_part: ContextVar[bool] = ContextVar("_is_part", default=False)


@contextmanager
def part_of_more() -> Iterator[None]:
    """Let Ctrl-C end all that a fit is part of: it keeps no rounds, and raises."""
    token = _is_part.set(True)
    try:
        yield
    finally:
        _is_part.reset(token)


class Evaluation:
    """Measures bound to one set of rows."""

    def __init__(
        self, name: str, rows: Rows, schema: Schema, measures: list[Measure], n_jobs: int | None
    ) -> None:
        self.name = name
        placed = (measure.placed(schema) for measure in measures)  # rows have no names of columns
        self._measures = [on_rows(measure, rows, n_jobs) for measure in placed]
        self.values(np.zeros(len(rows.labels)))  # an undefined measure fails before training

    def values(self, scores: Vector) -> dict[str, float]:
        """Return the mean of each measure."""
        return {str(item.measure): item.mean(scores) for item in self._measures}


@dataclass
class History:
    """What happened in the rounds of a fit."""

    results: dict[str, dict[str, list[float]]] = field(default_factory=dict)  # by set and measure
    best_round: int = 0  # how many rounds to keep; at the end of a fit without validation data, all
    best_value: float = math.nan  # the first measure after them; NaN without validation data
    violation: float = 0.0  # what a constraint lacks after them at most
    done: int = 0  # how many rounds have been trained
    start_ended: int = 0  # the round in which early stopping ended the start; 0 if not

    def end_round(
        self,
        trainer: Steps,
        on_train: Evaluation | None,
        on_valid: Sequence[Evaluation],
        stopping: Stopping | None,
        multipliers: Multipliers | None,
    ) -> dict[str, str]:
        """Measure each set after a round, and note the best one; return what the bar shows."""
        shown: dict[str, str] = {}
        if on_train is not None:
            shown |= self._record(on_train, trainer.train_scores())
        scores = trainer.valid_scores() if on_valid else []
        for evaluation, current in zip(on_valid, scores, strict=True):
            shown |= self._record(evaluation, current)
        violation = 0.0
        if multipliers is not None:
            violation = multipliers.end_round(self.results)
            for constraint, curve in self.results[MULTIPLIERS].items():
                shown[f"weight of {constraint}"] = f"{curve[-1]:.3g}"
        self.done += 1
        if on_valid:
            self._update_best(on_valid[0].name, stopping, violation)
        return shown

    def _record(self, evaluation: Evaluation, scores: Vector) -> dict[str, str]:
        """Append the values of one set after a round; return the first for the progress bar."""
        values = evaluation.values(scores)
        for measure, value in values.items():
            self.results.setdefault(evaluation.name, {}).setdefault(measure, []).append(value)
        measure, value = next(iter(values.items()))
        return {f"{evaluation.name} {measure}": f"{value:.4f}"}

    def _update_best(self, name: str, stopping: Stopping | None, violation: float) -> None:
        """Note the round to keep: the best one or, without early stopping, the last one.

        The best is the best of those in which all constraints hold, if there are any.
        """
        curve = next(iter(self.results[name].values()))
        if (
            stopping is None
            or self.best_round == 0
            or (-violation, stopping.mean(curve, self.done))
            > (-self.violation, stopping.mean(curve, self.best_round))
        ):
            self.best_round, self.best_value = self.done, curve[-1]
            self.violation = violation

    def forget_unfinished(self) -> None:
        """Drop the values of a round that was not finished."""
        for curves in self.results.values():
            for curve in curves.values():
                del curve[self.done :]

    def published(self, sigmas: dict[int, float]) -> dict[str, Any]:
        """Return the fields of `FittedRounds`."""
        return {
            "best_iteration": self.best_round,
            "best_score": self.best_value,
            "evals_result": EvalsResult(self.results),
            "sigmas": np.array([sigmas[round] for round in sorted(sigmas) if round < self.done]),
        }

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
    stopping: Stopping | None,
    progress: bool,
    sigmas: dict[int, float],
    hook: GradientHook | None = None,
    multipliers: Multipliers | None = None,
    callbacks: Sequence[Callback] = (),
    history: History | None = None,
    keep: Callable[[History, bool], None] | None = None,
) -> History:
    """Boost until the last round, a callback or Ctrl-C, or until validation stops improving.

    If validation stops improving in the start stage of `hook`, its objective itself begins.
    """
    history = history or History()
    if not on_valid:
        stopping = None
    if history.start_ended and hook is not None:
        rounds = hook.end_start(history.start_ended)
    begin = 0 if hook is None else hook.begin
    bar = Bar(total=rounds, initial=history.done, disable=not progress, unit="round")
    if keep is not None:
        keep(history, True)
    stopped = False
    try:
        while not stopped and not _finished(history, rounds, begin, stopping):
            round = history.done
            trainer.step(derivatives(round))
            shown = {"sigma": f"{sigmas[round]:.3g}"} if round in sigmas else {}
            shown |= history.end_round(trainer, on_train, on_valid, stopping, multipliers)
            if hook is not None and history.done < begin and _out_of_patience(history, 0, stopping):
                history.start_ended = begin = history.done
                bar.total = rounds = hook.end_start(begin)
            bar.set_postfix(shown, refresh=False)
            bar.update()
            values, best = history.last_values(), history.best_round if on_valid else round + 1
            stopped = call_all(callbacks, Round(round, rounds, sigmas.get(round), values, best))
            if keep is not None:
                keep(history, stopped or _finished(history, rounds, begin, stopping))
    except KeyboardInterrupt:
        if history.done == 0 or _is_part.get():
            raise
        _keep_what_is_done(history, rounds, bool(on_valid))
    finally:
        bar.close()
    if not on_valid:
        history.best_round = history.done
    return history


def _keep_what_is_done(history: History, rounds: int, validated: bool) -> None:
    """Forget a round that was interrupted, and say how many the model keeps."""
    history.forget_unfinished()
    kept = history.best_round if validated else history.done
    warn_user(
        f"Fit interrupted after {history.done} of {rounds} rounds: the model keeps {kept}.",
        FitInterrupted,
    )


def _finished(history: History, rounds: int, begin: int, stopping: Stopping | None) -> bool:
    """Say whether there is no round left, or early stopping has run out of patience."""
    return history.done >= rounds or _out_of_patience(history, begin, stopping)


def _out_of_patience(history: History, begin: int, stopping: Stopping | None) -> bool:
    """Say whether too many rounds, from `begin` on, have passed without a new best one."""
    since = history.done - max(history.best_round, begin)
    return stopping is not None and since >= stopping.patience
