"""Measures that users write: a function of one query."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import numpy as np

from gbrank.common.checks import (
    ArgumentError,
    Mask,
    Matrix,
    Vector,
    check_scores,
    check_takes,
    quoted,
    takes_labels_first,
)
from gbrank.common.fields import Choice
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema, feature_columns, find_columns
from gbrank.engine.contract import Program, Terms
from gbrank.engine.driver import Runner

from .measure import TIE_ORDERS, BoundMeasure, Measure


@dataclass(frozen=True, repr=False)
class CustomMeasure(Measure):
    """A measure from a function of one query; made by `custom_measure`.

    Parameters
    ----------
    function : callable
        ``function(scores, labels, *columns) -> float``.
    title : str
        The name that results use.
    columns : tuple of str or int
        The columns of X that the function is given.
    """

    name = "custom"

    function: Callable[..., float]
    title: str
    columns: tuple[str | int, ...] = ()
    _: KW_ONLY
    ties: Literal["pessimistic", "optimistic", "order"] = Choice(
        "pessimistic", [name for name in TIE_ORDERS if name != "average"]
    )

    def __post_init__(self) -> None:
        check_takes(self.function, "a metric", "scores", "labels", *map(str, self.columns))
        super().__post_init__()

    def __str__(self) -> str:
        """Write the name that results use."""
        return self.title + ("" if self.label is None else f"[{self.label}]")

    def _runner(self, terms: Terms, queries: Queries, n_jobs: int | None, X: Any) -> Runner:
        if self.columns and X is None:
            raise ArgumentError(
                "X", f"must be given to {self}, which takes columns {list(self.columns)}"
            )
        n = queries.n_documents
        values = feature_columns(X, self.columns) if self.columns else np.empty((0, n))
        if values.shape[1] != n:
            raise ArgumentError("X", f"must have one row per document, {n}", f"{values.shape[1]}")
        program = Program(self.function, terms.gains, order=TIE_ORDERS[self.ties])
        return FunctionRunner(program, queries, values)

    def _values_of_runs(self, bound: BoundMeasure, scores: Vector, unretrieved: Mask) -> Vector:
        return bound.runner.values(check_scores(scores, len(scores), unretrieved=True))

    def _why_undefined(self, largest: float) -> str:
        return (
            "it returned NaN for each, as a correlation does where all scores are equal. Return a "
            "number, such as 0, for queries that are to count."
        )

    def with_positions(self, schema: Schema) -> "CustomMeasure":
        """Find its columns by position, for features without names."""
        places = find_columns(self.columns, "columns", schema.names, schema.n_features)
        if not set(places).isdisjoint(schema.categorical):
            raise ValueError(f"columns {list(self.columns)} of X must hold numbers.")
        return replace(self, columns=tuple(places))

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Give the labels; the function knows what else the measure needs."""
        return Terms(labels)


class FunctionRunner(Runner):
    """Calls a plain Python function query by query, with the driver's order."""

    def __init__(self, program: Program, queries: Queries, columns: Matrix) -> None:
        super().__init__(program, queries)
        self._labels_first = takes_labels_first(program.kernel)
        self._columns = columns
        if len(columns) and program.order != "input":
            sign = 1 if program.order == "ascending" else -1
            keys = [*columns[::-1], program.key]  # lexsort sorts by the last key first
            self._order = np.lexsort([*(sign * key for key in keys), queries.index])

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Call the function for each query; shape (n_queries,)."""
        return np.array([self._value_of(query, scores) for query in range(self.queries.n_queries)])

    def _value_of(self, query: int, scores: Vector) -> float:
        rows, s, labels = self.best_first(query, scores)
        pair = (labels, s) if self._labels_first else (s, labels)
        returned = self.program.kernel(*pair, *self._columns.take(rows, axis=1))
        with suppress(OverflowError, TypeError, ValueError):
            if not np.isinf(value := float(returned)):
                return value
        name = getattr(self.program.kernel, "__name__", "a custom metric")
        where = self.queries.id_list[query]
        raise ValueError(
            f"{name} must return a finite number, or NaN to leave a query out, got "
            f"{quoted(returned)} for query {where!r}."
        )
