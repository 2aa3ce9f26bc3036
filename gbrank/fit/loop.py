"""The boosting loop: rounds, evaluation, early stopping, progress; the same for every booster."""

import math
from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np

from gbrank.boosters.bins import block_keys
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.gradient_watch import RoundGradients
from gbrank.boosters.interface import Steps
from gbrank.common.argument_error import found_in
from gbrank.common.arrays import Vector
from gbrank.common.checks import listed
from gbrank.common.collective import all_gather, all_sum, n_workers
from gbrank.common.interrupts import interrupts_held
from gbrank.common.progress import Bar
from gbrank.common.warnings import warn_user
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys, row_keys, sampled, split_mix
from gbrank.data.schema import Schema
from gbrank.fit.rounds import Callback, EvalsResult, Round, Stopping, call_all
from gbrank.measures.measure import Measure, bind_to_rows

T = TypeVar("T")
Results: TypeAlias = dict[str, dict[str, list[float]]]  # values by set and measure, one a round


class FitInterrupted(UserWarning):
    """Ctrl-C ended a fit; the model keeps the rounds that were done."""


NUMBERS = 2**18  # of the sampled queries, in which equal rows are sought
MANY = 0.1  # share of equal rows of which fits warn

_is_part: ContextVar[bool] = ContextVar("_is_part", default=False)


def as_part(fit: Callable[[], T]) -> T:
    """Call what fits a part of more: Ctrl-C then keeps no rounds, and ends all of it."""

    def fit_part() -> T:
        _is_part.set(True)
        return fit()

    return copy_context().run(fit_part)  # no Ctrl-C comes too early to set it back


def is_part() -> bool:
    """Say whether this fit is a part of more."""
    return _is_part.get()


def kept(finish: Callable[..., T], *arguments: Any) -> T:
    """Call what comes after the rounds of a fit; again after a Ctrl-C; a second ends it."""
    try:
        return finish(*arguments)
    except KeyboardInterrupt:
        if is_part():
            raise
        warn_user("Fit interrupted after its rounds: the model keeps them.", FitInterrupted)
        return finish(*arguments)


class Evaluation:
    """Measures bound to one set of rows."""

    held_out = False  # whether the rows are others than those of training

    def __init__(
        self, name: str, rows: Rows, schema: Schema, measures: list[Measure], n_jobs: int | None
    ) -> None:
        self.name = name
        # Rows have no names of columns.
        placed = (measure.with_positions(schema) for measure in measures)
        self._measures = [bind_to_rows(measure, rows, n_jobs) for measure in placed]
        with found_in("" if name == "train" else f"{name}: "):
            self.values(np.zeros(len(rows.y)))  # an undefined measure fails before training

    def values(self, scores: Vector) -> dict[str, float]:
        """Return the mean of each measure."""
        return {str(item.measure): item.mean(scores) for item in self._measures}


def evaluations(
    measures: list[Measure],
    rows: Rows,
    valid: Sequence[Rows],
    schema: Schema,
    n_jobs: int | None,
    *,
    training: bool,
) -> tuple[Evaluation | None, list[Evaluation]]:
    """Bind measures to the training rows, if asked to, and to each validation set."""
    for i, part in enumerate(valid):
        for measure in measures:
            if measure.label in rows.labels and measure.label not in part.labels:
                raise ValueError(
                    f"eval_labels must have {measure.label!r} for eval_set[{i}], which measure "
                    f"{measure} is of, got {listed(part.labels)}."
                )
    on_train = Evaluation("train", rows, schema, measures, n_jobs) if training else None
    on_valid = [
        Evaluation(f"valid_{i}", part, schema, measures, n_jobs) for i, part in enumerate(valid)
    ]
    for part, each in zip(valid, on_valid, strict=True):
        each.held_out = not same_data(rows, part)
    return on_train, on_valid


def same_data(a: Rows, b: Rows) -> bool:
    """Say whether two sets have the same documents, labels and sizes of queries, in any order."""
    sizes = [(len(part.y), part.queries.n_queries) for part in (a, b)]
    if len({*map(tuple, all_sum(np.array(sizes)).tolist())}) == 2:
        return False
    sums = []
    for part in (a, b):
        of_query = np.column_stack([part.y, part.queries.sizes[part.queries.index]])
        keys = split_mix(block_keys(part.X) + row_keys(of_query), 0)
        sums.append(sum(all_gather(int(keys.sum()))) % 2**64)
    return sums[0] == sums[1]


def warn_of_equal_rows(rows: Rows) -> None:
    """Warn where many rows equal another one of their query, by a sample of the queries."""
    if is_part() or n_workers() > 1:
        return
    queries = rows.queries
    fraction = min(1.0, NUMBERS / max(1, np.prod(rows.X.shape)))
    places = queries.subset(sampled(query_keys(queries.ids), fraction, 0, 0))[1]
    keys = split_mix(block_keys(rows.X[places]), queries.index[places])
    equal = 1 - len(np.unique(keys)) / len(keys)
    if equal >= MANY:
        warn_user(
            f"{equal:.0%} of the rows equal another row of their query in all features: if these "
            "are documents that are there twice, which then count twice, drop the duplicates."
        )


def decided_by(
    on_valid: Sequence[Evaluation], stopping: Stopping | None
) -> tuple[int, Stopping | None]:
    """Return the place of the first set that is not the training data, by which a fit stops."""
    places = [place for place, each in enumerate(on_valid) if each.held_out]
    if not places and stopping is not None:
        if on_valid:
            warn_user(
                "eval_set holds the training data alone, by which no fit stops or chooses a round: "
                "the model has all of them. Pass other queries for early stopping."
            )
        stopping = None
    return next(iter(places), 0), stopping


@dataclass
class History:
    """What happened in the rounds of a fit."""

    results: Results = field(default_factory=dict)
    best_round: int = 0  # how many rounds to keep; at the end of a fit without validation data, all
    best_value: float = math.nan  # the first measure after them; NaN without validation data
    done: int = 0  # how many rounds have been trained
    start_ended: int = 0  # the round in which early stopping ended the start; 0 if not
    ended: bool = False  # whether a callback ended the fit

    def record(self, name: str, values: dict[str, float]) -> dict[str, str]:
        """Append the values of one set after a round; return the first for the progress bar."""
        for measure, value in values.items():
            self.results.setdefault(name, {}).setdefault(measure, []).append(value)
        measure, value = next(iter(values.items()))
        return {f"{name} {measure}": f"{value:.4f}"}

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


@dataclass
class Loop:
    """The rounds of a fit, one after another."""

    trainer: Steps
    step: Callable[[int], None]  # trains a round
    rounds: int
    on_train: Evaluation | None = None
    on_valid: Sequence[Evaluation] = ()
    judge: int = 0  # the place of the validation set that decides
    stopping: Stopping | None = None
    sigmas: dict[int, float] = field(default_factory=dict)  # by round, to be shown
    hook: GradientHook | None = None
    callbacks: Sequence[Callback] = ()
    history: History = field(default_factory=History)
    gradients: RoundGradients | None = None  # of the last round, for callbacks
    keep: Callable[[History, bool], None] | None = None  # writes a checkpoint
    progress: bool = False  # whether to show it

    def run(self) -> History:
        """Boost until the last round, a callback or Ctrl-C, or until validation stops improving.

        If validation stops improving in the start stage of `hook`, its objective itself begins.
        """
        history, hook = self.history, self.hook
        if hook is not None and self.callbacks:
            hook.watch = partial(setattr, self, "gradients")
        if hook is not None and history.start_ended:
            self.rounds = hook.end_start(history.start_ended)
        bar = Bar(total=self.rounds, initial=history.done, disable=not self.progress, unit="round")
        if self.keep is not None:
            self.keep(history, True)
        try:
            if history.done:  # of a checkpoint: a callback may end the fit there again
                history.ended = call_all(self.callbacks, self._last_round())
            while not self._finished:
                shown = self._one_round()
                if hook is not None and history.done < hook.begin and self._out_of_patience(0):
                    history.start_ended = history.done
                    bar.total = self.rounds = hook.end_start(history.done)
                bar.set_postfix(shown, refresh=False)
                bar.update()
                history.ended = call_all(self.callbacks, self._last_round())
                if self.keep is not None:
                    self.keep(history, self._finished)
        except KeyboardInterrupt:
            if history.done == 0 or is_part():
                raise
            self._keep_what_is_done()
        finally:
            bar.close()
        if not self.on_valid:
            history.best_round = history.done
        return history

    def _one_round(self) -> dict[str, str]:
        """Grow a tree, measure each set, and note the best round; return what the bar shows."""
        history, round = self.history, self.history.done
        self.step(round)
        shown = {"sigma": f"{self.sigmas[round]:.3g}"}
        if self.on_train is not None:
            values = self.on_train.values(self.trainer.train_scores())
            shown |= history.record(self.on_train.name, values)
        scores = self.trainer.valid_scores() if self.on_valid else []
        for evaluation, current in zip(self.on_valid, scores, strict=True):
            shown |= history.record(evaluation.name, evaluation.values(current))
        with interrupts_held():
            history.done += 1
            if self.on_valid:
                self._update_best(self.on_valid[self.judge].name)
        return shown

    def _update_best(self, name: str) -> None:
        """Note the round to keep: the best one or, without early stopping, the last one."""
        history, stopping, best = self.history, self.stopping, self.history.best_round
        curve = next(iter(history.results[name].values()))
        if (
            stopping is None
            or best == 0
            or stopping.mean(curve, history.done) > stopping.mean(curve, best)
        ):
            history.best_round, history.best_value = history.done, curve[-1]

    def _last_round(self) -> Round:
        """Return what callbacks are told of the round that has just ended."""
        history, round = self.history, self.history.done - 1
        best = history.best_round if self.on_valid else history.done
        sigma, results = self.sigmas[round], history.results
        return Round(round, self.rounds, sigma, results, best, self.gradients)

    def _keep_what_is_done(self) -> None:
        """Forget a round that was interrupted, and say how many the model keeps."""
        history = self.history
        history.forget_unfinished()
        kept = history.best_round if self.on_valid else history.done
        warn_user(
            f"Fit interrupted after {history.done} of {self.rounds} rounds: "
            f"the model keeps {kept}.",
            FitInterrupted,
        )

    @property
    def _finished(self) -> bool:
        """Whether a callback ended the fit, no round is left, or early stopping lost patience."""
        begin = 0 if self.hook is None else self.hook.begin
        over = self.history.ended or self.history.done >= self.rounds
        return over or self._out_of_patience(begin)

    def _out_of_patience(self, begin: int) -> bool:
        """Say whether too many rounds, from `begin` on, have passed without a new best one."""
        if self.stopping is None or not self.on_valid:
            return False
        return self.history.done - max(self.history.best_round, begin) >= self.stopping.patience
