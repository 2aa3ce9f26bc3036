"""Measures of rows that have several labels: each is of the label that it names."""

from dataclasses import dataclass, replace

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.data.rows import Chosen, Rows
from gbrank.measures.measure import BoundMeasure, Measure, query_weights


@dataclass(frozen=True, eq=False)
class MeasureOnRows:
    """A measure bound to the documents that have its label; made by `on_rows`."""

    measure: Measure
    bound: BoundMeasure
    weights: Vector | None
    chosen: Chosen
    queries: Chosen
    n_queries: int

    def per_query(self, scores: Vector) -> Vector:
        """Return the measure of each query, NaN where it is skipped, given all scores."""
        values = np.full(self.n_queries, np.nan)
        values[self.queries] = self.bound.per_query(scores[self.chosen])
        return values

    def mean(self, scores: Vector) -> float:
        """Return the mean over queries, given the scores of all rows."""
        return self.bound.mean(scores[self.chosen], self.weights)


def on_rows(measure: Measure, rows: Rows, n_jobs: int | None = None) -> MeasureOnRows:
    """Bind a measure to the documents that have the label that it names."""
    own, chosen, queries = rows.with_label(measure.label, f"measure {measure}")
    plain = measure if measure.label is None else replace(measure, label=None)
    return MeasureOnRows(
        measure,
        plain.bind(own.y, own.queries, n_jobs, own.X),
        query_weights(own.queries, own.sample_weight, own.query_weight),
        chosen,
        queries,
        rows.queries.n_queries,
    )
