"""Data of a report: documents with labels, one model or two, and values of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
from gbrank.evaluation.statistics import (
    Comparisons,
    JudgedValues,
    common_queries,
    compared,
    compared_with_judge,
)
from gbrank.fit.best_feature import SingleFeature
from gbrank.ranker import GBRanker

MOST_GROUPS = 10
ROW = "row"  # where documents have no names
SAMPLE = 500  # documents whose scores are explained, at 3 ms each


@dataclass(frozen=True, eq=False)
class ReportedRanker:
    """A model, or None where there are scores alone; what it is called, and its scores."""

    name: str
    ranker: Any
    scores: Vector


@dataclass(frozen=True, eq=False)
class ReportData:
    """Documents, and one model or two; `values` has a row for each model and a query a column.

    Where a judge has judged beside people, labels and `values` are people's where there are any,
    else the judge's, and `both` has the values by either.
    """

    X: Any
    schema: Schema  # of the first model's columns
    rows: Documents  # what it sees, labels and queries; where there are both, labels of either
    training: Features | None  # what it saw in training
    models: Sequence[ReportedRanker]
    values: dict[str, Matrix]  # by measure; NaN where it has no value
    both: dict[str, JudgedValues]  # by measure
    summaries: dict[str, str]  # of the measures
    by: dict[str, Sequence[Any]]  # values of columns, one a query
    documents: Sequence[Any]  # what they are called: their values in a column, or their rows
    column: str
    best: SingleFeature | None  # of the first model's columns, by the measure that decides

    @property
    def measure(self) -> str:
        """The measure that decides: the first one."""
        return next(iter(self.values))

    @property
    def main(self) -> Matrix:
        """The values of the measure that decides."""
        return self.values[self.measure]

    @cached_property
    def compared(self) -> dict[str, Comparisons]:
        """The means of each measure, and tests of the difference from the second model."""
        return {
            measure: compared_with_judge(self.both[measure])
            if measure in self.both
            else compared(common_queries(values))
            for measure, values in self.values.items()
        }

    def n_counted(self, measure: str) -> int:
        """Return how many queries have a value, by people where a judge has judged, too."""
        both = self.both.get(measure)
        return common_queries(self.values[measure] if both is None else both.people).shape[1]

    @cached_property
    def label_names(self) -> dict[float, str]:
        """The names of labels, in order."""
        labels = np.unique(self.rows.y).tolist()
        return dict(zip(labels, number_names(labels), strict=True))

    @cached_property
    def n_relevant(self) -> NDArray[np.int64]:
        """The number of documents of each query with a label above 0."""
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
        if n <= SAMPLE:
            return np.arange(n)
        return np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))

    @cached_property
    def moved(self) -> Vector | str:
        """The mean move of a first model's score by each feature, or why it is not known."""
        ranker = self.models[0].ranker
        if not isinstance(ranker, GBRanker):
            return "it has no trees"
        try:
            shares = ranker.explain(take_rows(self.X, self.sample))
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
    else:
        order = sorted(counts) if numeric else [value for value, _ in counts.most_common()]
        n_shown = MOST_GROUPS if len(order) > MOST_GROUPS + 1 else len(order)
        shown = order[:n_shown]
        alike = Counter([*map(str, shown), "missing"])  # 1 and "1" are two groups
        names = [repr(value) if alike[str(value)] > 1 else str(value) for value in shown]
        names = number_names(shown) if numeric else names
        codes = {value: min(place, n_shown) for place, value in enumerate(order)}
        names += [f"{len(order) - n_shown:,} others"] if len(order) > n_shown else []
    if None in values:
        codes[None] = len(names)
        names.append("missing")
    return names, np.array([codes[value] for value in values])


def _ranges(counts: Counter[Any]) -> tuple[list[str], dict[Any, int]]:
    """Return the names of ranges of numbers, and the range of each: 0 apart, quarters of others."""
    values = sorted(counts)
    known = np.array(values, np.float64)
    others = np.array([value for value in counts.elements() if value])
    ends = np.quantile(others, [0.25, 0.5, 0.75, 1.0], method="lower")
    if 0 in counts:
        ends = np.append(ends, [0.0, *known[known < 0][-1:]])
    codes = np.searchsorted(np.unique(ends), known)
    names = []
    for code in np.unique(codes):
        in_range = [values[place] for place in np.flatnonzero(codes == code)]
        names.append([in_range[0], in_range[-1]])
    called = iter(number_names([end for pair in names for end in pair]))
    texts = [" to ".join(dict.fromkeys(pair)) for pair in zip(called, called, strict=True)]
    return texts, dict(zip(values, codes.tolist(), strict=True))
