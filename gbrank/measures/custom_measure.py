"""Measures that users write: a function of one query."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from gbrank.common.checks import check_choice
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Runner
from gbrank.kernels.program import Program
from gbrank.measures.measure import TIE_ORDERS, Measure, Terms

__all__ = ["CustomMeasure"]


@dataclass(frozen=True, repr=False)
class CustomMeasure(Measure):
    """A measure from a function of one query; made by `custom_measure`.

    Parameters
    ----------
    function : callable
        ``function(scores, labels) -> float``.
    label : str
        The name that results use.
    """

    name: ClassVar[str] = "custom"

    function: Callable[[Vector, Vector], float]
    label: str
    ties: Literal["pessimistic", "optimistic", "order"] = field(default="pessimistic", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}.")
        check_choice(self.ties, "ties", [name for name in TIE_ORDERS if name != "average"])
        super().__post_init__()

    def __str__(self) -> str:
        """Return the name that results use."""
        return self.label

    def __repr__(self) -> str:
        """Say which function it is."""
        return f"custom_measure({getattr(self.function, '__name__', self.function)})"

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return the labels: what else the measure needs, the function knows."""
        return Terms(x=labels, defined=np.ones(queries.n_queries, dtype=bool))

    def runner(self, terms: Terms, queries: Queries, n_jobs: int | None) -> Runner:
        """Return what calls the function for each query."""
        program = Program(kernel=self.function, labels=terms.x, order=TIE_ORDERS[self.ties])
        return FunctionRunner(program, queries, n_jobs)


class FunctionRunner(Runner):
    """Calls a plain Python function query by query, with the driver's order."""

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the function's value of each query, shape (n_queries,)."""
        return np.array([self._one(query, scores) for query in range(self.queries.n_queries)])

    def _one(self, query: int, scores: Vector) -> float:
        rows, labels = self.documents_of(query)
        ranking = np.argsort(-scores[rows], kind="stable")
        # Copies, so that the function may change its arguments.
        returned = self.program.kernel(scores[rows][ranking], labels[ranking])
        return self._checked(returned, query)

    def _checked(self, returned: Any, query: int) -> float:
        name = getattr(self.program.kernel, "__name__", "a custom measure")
        try:
            value = float(returned)
        except (TypeError, ValueError):
            value = np.inf
        if np.isinf(value):
            (where,) = self.queries.ids[query : query + 1].tolist()
            raise ValueError(
                f"{name} must return a finite number, or NaN to leave a query out, got "
                f"{returned!r:.60} for query {where!r}."
            )
        return value
