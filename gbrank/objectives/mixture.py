"""Mixture: several objectives at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number
from gbrank.data.queries import Queries
from gbrank.kernels.driver import SMALLEST_CURVATURE
from gbrank.objectives.objective import Evaluator, Facts, Objective
from gbrank.parallel.collective import all_any
from gbrank.parallel.sums import order_free_mean
from gbrank.schedules import Curve, Sigma, as_schedule, constant, unit_of, weight_at

# Bounds the factor on an objective whose curvature has all but underflowed.
LARGEST_SCALE = 1e300


class Summand(Objective):
    """Base class of objectives that `+` mixes with others."""

    def __add__(self, other: Objective) -> "Mixture":
        """Return the mixture of both; terms keep their weights, a single objective has weight 1."""
        objectives, weights = zip(*_terms(self), *_terms(other), strict=True)
        return Mixture(objectives, weights)


@dataclass(frozen=True)
class Mixture(Summand):
    """A weighted mean of objectives, each divided by its mean curvature in every round.

    Gradient and curvature are Σ_k w_k (g_k, h_k)/mean h_k / Σ_k w_k, so that a weight is the share
    of an objective, whatever its scale; means are weighted as documents are. The string
    "0.7*lambda:ndcg+0.3*ranknet" makes one, and "lambda:ndcg+ranknet" one of equal weights, as
    ``first + second`` does. A weight may be a schedule: "linear(1,0)*listnet+linear(0,1)*ranknet"
    goes from one objective in the first round to the other in the last. In a round, an objective of
    weight 0 is not computed, and one without curvature, as all pairs are in order, is left out.

    Parameters
    ----------
    objectives : sequence of Objective
        What to mix, at least two; the loss is the same mean of losses, without the division.
    weights : sequence of float above 0, schedule, callable or str, optional
        The weight of each objective; 1 by default. A schedule, such as ``linear(0, 1)``, or a
        function of (round, rounds) gives numbers of at least 0, in each round one above 0.

    Examples
    --------
    >>> from gbrank import LambdaRank, Pointwise, Queries
    >>> bound = (LambdaRank() + Pointwise()).bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0])
    >>> gradient.round(4).tolist(), curvature.round(4).tolist()
    ([-2.0, 2.0], [1.0, 1.0])
    >>> from gbrank import get_objective
    >>> get_objective("0.7*lambda:ndcg + 0.3*ranknet").weights
    (0.7, 0.3)
    """

    name = "mixture"

    objectives: Sequence[Objective]
    weights: Sequence[Sigma] | None = None

    def __post_init__(self) -> None:
        objectives = tuple(self.objectives)
        for objective in objectives:
            if not isinstance(objective, Objective):
                raise TypeError(f"objectives must hold Objectives, got {objective!r}.")
            if isinstance(objective, Mixture):
                raise ValueError(
                    f"objectives must not hold mixtures, got {objective}: write one sum of "
                    "weighted terms."
                )
        weights = (1.0,) * len(objectives) if self.weights is None else tuple(self.weights)
        if len(objectives) < 2 or len(weights) != len(objectives):
            raise ValueError(
                "objectives must be at least two, and have a weight each, got "
                f"{len(objectives)} and {len(weights)} weights."
            )
        object.__setattr__(self, "objectives", objectives)
        object.__setattr__(self, "weights", tuple(map(_checked, weights)))

    @property
    def facts(self) -> Facts:
        """The facts of the mixture, which follow from those of its objectives."""
        parts = [objective.facts for objective in self.objectives]
        scheduled = any(map(callable, self.weights or ()))
        units = [part.sigma_unit for part in parts if part.sigma_unit != "none"]
        return Facts(
            formula=f"{' and '.join(part.formula for part in parts)}, each over its mean curvature",
            source="gbrank",
            convex=all(part.convex for part in parts),
            differentiable=False,
            shift_invariant=all(part.shift_invariant for part in parts),
            stochastic=any(part.stochastic for part in parts),
            annealed=scheduled or any(part.annealed for part in parts),
            labels="; ".join(part.labels for part in parts),
            cost=" + ".join(part.cost for part in parts),
            fast=" + ".join(part.cost if part.fast == "none" else part.fast for part in parts),
            sigma_unit=units[0] if units else "none",
            needs_start=(any if scheduled else all)(part.needs_start for part in parts),
        )

    def __str__(self) -> str:
        """Return the text from which `get_objective` makes the same mixture again."""
        return "+".join(
            str(objective) if weight == 1 else f"{weight!r}*{objective}".replace(", ", ",")
            for objective, weight in _terms(self)
        )

    def runner(
        self, labels: Vector, queries: Queries, n_jobs: int | None, rounds: int | None
    ) -> Evaluator:
        """Return a runner of all objectives."""
        weights = [as_schedule(weight) for weight in self.weights or ()]
        for round in range(rounds or 1):
            _shares(weights, round, rounds)
        runners = [item.runner(labels, queries, n_jobs, rounds) for item in self.objectives]
        return MixtureRunner(weights, runners, rounds)


def _terms(objective: Objective) -> list[tuple[Objective, Sigma]]:
    """Return the objectives of a mixture with their weights, or an objective by itself."""
    if isinstance(objective, Mixture):
        return list(zip(objective.objectives, objective.weights or (), strict=True))
    return [(objective, 1.0)]


def _checked(weight: Sigma) -> float | Curve:
    """Return a weight as a number, or as a schedule."""
    schedule = as_schedule(weight, "weight")
    if unit_of(schedule) != "absolute":
        raise ValueError(f"weight must have the unit 'absolute', got {schedule!r}.")
    if isinstance(schedule, constant):
        return float(check_number(schedule.value, "weight", 0, open_low=True))
    return schedule


def _shares(weights: Sequence[Curve], round: int, rounds: int | None) -> list[float]:
    """Return the weights in a round, over their sum."""
    values = [weight_at(weight, round, rounds) for weight in weights]
    total = sum(values)
    if not 0 < total < np.inf:
        raise ValueError(
            f"weights in round {round} must have a sum above 0 and finite, got {values}."
        )
    return [value / total for value in values]


@dataclass(frozen=True, eq=False)
class MixtureRunner:
    """Adds up the runners of objectives."""

    weights: Sequence[Curve]
    runners: Sequence[Evaluator]
    rounds: int | None

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the mixed loss of each query, shape (n_queries,)."""
        losses = [
            share * runner.values(scores, sigma, round) for share, runner in self._parts(round)
        ]
        return np.sum(losses, axis=0)

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
        parts = zip(_shares(self.weights, round, self.rounds), self.runners, strict=True)
        return [part for part in parts if part[0] > 0]
