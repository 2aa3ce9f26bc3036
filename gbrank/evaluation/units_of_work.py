"""One unit of work of a comparison: one ranker, trained on one fold from one seed, and judged."""

import signal
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from lightgbm.basic import LightGBMError
from numpy.typing import NDArray
from sklearn.base import clone

from gbrank.data.queries import Queries
from gbrank.evaluation.folds import Dataset, Fold
from gbrank.evaluation.reliability import calibration_error
from gbrank.fit.loop import FitInterrupted
from gbrank.measures.measure import Measure

__all__ = ["PARTS", "Outcome", "Scores", "Unit", "Work", "configured", "run", "run_in_worker"]

Vector = NDArray[np.float64]

PARTS = ("valid", "test")  # of a fold, in which rankers are judged


@dataclass(frozen=True)
class Unit:
    """Which fit it is.

    Parameters
    ----------
    data, ranker : str
        Their names.
    seed : int
    fold : int
        Counted from 1.
    """

    data: str
    ranker: str
    seed: int
    fold: int

    def __str__(self) -> str:
        return f"{self.ranker} on {self.data}, seed {self.seed}, fold {self.fold}"


@dataclass(frozen=True, eq=False)
class Scores:
    """What the rankings of some queries are worth.

    Parameters
    ----------
    queries : list of str
        The ids of the queries.
    values : dict of str to ndarray, shape (n_queries,)
        By measure; NaN where a query is skipped.
    calibration_error : float, optional
        The `expected_calibration_error` of the documents, where the ranker gives probabilities
        (`calibration_`), of labels as shares of the data set's largest.
    """

    queries: list[str]
    values: dict[str, Vector]
    calibration_error: float | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out of a unit.

    Parameters
    ----------
    unit : Unit
    valid, test : Scores
    rounds : int, optional
        How many rounds the model has, where the ranker says so (`best_iteration_`).
    seconds : float
        How long the fit took.
    """

    unit: Unit
    valid: Scores
    test: Scores
    rounds: int | None
    seconds: float


@dataclass(frozen=True, eq=False)
class Work:
    """All that a unit needs.

    Parameters
    ----------
    unit : Unit
    ranker : estimator
        Unfitted, with the unit's seed.
    data : Dataset
    measures : sequence of Measure
    """

    unit: Unit
    ranker: Any
    data: Dataset
    measures: Sequence[Measure]

    @property
    def fold(self) -> Fold:
        """The rows of the fold."""
        return self.data.splits[self.unit.fold - 1]

    def queries(self, part: str) -> list[str]:
        """Return the ids of the queries of a part of the fold, as they first appear.

        Parameters
        ----------
        part : {"train", "valid", "test"}

        Returns
        -------
        list of str
        """
        queries = self.data.queries
        numbers = dict.fromkeys(queries.index[getattr(self.fold, part)].tolist())
        return [str(query) for query in queries.ids[list(numbers)].tolist()]


def configured(ranker: Any, seed: int) -> Any:
    """Return an unfitted copy of a ranker with this seed, that uses one thread.

    Parameters
    ----------
    ranker : estimator
    seed : int

    Returns
    -------
    estimator

    Examples
    --------
    >>> from gbrank import GBRanker
    >>> configured(GBRanker(), 3).random_state
    3
    """
    copy = clone(ranker)
    for name in copy.get_params(deep=True):
        own = name.rpartition("__")[2]
        if own == "random_state":
            copy.set_params(**{name: seed})
        elif own == "n_jobs":
            copy.set_params(**{name: 1})
    return copy


def run(work: Work) -> Outcome:
    """Train a ranker and judge it on the validation and on the test queries.

    Parameters
    ----------
    work : Work

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If the ranker refuses the data; the message says which unit it was.
    KeyboardInterrupt
        If Ctrl-C ended the fit, even where the ranker kept the rounds that were done.
    """
    (X, y, qid), (Xv, yv, qv), (Xt, yt, qt) = work.data.fold(work.unit.fold)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FitInterrupted)
            ranker = work.ranker.fit(X, y, qid=qid, eval_set=[(Xv, yv)], eval_qid=[qv])
    except FitInterrupted:
        raise KeyboardInterrupt from None
    except (ValueError, TypeError, LightGBMError) as error:
        raise ValueError(f"{work.unit}: {error}") from error
    seconds = time.perf_counter() - start
    return Outcome(
        work.unit,
        _judge(work, "valid", yv, ranker, Xv, qv),
        _judge(work, "test", yt, ranker, Xt, qt),
        getattr(ranker, "best_iteration_", None),
        seconds,
    )


def run_in_worker(work: Work) -> Outcome:
    """Do `run` in a process that leaves Ctrl-C to its parent.

    Parameters
    ----------
    work : Work

    Returns
    -------
    Outcome
    """
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return run(work)
    finally:
        signal.signal(signal.SIGINT, previous)


def _judge(work: Work, part: str, y: Vector, ranker: Any, X: Any, qid: NDArray[Any]) -> Scores:
    scores = ranker.predict(X)
    queries = Queries.from_qid(qid)
    values = {
        str(measure): measure.bind(y, queries, n_jobs=1).per_query(scores)
        for measure in work.measures
    }
    largest = float(np.max(work.data.y)) or 1.0
    error = calibration_error(getattr(ranker, "calibration_", None), y, scores, largest)
    return Scores(work.queries(part), values, error)
