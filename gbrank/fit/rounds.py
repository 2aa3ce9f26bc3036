"""The rounds of a fit: their record, what callbacks receive, and early stopping."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gbrank.boosters.gradient_watch import RoundGradients
from gbrank.boosters.interface import Plan, RoundRecord
from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Vector,
    check_integer,
    check_takes,
    quoted,
    warn_user,
)
from gbrank.common.runtime import import_optional, interrupts_held
from gbrank.common.table import Table, Tabular

from .known_elsewhere import check_no_theirs

if TYPE_CHECKING:
    import pandas as pd

# Chosen on validation queries: benchmarks/results/early_stopping.md.
AUTO = "auto"
SHARE_OF_ROUNDS = 0.25
SUM_OF_RATES = 3.0
SHORT = 2.0  # a patience over which rates sum to less

Values: TypeAlias = Mapping[str, Mapping[str, float]]  # by set and measure
Results: TypeAlias = dict[str, dict[str, list[float]]]  # values by set and measure, one a round

HEAD = ("set", "measure", "first", "best", "in round", "last", "rounds")


@dataclass(frozen=True)
class Round:
    """A round that has ended, for callbacks: ``GBRanker().fit(..., callbacks=[function])``.

    Parameters
    ----------
    number : int
        The round, from 0.
    rounds : int
        How many there will be, if nothing ends them before.
    sigma : float
        The sigma of this round.
    curves : dict of str to dict of str to list of float
        ``curves["valid_0"]["ndcg@10"]`` has the measure after each round so far; "train" is among
        the sets where `verbose` is set.
    best : int
        How many rounds the model would have if the fit ended now.
    gradients : RoundGradients, optional
        The gradients and curvatures of the round (see `gbrank.extend.GradientWatch`); None for
        rankers that are not trees.
    coef : ndarray, shape (n_features,), optional
        The weights of a `LinearRanker` after the round; None for trees.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=5, random_state=0)
    >>> def after_two(round):
    ...     return round.number == 1
    >>> GBRanker("ranknet").fit(X, y, qid=qid, callbacks=[after_two]).best_iteration_
    2
    """

    number: int
    rounds: int
    sigma: float
    curves: Mapping[str, Mapping[str, Sequence[float]]]
    best: int
    gradients: RoundGradients | None = None
    coef: Vector | None = None

    @property
    def values(self) -> Values:
        """The last value of each curve: ``values["valid_0"]["ndcg@10"]``."""
        return {
            name: {measure: curve[self.number] for measure, curve in curves.items()}
            for name, curves in self.curves.items()
        }


Callbacks: TypeAlias = Sequence[Callable[[Round], Any]]


def check_callbacks(callbacks: Callbacks | None) -> Callbacks:
    """Return the callbacks, or say what is wrong with them."""
    if callbacks is None:
        return []
    error = ArgumentTypeError("callbacks", "must be a list of functions", quoted(callbacks))
    if not isinstance(callbacks, Sequence):
        raise error
    for callback in callbacks:
        check_no_theirs(callback)
        if not callable(callback):
            raise error
        check_takes(callback, "a callback", "round")
    return list(callbacks)


def call_all(callbacks: Callbacks, round: Round) -> bool:
    """Call each callback; return whether one of them ends the fit."""
    answers = [callback(round) for callback in callbacks]
    for answer in answers:
        if not isinstance(answer, bool | np.bool_ | None):
            raise ArgumentTypeError(
                "callbacks", "must return True, which ends the fit, or False or None", repr(answer)
            )
    return any(answers)


@dataclass(frozen=True)
class Stopping:
    """When a fit ends early: if the mean of the last `window` values has not risen for a while."""

    patience: int | None = None  # how many rounds that while has; None: no fit ends early
    window: int = 1

    def improved(self, curve: Sequence[float], best: int) -> bool:
        """Return whether the last mean of a curve is above that of its `best` round, from 1."""
        if best == 0:
            return True
        windows = curve[max(0, best - self.window) : best], curve[-self.window :]
        before, last = (math.fsum(values) / len(values) for values in windows)
        return last > before


def check_patience(patience: object, name: str) -> Any:
    """Return what `early_stopping_rounds` is: a number of rounds, "auto" or None."""
    if patience == AUTO:
        return patience
    if isinstance(patience, str):
        raise ArgumentError(
            name, f"must be {AUTO!r}, an integer of at least 1 or None", quoted(patience)
        )
    return check_integer(patience, name, 1, optional=True)


def stopping_of(patience: int | str | None, rounds: int, rate: float) -> Stopping:
    """Return when a fit stops early; warn of a few rounds at a low rate, which say little.

    "auto" has means over w = min(rounds / 4, 3 / rate) rounds.
    """
    if patience is None:
        return Stopping()
    if isinstance(patience, str):
        window = max(1, round(min(SHARE_OF_ROUNDS * rounds, SUM_OF_RATES / rate)))
        return Stopping(patience=(window + 1) // 2, window=window)
    long_enough = math.ceil(min(rounds, SHORT / rate))
    if patience < long_enough:
        warn_user(
            f"early_stopping_rounds={patience} is small for a learning rate of {rate:.3g}: noise "
            f"may end the fit too early. Use {AUTO!r}, or at least {long_enough}."
        )
    return Stopping(int(patience))


@dataclass
class History:
    """The rounds of a fit so far."""

    plan: Plan
    results: Results = field(default_factory=dict)
    sigmas: list[float] = field(default_factory=list)  # one a round
    biases: list[list[float]] = field(default_factory=list)  # of positions, after each round
    best_round: int = 0  # how many rounds to keep: without validation data, all
    ended: bool = False  # whether a callback ended the fit

    @property
    def done(self) -> int:
        """How many rounds have been trained."""
        return len(self.sigmas)

    @interrupts_held()
    def add(self, sigma: float, values: Values, decisive: str, stopping: Stopping) -> None:
        """Add a round that was trained; the decisive set says which round to keep."""
        self.sigmas.append(sigma)
        for name, measures in values.items():
            for measure, value in measures.items():
                self.results.setdefault(name, {}).setdefault(measure, []).append(value)
        if stopping.patience is None or stopping.improved(self._curve(decisive), self.best_round):
            self.best_round = self.done
        self.plan = self.plan.without_patience(self.done, self.best_round, stopping.patience)

    def _curve(self, name: str) -> list[float]:
        """Return the values of the first measure on a set."""
        return next(iter(self.results[name].values()))

    def last_round(self, record: RoundRecord) -> Round:
        """Return what callbacks see of the last round."""
        return Round(
            number=self.done - 1,
            rounds=self.plan.end,
            curves=self.results,
            best=self.best_round,
            **record._asdict(),
        )

    def published(self, decisive: str) -> dict[str, Any]:
        """Return the fields of `FittedRounds`."""
        judged = decisive in self.results
        return {
            "best_iteration": self.best_round,
            "best_score": self._curve(decisive)[self.best_round - 1] if judged else math.nan,
            "evals_result": EvalsResult(self.results),
            "sigmas": np.array(self.sigmas),
        }


class EvalsResult(Results, Tabular):
    """Values by set and measure, one a round: ``evals_result_["valid_0"]["ndcg@10"]``.

    It prints as the dict that it is; notebooks and `to_markdown` show the first, best and last
    value of each set and measure.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
    >>> ranker = GBRanker(n_estimators=3, validation_fraction=0.3, random_state=0)
    >>> result = ranker.fit(X, y, qid=qid).evals_result_
    >>> len(result["valid_0"]["ndcg@10"])
    3
    >>> result.to_pandas().shape
    (3, 1)
    """

    def to_pandas(self) -> "pd.DataFrame":
        """Return one row a round, from 1, and one column for each set and measure.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = import_optional("pandas")
        columns = {
            (name, measure): pandas.Series(curve, index=range(1, len(curve) + 1))
            for name, curves in self.items()
            for measure, curve in curves.items()
        }
        frame: pd.DataFrame = pandas.DataFrame(columns)
        return frame.rename_axis(index="round")

    def _table(self) -> Table:
        rows = []
        for name, curves in self.items():
            for measure, curve in curves.items():
                first, best, last = (f"{value:.4f}" for value in (curve[0], max(curve), curve[-1]))
                best_round = str(1 + int(np.argmax(curve)))
                rows.append((name, measure, first, best, best_round, last, str(len(curve))))
        return Table(HEAD, rows, words=(0, 1))
