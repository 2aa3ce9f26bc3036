"""The trade-off between two goals: rankers from one end to the other, fitted in one call."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.arrays import Positions
from gbrank.common.checks import check_number, check_vector, quoted
from gbrank.common.table import Table, Tabular
from gbrank.data.checking import set_aside
from gbrank.data.queries import Queries
from gbrank.evaluation.cross_validation import check_measures
from gbrank.evaluation.dataset import Dataset, Folds
from gbrank.evaluation.runner import run_tasks
from gbrank.evaluation.statistics import common_queries, means
from gbrank.evaluation.trial import Outcome, Task, Trial
from gbrank.fit.arguments import Ids
from gbrank.fit.constraints import Constraint
from gbrank.fit.estimator import check_seed
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import Metric, get_measure
from gbrank.objectives.objective import Mixture, terms_of
from gbrank.objectives.objective_registry import get_objective
from gbrank.ranker import GBRanker

LEVELS = (0.8, 0.9, 0.95, 0.98)
FIRST, SECOND = "first goal alone", "second goal alone"


@dataclass(frozen=True, eq=False)
class Point:
    """One ranker of a trade-off.

    Parameters
    ----------
    name : str
        How it was trained: "first goal alone", "0.9 of best", "weight 0.5", "second goal alone".
    ranker : GBRanker
        The fitted ranker.
    means : tuple of float
        Both measures on the queries that were set aside.
    intervals : tuple of (float, float)
        Their 95% bootstrap intervals.
    """

    name: str
    ranker: GBRanker
    means: tuple[float, float]
    intervals: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Front(Tabular):
    """Rankers between two goals; made by `pareto`.

    ``front["0.9 of best"]`` is the fitted ranker of that name.

    Parameters
    ----------
    measures : tuple of str
        Both goals.
    points : list of Point
        By rising second goal.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, pareto
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> goal = {"measure": "ndcg@10[margin]", "labels": {"margin": abs(X[:, 0])}}
    >>> ranker = GBRanker(n_estimators=10, random_state=0)
    >>> front = pareto(ranker, X, y, qid=qid, **goal, weights=[1.0], n_jobs=1, progress=False)
    >>> front.best(at_least=0.0) is front[max(front.points, key=lambda p: p.means[0]).name]
    True
    """

    measures: tuple[str, str]
    points: list[Point]

    def __getitem__(self, name: str) -> GBRanker:
        """Return the fitted ranker of a point."""
        for point in self.points:
            if point.name == name:
                return point.ranker
        raise KeyError(f"{name!r}; there are {[point.name for point in self.points]}")

    def best(self, at_least: float) -> GBRanker:
        """Return the ranker that is best by the first goal where the second is large enough.

        Parameters
        ----------
        at_least : float
            The smallest value of the second goal, on the queries that were set aside.

        Returns
        -------
        GBRanker

        Raises
        ------
        ValueError
            If no point reaches that.
        """
        check_number(at_least, "at_least")
        reaching = [point for point in self.points if point.means[1] >= at_least]
        if not reaching:
            most = max(point.means[1] for point in self.points)
            raise ValueError(f"at_least must be at most {most:.4f}, the largest, got {at_least}.")
        return max(reaching, key=lambda point: point.means[0]).ranker

    def is_efficient(self, point: Point) -> bool:
        """Say whether no other point is better by one goal and as good by the other.

        Parameters
        ----------
        point : Point
            One of `points`.

        Returns
        -------
        bool
        """
        return not any(
            all(a >= b for a, b in zip(other.means, point.means, strict=True))
            and other.means != point.means
            for other in self.points
        )

    def _table(self) -> Table:
        head = [own for name in self.measures for own in (name, f"{name} low", f"{name} high")]
        rows = []
        for point in self.points:
            pairs = zip(point.means, point.intervals, strict=True)
            cells = [own for mean, ends in pairs for own in (mean, *ends)]
            rows.append([point.name, *cells, self.is_efficient(point)])
        return Table(["ranker", *head, "efficient"], rows)


def pareto(
    ranker: GBRanker,
    X: Any,
    y: ArrayLike,
    *,
    qid: Ids,
    measure: Metric,
    levels: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    validation_fraction: float = 0.25,
    folds: Folds | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
    **columns: Any,
) -> Front:
    """Train rankers between two goals, and measure both on queries that are set aside.

    Parameters
    ----------
    ranker : GBRanker
        Not fitted; its objective and its first `eval_metric` are the first goal.
    X, y, qid, **columns
        As for `GBRanker.fit`: labels, weights, categorical_feature and the other columns.
    measure : str or Measure
        The second goal, such as "ndcg@10[margin]".
    levels : sequence of float in ]0, 1], optional
        A ranker is trained for each, under the constraint that the second goal reaches this share
        of its best value; 0.8, 0.9, 0.95 and 0.98 by default.
    weights : sequence of float above 0, optional
        In place of constraints: the weights of the second goal's objective, that of the first
        being 1.
    validation_fraction : float in ]0, 1[
        Share of the queries that is set aside.
    folds : splitter or sequence of (train, test), optional
        In its place, one fold, as for `Dataset`: row numbers, or what a splitter gives first.
    n_jobs : int, optional
        How many are trained at once, in processes; as many as there are processors by default.
    progress : bool
        Whether to show a bar on standard error.

    Returns
    -------
    Front
        Its `points` include the rankers for one goal alone.

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic, pareto
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> goal = {"measure": "ndcg@10[margin]", "labels": {"margin": abs(X[:, 0])}}
    >>> ranker = GBRanker(n_estimators=10, random_state=0)
    >>> front = pareto(ranker, X, y, qid=qid, **goal, levels=[0.9], n_jobs=1, progress=False)
    >>> sorted(point.name for point in front.points)
    ['0.9 of best', 'first goal alone', 'second goal alone']
    >>> front["0.9 of best"].predict(X).shape
    (400,)
    """
    if not isinstance(ranker, GBRanker):
        raise TypeError(f"ranker must be a GBRanker, got {quoted(ranker)}.")
    second = get_measure(measure)
    first, *_ = ranker._measures()
    if str(second) == str(first):
        raise ArgumentError("measure", "must be another one than that of the ranker", str(second))
    rankers = _rankers(ranker, second, levels, weights)
    check_number(validation_fraction, "validation_fraction", 0, 1, open_low=True, open_high=True)
    seed = check_seed(ranker.random_state)
    split = _Split(validation_fraction, seed) if folds is None else folds
    data = Dataset("data", X, y, qid, split, **columns)
    tested = data.rows(data.splits[0].test)
    with found_in("of the queries that are set aside, "):
        check_measures((first, second), tested)
    tasks = [
        Task(Trial(data.name, name, seed, 1), own, data, (first, second), keeps_ranker=True)
        for name, own in rankers.items()
    ]
    points = list(map(_point, run_tasks(tasks, n_jobs, progress)))
    points.sort(key=lambda point: (point.means[1], point.name))
    return Front((str(first), str(second)), points)


@dataclass(frozen=True)
class _Split:
    """Sets queries aside, chosen by a hash of the seed and their id."""

    fraction: float
    seed: int

    def split(self, X: Any, y: Any, qid: ArrayLike) -> Iterator[tuple[Positions, Positions]]:
        """Yield the rows to train on and those that are set aside."""
        queries = Queries.from_qid(qid)
        aside = set_aside(queries, self.fraction, self.seed)[queries.index]
        yield np.flatnonzero(~aside), np.flatnonzero(aside)


def _point(outcome: Outcome) -> Point:
    """Return a ranker with both measures on the queries that were set aside."""
    found = [means([common_queries(values[np.newaxis])]) for values in outcome.test.values.values()]
    first, second = ((own.mean.item(), own.low.item(), own.high.item()) for own in found)
    intervals = first[1:], second[1:]
    return Point(outcome.trial.ranker, outcome.ranker, (first[0], second[0]), intervals)


def _rankers(
    ranker: GBRanker,
    measure: Measure,
    levels: Sequence[float] | None,
    weights: Sequence[float] | None,
) -> dict[str, GBRanker]:
    """Return the rankers to train, by name."""
    if ranker.constraints:
        raise ValueError(f"ranker must have no constraints, got {ranker.constraints!r}.")
    objective = get_objective(ranker.objective)
    raised = Constraint(measure, 1.0, True).objective(objective)
    terms = terms_of(objective)
    by_level, by_weight = _between(levels, weights)
    changes: dict[str, dict[str, Any]] = {FIRST: {}, SECOND: {"objective": raised}}
    for name, level in by_level.items():
        changes[name] = {"constraints": [str(Constraint(measure, level, of_best=True))]}
    for name, weight in by_weight.items():
        both = [*(term for term, _ in terms), raised], [*(own for _, own in terms), weight]
        changes[name] = {"objective": Mixture(*both)}
    return {name: clone(ranker).set_params(**change) for name, change in changes.items()}


def point_names(levels: Sequence[float] | None, weights: Sequence[float] | None) -> list[str]:
    """Return the names of the rankers of a trade-off."""
    by_level, by_weight = _between(levels, weights)
    return [FIRST, SECOND, *by_level, *by_weight]


def _between(
    levels: Sequence[float] | None, weights: Sequence[float] | None
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the levels and weights between both ends, by the names of their rankers."""
    if levels is None and weights is None:
        levels = LEVELS
    elif levels is not None and weights is not None:
        raise ValueError("weights must be None where levels are given, got both.")
    by_level = _named("{:g} of best", levels, "levels", 1.0)
    return by_level, _named("weight {:g}", weights, "weights", math.inf)


def _named(
    form: str, values: Sequence[float] | None, argument: str, high: float
) -> dict[str, float]:
    """Return numbers by their names in a table, which differ."""
    numbers: list[float] = [] if values is None else check_vector(values, argument).tolist()
    for number in numbers:
        check_number(number, argument, 0, high, open_low=True)
    named = {form.format(number): number for number in numbers}
    if len(named) < len(numbers):
        raise ValueError(f"{argument} must differ in their first six digits, got {numbers}.")
    return named
