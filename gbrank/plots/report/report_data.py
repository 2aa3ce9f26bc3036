"""What a report is about: documents with labels, one model or two, and what queries are worth."""

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
from gbrank.data.documents import Documents
from gbrank.data.ids import as_list, is_missing
from gbrank.data.lookup import by_rank
from gbrank.data.queries import Queries
from gbrank.data.schema import Features, Schema, checked_frame, checked_matrix, column_names
from gbrank.evaluation.statistics import Both, Comparisons, common_queries, compared
from gbrank.fit.best_feature import SingleFeature

MOST_GROUPS = 10


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
    features: Features  # what it sees
    labels: Vector
    queries: Queries
    models: Sequence[ReportedRanker]
    values: dict[str, Matrix]  # by measure; NaN where it has no value
    summaries: dict[str, str]  # of the measures
    documents: (
        Sequence[Any] | NDArray[Any]
    )  # what they are called: their values in a column, or their rows
    column: str
    rows: Documents  # with the labels of people and of the judge, where there are both
    both: dict[str, Both]  # by measure
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
    def found(self) -> dict[str, Comparisons]:
        """The means of each measure, and tests of the difference from the second model."""
        return {
            measure: compared([self.both.get(measure, common_queries(values))])
            for measure, values in self.values.items()
        }

    def n_counted(self, measure: str) -> int:
        """Return how many queries have a value, by people where a judge has judged, too."""
        both = self.both.get(measure)
        return common_queries(self.values[measure] if both is None else both.people).shape[1]

    @cached_property
    def label_names(self) -> dict[float, str]:
        """What labels are called, in order."""
        found = np.unique(self.labels).tolist()
        return dict(zip(found, number_names(found), strict=True))

    @cached_property
    def n_relevant(self) -> NDArray[np.int64]:
        """How many documents of each query have a label above 0."""
        relevant = self.queries.index[self.labels > 0]
        return np.bincount(relevant, minlength=self.queries.n_queries)

    def ranked(self, query: int, model: ReportedRanker) -> Positions:
        """Return the rows of a query in the order of a model."""
        rows = self.queries.rows(query)
        return by_rank(rows, model.scores[rows])


def column_of(X: Any, name: str, argument: str) -> NDArray[Any]:
    """Return a column of X by its name (see `Schema.feature_names`), None for missing."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} must name columns of X by text, got {quoted(name)}.")
    frame = checked_frame(X)
    if frame is None:
        matrix = checked_matrix(X)
        names = Schema.learn(X).feature_names
    else:
        names = column_names(frame)
    if name not in names:
        raise unknown_name(f"column ({argument})", name, names)
    place = names.index(name)
    if frame is not None:
        values = frame[:, place].to_list()
    else:
        column = matrix[:, [place]]
        values = as_list((column.toarray() if hasattr(column, "toarray") else column).ravel())
    known = (None if is_missing(value) else value for value in values)
    return np.fromiter(known, object, len(values))


def groups(values: Sequence[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of groups of values, and the group of each; None is missing.

    Numbers are in order of size, and in few ranges if many differ; texts in order of frequency.
    """
    counts = Counter(value for value in values if value is not None)
    numeric = all(type(value) in (int, float) for value in counts)
    if numeric and len(counts) > MOST_GROUPS:
        names, code_of = _ranges(counts)
    else:
        order = sorted(counts) if numeric else [value for value, _ in counts.most_common()]
        rare = order[MOST_GROUPS:] if len(order) > MOST_GROUPS + 1 else []
        kept = order[: len(order) - len(rare)]
        alike = Counter([*map(str, kept), "missing"])  # 1 and "1" are two groups
        names = [repr(value) if alike[str(value)] > 1 else str(value) for value in kept]
        names = number_names(kept) if numeric else names
        code_of = {value: code for code, value in enumerate(kept)} | dict.fromkeys(rare, len(kept))
        names += [f"{len(rare):,} others"] if rare else []
    if None in values:
        code_of[None] = len(names)
        names.append("missing")
    return names, np.array([code_of[value] for value in values])


def _ranges(counts: Counter[Any]) -> tuple[list[str], dict[Any, int]]:
    """Return the names of ranges of numbers, and the range of each: 0 apart, quarters of others."""
    values = sorted(counts)
    known = np.array(values, np.float64)
    others = np.array([value for value in counts.elements() if value])
    ends = np.unique(np.quantile(others, [0.25, 0.5, 0.75, 1.0], method="lower"))
    if 0 in counts:
        below = known[known < 0]
        ends = np.unique([*ends, *below[-1:], 0.0])
    codes = np.searchsorted(ends, known)
    first, last = (np.searchsorted(codes, range(len(ends)), side) for side in ("left", "right"))
    called = number_names([values[place] for place in [*first, *(last - 1)]])
    pairs = zip(called[: len(ends)], called[len(ends) :], strict=True)
    names = [" to ".join(dict.fromkeys(pair)) for pair in pairs]
    return names, dict(zip(values, codes.tolist(), strict=True))
