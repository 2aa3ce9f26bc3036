"""Perturbed: the mean of an objective over random perturbations of the scores."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.data.sampling import document_noise, query_keys, query_noise
from gbrank.kernels.compiled import Vector
from gbrank.kernels.driver import SMALLEST_CURVATURE
from gbrank.objectives.lambdarank import LambdaRank
from gbrank.objectives.mixture import Summand
from gbrank.objectives.objective import Evaluator, Facts, Objective
from gbrank.objectives.objective_registry import register_objective

__all__ = ["Perturbed"]

# From uniform numbers to noise of scale 1.
QUANTILES = {"gumbel": lambda uniform: -np.log(-np.log(uniform)), "gaussian": ndtri}


@register_objective
@dataclass(frozen=True)
class Perturbed(Summand):
    """Perturbed: the mean of an objective over random perturbations of the scores.

    Around an objective L the loss is 1/K Σ_d L(s + σ z_d), and gradient and curvature are the means
    of those of L, with the same σ.

    The noise depends on (seed, round, query) and on the rank of the document before it is added;
    documents of equal score and label share the mean of their derivatives.

    Parameters
    ----------
    objective : Objective
        The objective L.
    noise : {"gumbel", "gaussian"}
        The distribution of z, of scale 1: standard Gumbel (rankings are then Plackett-Luce
        samples) or standard normal.
    draws : int
        Number K of perturbations in each round.
    seed : int
        What the noise depends on, besides round and query.

    References
    ----------
    Gumbel noise as in YetiRank (Gulin, Kuralenok & Pavlov 2011, "Winning the transfer learning
    track of Yahoo!'s learning to rank challenge with YetiRank"); Gaussian noise as in
    StochasticRank (Ustimenko & Prokhorenkova 2020).

    Examples
    --------
    >>> from gbrank import Queries, get_objective
    >>> queries = Queries.from_sizes([2])
    >>> bound = get_objective("perturbed(draws=2):lambda:ndcg").bind([1, 0], queries)
    >>> for round in (1, 2):
    ...     print(bound.gradients([0.0, 0.0], round=round)[0].round(4))
    [-0.1902  0.1902]
    [-0.2074  0.2074]
    """

    name = "perturbed"
    declared = Facts(
        formula="1/K Σ_d L(s + σ z_d), z_d noise of scale 1",
        source="Gulin, Kuralenok & Pavlov 2011; Ustimenko & Prokhorenkova 2020",
        differentiable=False,
        stochastic=True,
        labels="those of the objective",
        cost="K times that of the objective",
        takes_objective=True,
    )

    objective: Objective = field(default_factory=LambdaRank)
    noise: Literal["gumbel", "gaussian"] = "gumbel"
    draws: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.objective, Objective):
            raise TypeError(
                "objective must be an Objective, such as get_objective('lambda:ndcg'), got "
                f"{self.objective!r}."
            )
        check_choice(self.noise, "noise", QUANTILES)
        check_number(self.draws, "draws", 1, integer=True)
        check_number(self.seed, "seed", integer=True)

    @property
    def facts(self) -> Facts:
        """What holds of the objective inside, but that noise is drawn."""
        inner = self.objective.facts
        return replace(
            self.declared,
            convex=inner.convex,
            differentiable=inner.differentiable,
            shift_invariant=inner.shift_invariant,
            annealed=inner.annealed,
            sigma_unit=inner.sigma_unit,
            sigma=inner.sigma,
        )

    @property
    def rescaled(self) -> bool:
        """Whether hooks may scale gradient and curvature together: as for the objective inside."""
        return self.objective.rescaled

    def runner(
        self, labels: Vector, queries: Queries, n_jobs: int | None, rounds: int | None
    ) -> Evaluator:
        """Return what perturbs scores and runs the objective inside on each result."""
        inner = self.objective.runner(labels, queries, n_jobs, rounds)
        return PerturbedRunner(self, inner, labels, queries)


class PerturbedRunner:
    """Averages an objective's runner over perturbed scores.

    Parameters
    ----------
    perturbed : Perturbed
    inner : Evaluator
        What it is around.
    labels : ndarray, shape (n_documents,)
    queries : Queries
    """

    def __init__(
        self,
        perturbed: Perturbed,
        inner: Evaluator,
        labels: Vector,
        queries: Queries,
    ) -> None:
        self._perturbed = perturbed
        self._labels = labels
        self._queries = queries
        self._keys = query_keys(queries.ids)
        self._inner = inner
        self._place = np.arange(len(labels)) - np.repeat(queries.offsets[:-1], queries.sizes)

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the mean loss of each query, shape (n_queries,)."""
        total = np.zeros(self._queries.n_queries)
        ranking = self._ranking(scores)
        for perturbed in self._perturbations(scores, ranking, sigma, round):
            total += self._inner.values(perturbed, sigma, round)
        return total / self._perturbed.draws

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the mean gradient and curvature of each document, times its weight."""
        total = np.zeros((2, len(scores)))
        ranking = self._ranking(scores)
        for perturbed in self._perturbations(scores, ranking, sigma, round):
            total += self._inner.gradients(perturbed, sigma, round, np.empty(0))
        keys = np.stack([self._queries.index, scores, self._labels])[:, ranking]
        block = np.cumsum(np.concatenate([[False], (np.diff(keys) != 0).any(axis=0)]))
        size = self._perturbed.draws * np.bincount(block)
        for derivative in total:
            derivative[ranking] = (np.bincount(block, derivative[ranking]) / size)[block]
        if weights.size:
            total *= weights
        return total[0], np.maximum(total[1], SMALLEST_CURVATURE)

    def _perturbations(
        self, scores: Vector, ranking: NDArray[np.int64], sigma: float, round: int
    ) -> Iterator[Vector]:
        """Yield the scores plus noise, which depends on ranks and not on the order of rows."""
        quantile, draws = QUANTILES[self._perturbed.noise], self._perturbed.draws
        # Not what a stochastic objective inside draws from the same seed.
        noise = query_noise(self._keys, ~self._perturbed.seed, round)
        noise = np.repeat(noise, self._queries.sizes)
        for draw in range(draws):
            perturbed = scores.copy()
            uniform = document_noise(noise, self._place * draws + draw)
            perturbed[ranking] += sigma * quantile(uniform)
            yield perturbed

    def _ranking(self, scores: Vector) -> NDArray[np.int64]:
        """Return the rows query by query, best first, equal scores by falling label."""
        return np.lexsort((-self._labels, -scores, self._queries.index))
