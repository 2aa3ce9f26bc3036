"""Objectives that users write: a function of one query."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from gbrank.common.arrays import Positions, Vector
from gbrank.common.checks import quoted, shortened
from gbrank.engine.contract import Derivatives, Program
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

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def runner(self, binding: Binding) -> Runner:
        """Return a driver that calls the function for each query."""
        return PythonRunner(Program(kernel=self.function, key=binding.y), binding.queries)


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
        arguments = (
            ["labels", "scores"] if first.startswith(("y", "label")) else ["scores", "labels"]
        )
        arguments += ["[len(labels)]" if other == "group" else "None" for other in others[1:-1]]
        hint = (
            f" One for LightGBM or XGBoost is passed as lambda scores, labels, sigma: (0.0, "
            f"*{name}({', '.join(arguments)})), which is called query by query: labels stand for "
            "data.get_label(), and 0.0 for the loss, which training does not need."
        )
    raise TypeError(
        "objective must be a function of one query, (scores, labels, sigma) -> (loss, gradient, "
        f"curvature), got {shortened(called)}.{hint}"
    )


class PythonRunner(Runner):
    """Runs a function query by query, with the driver's order, weights and checks."""

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
