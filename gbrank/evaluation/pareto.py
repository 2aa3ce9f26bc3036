"""The trade-off between two goals: rankers from one end to the other, fitted in one call."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from gbrank.common.checks import check_jobs, check_number, check_vector, quoted
from gbrank.common.describe import describe
from gbrank.common.extras import needed
from gbrank.common.progress import Bar
from gbrank.common.table import Table, Tabular
from gbrank.common.threads import usable_threads
from gbrank.data.batches import learn_schema
from gbrank.data.checking import check_rows, select_queries
from gbrank.data.columns import Data
from gbrank.data.rows import take_rows
from gbrank.data.sampling import query_keys, sampled
from gbrank.evaluation.statistics import interval
from gbrank.evaluation.stored_outcomes import code_version
from gbrank.fit.arguments import FitData, Ids, Labels
from gbrank.fit.boosted_ranker import built_in_of
from gbrank.fit.constraints import Constraint
from gbrank.fit.estimator import check_seed, scores_of
from gbrank.fit.loop import part_of_more
from gbrank.fit.storage import DESCRIPTION
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.measures.measure_registry import Metric, get_measure
from gbrank.objectives.objective import Mixture, terms_of
from gbrank.objectives.objective_registry import get_objective
from gbrank.ranker import GBRanker

if TYPE_CHECKING:
    import pandas as pd

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

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each point: both goals with their intervals.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows = []
        for point in self.points:
            row: dict[str, Any] = {"ranker": point.name}
            for name, mean, (low, high) in zip(
                self.measures, point.means, point.intervals, strict=True
            ):
                row |= {name: mean, f"{name} low": low, f"{name} high": high}
            rows.append(row | {"efficient": self.is_efficient(point)})
        frame: pd.DataFrame = needed("pandas").DataFrame(rows)
        return frame

    def _table(self) -> Table:
        rows = []
        for point in self.points:
            cells = [point.name]
            for mean, (low, high) in zip(point.means, point.intervals, strict=True):
                cells += [f"{mean:.4f}", f"{low:.4f} to {high:.4f}"]
            rows.append([*cells, "yes" if self.is_efficient(point) else "no"])
        first, second = self.measures
        head = ["ranker", first, "95% interval", second, "95% interval", "efficient"]
        return Table(head, rows)


def pareto(
    ranker: GBRanker,
    X: Any,
    y: ArrayLike,
    *,
    qid: Ids,
    measure: Metric,
    labels: Labels | None = None,
    levels: Sequence[float] | None = None,
    weights: Sequence[float] | None = None,
    validation_fraction: float = 0.25,
    categorical_feature: Sequence[int | str] | None = None,
    results: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: bool = True,
) -> Front:
    """Train rankers between two goals, and measure both on queries that are set aside.

    Parameters
    ----------
    ranker : GBRanker
        Not fitted; its objective and its first `eval_metric` are the first goal.
    X, y, qid, labels, categorical_feature
        As for `GBRanker.fit`.
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
    results : path, optional
        A folder that keeps each ranker as it is done: a call that was stopped goes on from there.
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
    rankers = _rankers(ranker, second, levels, weights)
    data = FitData(X, y, qid=qid, labels=labels, categorical_feature=categorical_feature)
    train, held_out = _split(data, validation_fraction, check_seed(ranker.random_state))
    paths = dict.fromkeys(rankers) if results is None else _paths(Path(results), rankers, train)
    processes = usable_threads(check_jobs(n_jobs))
    tasks = [joblib.delayed(_fitted)(name, rankers[name], train, paths[name]) for name in rankers]
    parallel = joblib.Parallel(processes, return_as="generator_unordered", batch_size=1)
    points = []
    with Bar(total=len(tasks), disable=not progress, unit="fit") as bar:
        for name, fitted in parallel(tasks):
            points.append(_point(name, fitted, held_out, (first, second)))
            bar.set_postfix_str(name, refresh=False)
            bar.update()
    points.sort(key=lambda point: (point.means[1], point.name))
    return Front((str(first), str(second)), points)


def _rankers(
    ranker: GBRanker,
    measure: Measure,
    levels: Sequence[float] | None,
    weights: Sequence[float] | None,
) -> dict[str, GBRanker]:
    """Return the rankers to train, by name."""
    if ranker.constraints:
        raise ValueError(f"ranker must have no constraints, got {ranker.constraints!r}.")
    if built_in_of(ranker) is not None:
        raise ValueError(
            "ranker must have an objective of gbrank, such as 'lambdarank', to be mixed with "
            f"another, got objective={ranker.objective!r}."
        )
    objective = get_objective(ranker.objective)
    raised = Constraint(measure, 1.0, True).objective(objective)
    terms = terms_of(objective)
    changes: list[dict[str, Any]] = [{}, {"objective": raised}]
    names = point_names(levels, weights)
    levels, weights = _between(levels, weights)
    for level in levels:
        changes.append({"constraints": [str(Constraint(measure, level, of_best=True))]})
    for weight in weights:
        both = [*(term for term, _ in terms), raised], [*(own for _, own in terms), weight]
        changes.append({"objective": Mixture(*both)})
    made = (clone(ranker).set_params(**change) for change in changes)
    return dict(zip(names, made, strict=True))


def _between(
    levels: Sequence[float] | None, weights: Sequence[float] | None
) -> tuple[list[float], list[float]]:
    """Return the levels and weights between both ends, checked."""
    if levels is None and weights is None:
        levels = LEVELS
    elif levels is not None and weights is not None:
        raise ValueError("weights must be None where levels are given, got both.")
    return _numbers(levels, "levels", 1.0), _numbers(weights, "weights", math.inf)


def _numbers(values: Sequence[float] | None, name: str, high: float) -> list[float]:
    """Return numbers whose names in a table differ."""
    numbers: list[float] = [] if values is None else check_vector(values, name).tolist()
    for number in numbers:
        check_number(number, name, 0, high, open_low=True)
    if len({f"{number:g}" for number in numbers}) < len(numbers):
        raise ValueError(f"{name} must differ in their first six digits, got {numbers}.")
    return numbers


def point_names(levels: Sequence[float] | None, weights: Sequence[float] | None) -> list[str]:
    """Return the names of the rankers of a trade-off."""
    levels, weights = _between(levels, weights)
    by_level = [f"{level:g} of best" for level in levels]
    return [FIRST, SECOND, *by_level, *(f"weight {weight:g}" for weight in weights)]


def _split(data: FitData, fraction: float, seed: int) -> tuple[Data, Data]:
    """Return the documents to train on, and those that are set aside: whole queries."""
    check_number(fraction, "validation_fraction", 0, 1, open_low=True)
    table, columns = data.training["X"], data.categorical_feature
    rows, _ = data.checked(learn_schema(table, columns))
    queries = rows.queries
    held_out = sampled(query_keys(queries.ids), fraction, seed, 0)
    if held_out.all() or not held_out.any():
        raise ValueError(
            "validation_fraction must leave queries on both sides, got "
            f"{fraction} of {queries.n_queries} queries."
        )
    train, tested = (
        part.as_given(take_rows(table, chosen))
        for part, chosen in (select_queries(rows, kept) for kept in (~held_out, held_out))
    )
    return {**train, "categorical_feature": columns}, tested


def _paths(folder: Path, rankers: Mapping[str, GBRanker], data: Data) -> dict[str, Path]:
    """Return the folder of each ranker; its name holds a hash of all that it depends on."""
    folder.mkdir(parents=True, exist_ok=True)
    content = joblib.hash(data)
    return {
        name: folder / joblib.hash(describe([ranker, content, code_version()]))
        for name, ranker in rankers.items()
    }


def _fitted(name: str, ranker: GBRanker, data: Data, path: Path | None) -> tuple[str, GBRanker]:
    """Train a ranker, or read it where that was done before."""
    if path is not None and (path / DESCRIPTION).exists():
        return name, GBRanker.load(path)
    with part_of_more():
        ranker.fit(**data)
    if path is not None:
        ranker.save(path)
    return name, ranker


def _point(name: str, ranker: GBRanker, data: Data, measures: tuple[Measure, Measure]) -> Point:
    """Measure a ranker on the queries that were set aside."""
    rows = check_rows(ranker._schema, data)
    scores = scores_of(ranker, data["X"], data["qid"])
    means, intervals = [], []
    for measure in measures:
        bound = bind_to_rows(measure.with_positions(ranker._schema), rows)
        try:
            means.append(bound.mean(scores))
        except ValueError as error:
            raise ValueError(f"of the queries that are set aside, {error}") from None
        values = bound.per_query(scores)
        low, high = interval([values[np.newaxis, ~np.isnan(values)]])
        intervals.append((float(low[0]), float(high[0])))
    return Point(name, ranker, (means[0], means[1]), (intervals[0], intervals[1]))
