"""Objectives that users write: a function of one query."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numba
import numpy as np
from numpy.typing import NDArray

from gbrank._checks import check_choice
from gbrank.kernels.compiled import Matrix, Positions, Vector
from gbrank.kernels.driver import SMALLEST_CURVATURE, Program, Runner, query_factor
from gbrank.objectives.base import Facts, Objective
from gbrank.queries import Queries

__all__ = ["CustomObjective"]

QueryFunction = Callable[[Vector, Vector, float], tuple[float, Vector, Vector]]


@dataclass(frozen=True)
class CustomObjective(Objective):
    """An objective from a function of one query; made by `custom_objective`.

    Parameters
    ----------
    function : callable
        ``function(scores, labels, sigma) -> (loss, gradient, curvature)``.
    name : str
        The name that messages use.
    normalize : {None, "query"}
        ``"query"`` multiplies a query's gradient and curvature by log2(1 + S) / S, S = Σ|gradient|.
    facts : Facts
        What is declared of it.
    """

    function: QueryFunction
    name: str = "custom"  # type: ignore[misc]
    normalize: Literal["query"] | None = None
    facts: Facts = field(  # type: ignore[misc]
        default=Facts(formula="a user's function", source="", shift_invariant=False, cost="?"),
        repr=False,
        compare=False,
    )

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}.")
        check_choice(self.normalize, "normalize", [None, "query"])

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the function, to be compiled if it is a numba function."""
        return Program(
            kernel=_as_kernel(self.function) if _is_compiled(self.function) else self.function,
            documents=labels[None, :],
            queries=np.ones((queries.n_queries, 1)),
            query_norm=self.normalize == "query",
            cached=False,
        )

    def runner(self, labels: Vector, queries: Queries, n_jobs: int | None) -> Runner:
        """Return the compiled driver, or one that calls Python for each query."""
        program = self.program(labels, queries)
        if _is_compiled(self.function):
            return Runner(program, queries, n_jobs)
        return PythonRunner(program, queries)


def _is_compiled(function: Callable[..., Any]) -> bool:
    return isinstance(function, numba.core.dispatcher.Dispatcher)


def _as_kernel(function: Any) -> Callable[..., Any]:
    def kernel(
        s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
        table: Vector, params: Vector, sigma: float, prepare: Any, row: Any,
        work: Matrix, gradient: Vector, curvature: Vector,
    ) -> float:  # fmt: skip
        loss, user_gradient, user_curvature = function(s, documents[0, : s.size], sigma)
        if gradient.size > 0:
            if user_gradient.size != s.size or user_curvature.size != s.size:
                gradient[0] = np.nan
            else:
                gradient[:] = user_gradient
                curvature[:] = user_curvature
        return float(loss)

    return kernel


class PythonRunner(Runner):
    """Runs a plain Python function query by query, with the driver's order, weights and checks."""

    def values(self, scores: Vector, sigma: float = 1.0) -> Vector:
        """Return the loss of each query, shape (n_queries,)."""
        losses = np.empty(self.queries.n_queries)
        for query, (loss, _, _, _) in enumerate(self._each(scores, sigma)):
            losses[query] = loss
        return losses

    def gradients(self, scores: Vector, sigma: float, weights: Vector) -> tuple[Vector, Vector]:
        """Return gradient and curvature of each document, times its weight, in input order."""
        gradient, curvature = np.empty((2, self.queries.n_documents))
        for _, rows, g, h in self._each(scores, sigma):
            factor = query_factor(g) if self.program.query_norm else 1.0
            scale = factor * weights[rows] if weights.size else factor
            gradient[rows] = g * scale
            curvature[rows] = np.maximum(h * scale, SMALLEST_CURVATURE)
        return gradient, curvature

    def _each(self, scores: Vector, sigma: float) -> Any:
        for query in range(self.queries.n_queries):
            rows, labels = self.documents_of(query)
            ranking = np.argsort(-scores[rows], kind="stable")
            rows, labels = rows[ranking], labels[ranking]
            s = scores[rows]
            loss, gradient, curvature = self.program.kernel(s, labels, sigma)
            g = self._checked(gradient, "gradient", query, sigma)
            h = self._checked(curvature, "curvature", query, sigma)
            if not np.isfinite(loss) or (h < 0).any():
                raise self.fault(query, sigma)
            same = np.flatnonzero((s[1:] == s[:-1]) & (labels[1:] == labels[:-1])) + 1
            for i in same:
                g[i], h[i] = g[i - 1], h[i - 1]
            yield float(loss), rows, g, h

    def _checked(self, values: Any, name: str, query: int, sigma: float) -> NDArray[np.float64]:
        array = np.array(values, dtype=np.float64)
        size = int(self.queries.sizes[query])
        if array.shape != (size,):
            raise ValueError(
                f"{name} of a custom objective must have one entry per document of the query, "
                f"shape ({size},), got {array.shape}."
            )
        if not np.isfinite(array).all():
            raise self.fault(query, sigma)
        return array
