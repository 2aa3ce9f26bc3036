"""Objectives that users write: a function of one query."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import Any

import numba
import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.common.checks import quoted, shortened
from gbrank.data.queries import Queries
from gbrank.engine.contract import Derivatives, MeasureFunctions, Program, Query
from gbrank.engine.driver import Runner
from gbrank.engine.query_loop import SMALLEST_CURVATURE, share_among_equals
from gbrank.measures.custom_measure import best_first
from gbrank.objectives.objective import Binding, Facts, Objective


@dataclass(frozen=True)
class CustomObjective(Objective):
    """An objective from a function of one query; made by `custom_objective`."""

    function: Callable[[Vector, Vector, float], tuple[float, Vector, Vector]]
    name: str = "custom"  # type: ignore[misc]
    declared: Facts = field(  # type: ignore[misc]
        default=Facts(formula="a user's function", source="", shift_invariant=False, cost="?"),
        repr=False,
        compare=False,
    )

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}.")
        _check_signature(self.function)
        if getattr(self.function, "targetoptions", {}).get("parallel"):
            raise ValueError(
                "objective must not be compiled with parallel=True: of gbrank's threads, which run "
                "queries, two that start numba's own may end the process."
            )

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def runner(self, binding: Binding) -> Runner:
        """Return the compiled driver, or one that calls Python for each query."""
        y, queries = binding.y, binding.queries
        python = PythonRunner(Program(kernel=self.function, key=y), queries)
        if not isinstance(self.function, numba.core.dispatcher.Dispatcher):
            return python
        compiled = Program(kernel=_as_kernel(self.function), key=y)
        return CompiledRunner(compiled, queries, binding.n_jobs, python)


def _check_signature(function: Callable[..., Any]) -> None:
    """Refuse a function of other arguments, such as one for LightGBM or XGBoost."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of one that Python cannot look into
        return
    first, *others = [*signature.parameters, ""]
    of_all_queries = others[1:2] in (["group"], ["weight"], ["sample_weight"])
    with suppress(TypeError):
        signature.bind(None, None, None)
        if not of_all_queries:
            return
    name = getattr(function, "__name__", type(function).__name__)
    called, hint = f"{name}({', '.join(signature.parameters)})", ""
    if len(others) == 2 or of_all_queries:
        given = ["labels", "scores"] if first.startswith(("y", "label")) else ["scores", "labels"]
        given += ["[len(labels)]" if other == "group" else "None" for other in others[1:-1]]
        hint = (
            f" One for LightGBM or XGBoost is passed as lambda scores, labels, sigma: (0.0, "
            f"*{name}({', '.join(given)})), which is called query by query: labels stand for "
            "data.get_label(), and 0.0 for the loss, which training does not need."
        )
    raise TypeError(
        "objective must be a function of one query, (scores, labels, sigma) -> (loss, gradient, "
        f"curvature), got {shortened(called)}.{hint}"
    )


@cache
def _as_kernel(function: Any) -> Callable[..., Any]:
    def kernel(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
        # Copies, so that the function may change its arguments.
        loss, gradient, curvature = function(query.scores.copy(), query.key.copy(), query.sigma)
        if out.gradient.size > 0:
            m = query.scores.size
            if gradient.size != m or curvature.size != m or not np.isfinite(loss):
                out.gradient[0] = np.nan
                return np.nan
            for i in range(m):
                out.gradient[i] = gradient[i]
                out.curvature[i] = curvature[i]
        return float(loss)

    # Under gbrank's own module it would be stored on disk, one entry for all users' functions.
    kernel.__module__ = function.__module__
    return kernel


class CompiledRunner(Runner):
    """Runs a compiled function; runs a faulty query again in Python, for a precise error."""

    def __init__(
        self, program: Program, queries: Queries, n_jobs: int | None, python: "PythonRunner"
    ) -> None:
        super().__init__(program, queries, n_jobs)
        self._python = python

    def fault(self, query: int, scores: Vector, sigma: float) -> Exception:
        """Return the error for a query whose results are not usable."""
        try:
            self._python.run_query(query, scores, sigma)
        except (TypeError, ValueError, RuntimeError) as error:
            return error
        return super().fault(query, scores, sigma)


class PythonRunner(Runner):
    """Runs a plain Python function query by query, with the driver's order, weights and checks."""

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the loss of each query, shape (n_queries,)."""
        queries = range(self.queries.n_queries)
        return np.array([self.run_query(query, scores, sigma)[1] for query in queries])

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature of each document, times its weight, in input order."""
        gradient, curvature = np.empty((2, self.queries.n_documents))
        for query in range(self.queries.n_queries):
            rows, _, g, h = self.run_query(query, scores, sigma)
            scale = weights[rows] if weights.size else 1.0
            gradient[rows] = g * scale
            curvature[rows] = np.maximum(h * scale, SMALLEST_CURVATURE)
        return gradient, curvature

    def run_query(
        self, query: int, scores: Vector, sigma: float
    ) -> tuple[Positions, float, Vector, Vector]:
        """Return the rows of a query, best first, its loss, gradient and curvature."""
        rows, s, labels = best_first(self, query, scores)
        name = getattr(self.program.kernel, "__name__", "a custom objective")
        # Copies, so that the function may change its arguments.
        returned = self.program.kernel(s.copy(), labels.copy(), sigma)
        try:
            loss, gradient, curvature = returned
            loss = float(loss)
            g, h = (np.array(values) for values in (gradient, curvature))
            if g.dtype.kind not in "biufO" or h.dtype.kind not in "biufO":
                raise TypeError  # NumPy would drop an imaginary part, and read texts
            g, h = (values.astype(np.float64) for values in (g, h))
        except (OverflowError, TypeError, ValueError):
            raise TypeError(
                f"{name} must return (loss, gradient, curvature): a number and two arrays, "
                f"got {quoted(returned)}."
            ) from None
        for what, values, least, wanted in (
            ("loss", np.array([loss]), -inf, "finite"),
            ("gradient", g, -inf, "finite"),
            ("curvature", h, 0.0, ">= 0 and finite"),
        ):
            if what != "loss" and values.shape != s.shape:
                raise ValueError(
                    f"{what} of {name} must have one entry per document of the query, "
                    f"shape {s.shape}, got {values.shape}."
                )
            wrong = np.flatnonzero(~np.isfinite(values) | (values < least))
            if wrong.size:
                row = "" if what == "loss" else f" in row {rows[wrong[0]]}"
                raise RuntimeError(
                    f"{what} of {name} must be {wanted}, got {values[wrong[0]]}{row}: "
                    f"{self.place(query, sigma)}."
                )
        share_among_equals(s, labels, Derivatives(g, h))
        return rows, loss, g, h
