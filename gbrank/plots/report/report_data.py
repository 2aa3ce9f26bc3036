"""Data of a report: documents with labels, one model or two, and values of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Matrix, Positions, Vector
from gbrank.common.checks import quoted, unknown_name
from gbrank.common.table import number_names
from gbrank.data.documents import Documents, take_rows
from gbrank.data.feature_matrix import Features, as_dense, check_matrix
from gbrank.data.frames import feature_table
from gbrank.data.ids import as_list, is_missing
from gbrank.data.lookup import by_rank
from gbrank.data.schema import Schema
from gbrank.evaluation import statistics
from gbrank.evaluation.statistics import Comparisons, JudgedValues, common_queries
from gbrank.measures.judges import JUDGE, both_values, queries_of_people
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.ranker import GBRanker

MOST_GROUPS = 10
SAMPLE = 500  # documents whose scores are explained, at 3 ms each


class ReportedRanker(NamedTuple):
    """A model, or None where there are scores alone; what it is called, and its scores."""

    name: str
    ranker: Any
    scores: Vector


@dataclass(frozen=True, eq=False)
class ReportData:
    """Documents, and one model or two; their labels are a judge's where people have none."""

    rows: Documents
    schema: Schema  # of the first model's columns
    features: Features  # what it sees
    training: Features | None  # what it saw in training
    models: Sequence[ReportedRanker]
    measures: Sequence[Measure]  # the first decides
    by: dict[str, Sequence[Any]]  # values of columns, one a query
    documents: Sequence[Any] | None  # what they are called, in a column of this name
    column: str

    @property
    def measure(self) -> str:
        """The measure that decides."""
        return str(self.measures[0])

    @cached_property
    def values(self) -> dict[str, Matrix]:
        """By measure, a row for each model and a query a column; NaN where it has no value."""
        values = {}
        for measure in self.measures:
            bound = bind_to_rows(measure, self.rows)
            values[str(measure)] = np.array([bound.per_query(each.scores) for each in self.models])
        return values

    @property
    def main(self) -> Matrix:
        """The values of the measure that decides."""
        return self.values[self.measure]

    @cached_property
    def both(self) -> dict[str, JudgedValues]:
        """The values by people's labels and by a judge's, by measure; none without a judge."""
        both = {}
        for measure in self.measures if JUDGE in self.rows.labels else ():
            pairs = [both_values(measure, self.rows, model.scores) for model in self.models]
            people, judge = np.stack(pairs, axis=1)
            both[str(measure)] = JudgedValues(people, judge, queries_of_people(self.rows))
        return both

    @cached_property
    def compared(self) -> dict[str, Comparisons]:
        """The means of each measure, and tests of the difference from the second model."""
        if self.both:
            return {key: statistics.compared_with_judge(both) for key, both in self.both.items()}
        return {
            key: statistics.compared(common_queries(values)) for key, values in self.values.items()
        }

    def n_counted(self, measure: str) -> int:
        """Return how many queries have a value, by people where a judge has judged, too."""
        values = self.both[measure].people if self.both else self.values[measure]
        return common_queries(values).shape[1]

    def called(self, row: int) -> Any:
        """Return what a document is called; its row where it has no name."""
        return row if self.documents is None else self.documents[row]

    @cached_property
    def label_names(self) -> dict[float, str]:
        """The names of labels, in order."""
        labels = np.unique(self.rows.y).tolist()
        return dict(zip(labels, number_names(labels), strict=True))

    @cached_property
    def n_relevant(self) -> NDArray[np.int64]:
        """How many documents of each query have a label above 0."""
        queries = self.rows.queries
        return np.bincount(queries.index[self.rows.y > 0], minlength=queries.n_queries)

    def ranked(self, query: int, model: ReportedRanker) -> Positions:
        """Return the rows of a query in the order of a model."""
        rows = self.rows.queries.rows(query)
        return by_rank(rows, model.scores[rows])

    @cached_property
    def sample(self) -> NDArray[np.int64]:
        """Documents taken at random, whose scores are explained."""
        n = self.rows.queries.n_documents
        return np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE), replace=False))

    @cached_property
    def moved(self) -> Vector | str:
        """The mean move of a first model's score by each feature, or why it is not known."""
        ranker = self.models[0].ranker
        if not isinstance(ranker, GBRanker):
            return "it has no trees"
        try:
            shares = ranker.explain(take_rows(self.rows.X, self.sample))
        except ValueError as error:  # of an `init` that cannot be explained
            return str(error)
        moved: Vector = np.abs(shares[:, :-1]).mean(axis=0)
        return moved


def column_of(X: Any, name: str, argument: str) -> NDArray[Any]:
    """Return a column of X by its name (see `Schema.feature_names`), None for missing."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} must name columns of X by text, got {quoted(name)}.")
    table = feature_table(X)
    names = Schema.learn(X).feature_names if table is None else table.names
    if name not in names:
        raise unknown_name(f"column ({argument})", name, names)
    place = names.index(name)
    if table is not None:
        values = table.values(place)
    else:
        values = as_list(as_dense(check_matrix(X)[:, [place]]).ravel())
    known = (None if is_missing(value) else value for value in values)
    return np.fromiter(known, object, len(values))


def groups(values: Sequence[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of groups of values, and the group of each; None is missing.

    Numbers are in order of size, and in few ranges if many differ; texts in order of frequency.
    """
    counts = Counter(value for value in values if value is not None)
    numeric = all(type(value) in (int, float) for value in counts)
    if numeric and len(counts) > MOST_GROUPS:
        names, codes = _ranges(counts)
    elif numeric:
        names = number_names(sorted(counts))
        codes = {value: place for place, value in enumerate(sorted(counts))}
    else:
        names, codes = _texts([value for value, _ in counts.most_common()])
    if None in values:
        codes[None] = len(names)
        names.append("missing")
    return names, np.array([codes[value] for value in values])


def _texts(values: list[Any]) -> tuple[list[str], dict[Any, int]]:
    """Return the names of values, and the group of each; those after the first ones are others."""
    shown = values if len(values) <= MOST_GROUPS + 1 else values[:MOST_GROUPS]
    alike = Counter([*map(str, shown), "missing"])  # 1 and "1" are two groups
    names = [repr(value) if alike[str(value)] > 1 else str(value) for value in shown]
    if others := values[len(shown) :]:
        names.append(f"{len(others):,} others")
    return names, {value: min(place, len(shown)) for place, value in enumerate(values)}


def _ranges(counts: Counter[Any]) -> tuple[list[str], dict[Any, int]]:
    """Return the names of ranges of numbers, and the range of each: 0 apart, quarters of others."""
    values = sorted(counts)
    known = np.array(values, np.float64)
    others = np.array([value for value in counts.elements() if value])
    tops = np.quantile(others, [0.25, 0.5, 0.75, 1.0], method="lower")
    if 0 in counts:
        tops = np.append(tops, [0.0, *known[known < 0][-1:]])
    codes = np.searchsorted(np.unique(tops), known)
    edges = [*np.flatnonzero(np.diff(codes, prepend=-1)).tolist(), len(values)]
    ends = [value for first, end in pairwise(edges) for value in (values[first], values[end - 1])]
    called = iter(number_names(ends))
    names = [" to ".join(dict.fromkeys(pair)) for pair in zip(called, called, strict=True)]
    return names, dict(zip(values, codes.tolist(), strict=True))
