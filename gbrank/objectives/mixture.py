"""Mixture: two objectives at once."""

from dataclasses import dataclass

import numpy as np

from gbrank._checks import check_number
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import Program, Runner
from gbrank.objectives.base import Facts, Objective
from gbrank.queries import Queries
from gbrank.sampling import mean_of_any_order

__all__ = ["Mixture"]


@dataclass(frozen=True)
class Mixture(Objective):
    """A mixture of two objectives, each divided by its mean curvature in every round.

    Gradient and curvature are (1 − w) (g₁, h₁)/mean h₁ + w (g₂, h₂)/mean h₂, so that the share says
    how much each objective has to say, whatever its scale. ``first + second`` makes one of equal
    shares, and so does the string "lambda:ndcg+pointwise"; "lambda:ndcg+0.8*pointwise" gives the
    second a share of 0.8.

    Parameters
    ----------
    first, second : Objective
        What to mix; the loss is that of the same mixture of losses, without the division.
    share : float in ]0, 1[
        The share w of the second.

    Examples
    --------
    >>> from gbrank import LambdaRank, Pointwise, Queries
    >>> bound = (LambdaRank() + Pointwise()).bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0])
    >>> gradient.round(4).tolist(), curvature.round(4).tolist()
    ([-2.0, 2.0], [1.0, 1.0])
    """

    name = "mixture"

    first: Objective
    second: Objective
    share: float = 0.5

    def __post_init__(self) -> None:
        for side in ("first", "second"):
            if not isinstance(getattr(self, side), Objective):
                raise TypeError(f"{side} must be an Objective, got {getattr(self, side)!r}.")
        if isinstance(self.second, Mixture):
            raise TypeError("second must not be a Mixture: mix (a + b) + c, not a + (b + c).")
        if check_number(self.share, "share", 0, 1, open_low=True) == 1:
            raise ValueError("share must be below 1, got 1.")

    @property
    def facts(self) -> Facts:  # type: ignore[override]
        """What holds of the mixture because it holds of both."""
        a, b = self.first.facts, self.second.facts
        return Facts(
            formula=f"{a.formula} and {b.formula}, each over its mean curvature",
            source="gbrank",
            convex=a.convex and b.convex,
            differentiable=False,
            shift_invariant=a.shift_invariant and b.shift_invariant,
            stochastic=a.stochastic or b.stochastic,
            labels=f"{a.labels}; {b.labels}",
            cost=f"{a.cost} + {b.cost}",
            sigma_unit=a.sigma_unit if a.sigma_unit != "none" else b.sigma_unit,
            needs_start=a.needs_start and b.needs_start,
        )

    def __str__(self) -> str:
        """Return the text from which `get_objective` makes the same mixture again."""
        share = "" if self.share == 0.5 else f"{self.share!r}*"
        return f"{self.first}+{share}{self.second}"

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the program of the first objective; `runner` runs both."""
        return self.first.program(labels, queries)

    def runner(self, labels: Vector, queries: Queries, n_jobs: int | None) -> Runner:
        """Return what runs both objectives."""
        return MixtureRunner(self, labels, queries, n_jobs)


class MixtureRunner(Runner):
    """Adds up the runners of two objectives.

    Parameters
    ----------
    mixture : Mixture
    labels : ndarray, shape (n_documents,)
    queries : Queries
    n_jobs : int or None
    """

    def __init__(
        self, mixture: Mixture, labels: Vector, queries: Queries, n_jobs: int | None
    ) -> None:
        super().__init__(mixture.program(labels, queries), queries, n_jobs)
        self._parts = [
            (1 - mixture.share, mixture.first.runner(labels, queries, n_jobs)),
            (mixture.share, mixture.second.runner(labels, queries, n_jobs)),
        ]

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the mixed loss of each query, shape (n_queries,)."""
        return np.sum(
            [share * runner.values(scores, sigma, round) for share, runner in self._parts], axis=0
        )

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the mixed gradient and curvature of each document, times its weight."""
        gradient, curvature = np.zeros((2, len(scores)))
        for share, runner in self._parts:
            g, h = runner.gradients(scores, sigma, round, np.empty(0))
            scale = share / mean_of_any_order(h, len(h))
            gradient += scale * g
            curvature += scale * h
        if weights.size:
            gradient *= weights
            curvature *= weights
        return gradient, curvature
