"""Mixture: two objectives at once."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import SMALLEST_CURVATURE
from gbrank.objectives.objective import Evaluator, Facts, Objective
from gbrank.parallel.collective import all_any
from gbrank.parallel.sums import order_free_mean
from gbrank.schedules import Schedule, as_schedule, check_schedule, constant, share_at, unit_of

__all__ = ["Mixture", "Summand"]

# Of an objective whose curvature has all but underflowed.
LARGEST_SCALE = 1e300


class Summand(Objective):
    """An objective that a plus mixes with another."""

    def __add__(self, other: Objective) -> "Mixture":
        """Return the mixture of both in equal shares."""
        return Mixture(self, other)


@dataclass(frozen=True)
class Mixture(Summand):
    """A mixture of two objectives, each divided by its mean curvature in every round.

    Gradient and curvature are (1 − w) (g₁, h₁)/mean h₁ + w (g₂, h₂)/mean h₂, so that the share says
    how much each objective has to say, whatever its scale; means are weighted as documents are.
    ``first + second`` makes one of equal shares, and so does the string "lambda:ndcg+pointwise";
    "lambda:ndcg+0.8*pointwise" gives the second a share of 0.8, "listnet+linear(0,1)*lambda:ndcg"
    one that grows from 0 in the first round to 1 in the last. An objective whose share is 0 in a
    round is not computed then, and one without a curvature, as all pairs are in order, has no say.

    Parameters
    ----------
    first, second : Objective
        What to mix; the loss is that of the same mixture of losses, without the division.
    share : float in ]0, 1[, schedule, callable or str
        The share w of the second. A schedule, such as ``linear(0, 1)``, or a function of (round,
        rounds) gives a number from 0 to 1 for each round.

    Examples
    --------
    >>> from gbrank import LambdaRank, Pointwise, Queries
    >>> bound = (LambdaRank() + Pointwise()).bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0])
    >>> gradient.round(4).tolist(), curvature.round(4).tolist()
    ([-2.0, 2.0], [1.0, 1.0])
    >>> from gbrank import get_objective
    >>> get_objective("listnet+linear(0,1)*lambda:ndcg").share
    linear(start=0, stop=1)
    """

    name = "mixture"

    first: Objective
    second: Objective
    share: float | str | Schedule | Callable[[int, int | None], float] = 0.5

    def __post_init__(self) -> None:
        for side in ("first", "second"):
            if not isinstance(getattr(self, side), Objective):
                raise TypeError(f"{side} must be an Objective, got {getattr(self, side)!r}.")
        if isinstance(self.second, Mixture):
            raise TypeError("second must not be a Mixture: mix (a + b) + c, not a + (b + c).")
        share = as_schedule(self.share, "share")
        if unit_of(share) != "absolute":
            raise ValueError(f"share must have the unit 'absolute', got {share!r}.")
        if isinstance(share, constant):
            if check_number(share.value, "share", 0, 1, open_low=True) == 1:
                raise ValueError("share must be below 1, got 1.")
            object.__setattr__(self, "share", share.value)
        else:
            object.__setattr__(self, "share", share)

    @property
    def facts(self) -> Facts:
        """What holds of the mixture because it holds of both."""
        a, b = self.first.facts, self.second.facts
        scheduled = callable(self.share)
        return Facts(
            formula=f"{a.formula} and {b.formula}, each over its mean curvature",
            source="gbrank",
            convex=a.convex and b.convex,
            differentiable=False,
            shift_invariant=a.shift_invariant and b.shift_invariant,
            stochastic=a.stochastic or b.stochastic,
            annealed=scheduled or a.annealed or b.annealed,
            labels=f"{a.labels}; {b.labels}",
            cost=f"{a.cost} + {b.cost}",
            fast=f"{_long_cost(a)} + {_long_cost(b)}",
            sigma_unit=a.sigma_unit if a.sigma_unit != "none" else b.sigma_unit,
            needs_start=(any if scheduled else all)([a.needs_start, b.needs_start]),
        )

    def __str__(self) -> str:
        """Return the text from which `get_objective` makes the same mixture again."""
        share = "" if self.share == 0.5 else f"{self.share!r}*".replace(", ", ",")
        return f"{self.first}+{share}{self.second}"

    def runner(
        self, labels: Vector, queries: Queries, n_jobs: int | None, rounds: int | None
    ) -> Evaluator:
        """Return what runs both objectives."""
        return MixtureRunner(self, labels, queries, n_jobs, rounds)


def _long_cost(facts: Facts) -> str:
    return facts.cost if facts.fast == "none" else facts.fast


class MixtureRunner:
    """Adds up the runners of two objectives.

    Parameters
    ----------
    mixture : Mixture
    labels : ndarray, shape (n_documents,)
    queries : Queries
    n_jobs : int or None
    rounds : int or None
    """

    def __init__(
        self,
        mixture: Mixture,
        labels: Vector,
        queries: Queries,
        n_jobs: int | None,
        rounds: int | None,
    ) -> None:
        self._share = as_schedule(mixture.share)
        self._rounds = rounds
        check_schedule(self._share, rounds, share_at)
        self._sides = [
            side.runner(labels, queries, n_jobs, rounds) for side in (mixture.first, mixture.second)
        ]

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the mixed loss of each query, shape (n_queries,)."""
        parts = self._parts(round)
        return np.sum(
            [share * runner.values(scores, sigma, round) for share, runner in parts], axis=0
        )

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the mixed gradient and curvature of each document, times its weight."""
        gradient, curvature = np.zeros((2, len(scores)))
        weight = order_free_mean(weights, len(weights)) if weights.size else 1.0
        for share, runner in self._parts(round):
            g, h = runner.gradients(scores, sigma, round, weights)
            if not all_any((h > SMALLEST_CURVATURE).any()):
                continue
            scale = min(share * weight / order_free_mean(h, len(h)), LARGEST_SCALE)
            gradient += scale * g
            curvature += scale * h
        return gradient, np.maximum(curvature, SMALLEST_CURVATURE)

    def _parts(self, round: int) -> list[tuple[float, Evaluator]]:
        """Return the objectives that have a share in a round."""
        share = share_at(self._share, round, self._rounds)
        parts = zip((1 - share, share), self._sides, strict=True)
        return [part for part in parts if part[0] > 0]
