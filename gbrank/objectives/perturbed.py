"""Perturbed: the mean of an objective, or of a measure, over random perturbations of the scores."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from gbrank.common.checks import check_choice, check_number
from gbrank.data.queries import Queries
from gbrank.data.sampling import document_noise, query_keys, query_noise
from gbrank.kernels.compiled import NO_ROWS, Vector
from gbrank.kernels.driver import SMALLEST_CURVATURE, Program
from gbrank.kernels.expectation import SCRATCH, expected_measure
from gbrank.measures import Measure
from gbrank.objectives.lambdarank import LambdaRank
from gbrank.objectives.objective import Evaluator, Facts, Objective

__all__ = ["Perturbed"]

# From uniform numbers to noise of scale 1.
QUANTILES = {"gumbel": lambda uniform: -np.log(-np.log(uniform)), "gaussian": ndtri}


@dataclass(frozen=True)
class Perturbed(Objective):
    """Perturbed: the mean of an objective, or of a measure, over perturbations of the scores.

    Around an objective L the loss is 1/K Σ_d L(s + σ z_d), and gradient and curvature are the means
    of those of L, with the same σ.

    Around a measure M, which may be any, the loss is −1/K Σ_d M(s + σ z_d). The gradient is an
    unbiased estimate of that of −E M(s + σz), by likelihood ratios: −Σ_d (M_d − b_d) ψ_d/(K σ),
    where b_d is the mean of M over the other draws. For normal noise ψ is z less its mean; for
    Gumbel noise it is the derivative of the log-likelihood of the drawn ranking, 1 −
    Σ_{l ≤ r(i)} exp(s_i/σ)/Σ_{r(k) ≥ l} exp(s_k/σ). The curvature is 1/σ², which for normal noise
    and a measure between 0 and 1 bounds the second derivative of its expectation. A query whose
    documents are all worth the same has loss 0.

    The noise depends on (seed, round, query) and on the rank of the document before it is added;
    documents of equal score and label share the mean of their derivatives.

    Parameters
    ----------
    objective : Objective or Measure
        The objective L or the measure M. The measure's own `ties` and `no_relevant` play no part.
    noise : {"gumbel", "gaussian"}
        The distribution of z, of scale 1: standard Gumbel (rankings are then Plackett-Luce
        samples) or standard normal.
    draws : int
        Number K of perturbations in each round; around a measure, at least 2.
    seed : int
        What the noise depends on, besides round and query.
    normalize : {None, "query"}
        Around a measure, ``"query"`` multiplies a query's gradient and curvature by
        log2(1 + S) / S, S = Σ|gradient|. An objective has its own `normalize`.

    References
    ----------
    Gumbel noise as in YetiRank (Gulin, Kuralenok & Pavlov 2011, "Winning the transfer learning
    track of Yahoo!'s learning to rank challenge with YetiRank"); Gaussian noise as in
    StochasticRank (Ustimenko & Prokhorenkova 2020). Likelihood ratios: Williams 1992, "Simple
    statistical gradient-following algorithms for connectionist reinforcement learning"; less the
    other draws: Kool, van Hoof & Welling 2019, "Buy 4 REINFORCE samples, get a baseline for free!".

    Examples
    --------
    >>> from gbrank import NDCG, Queries, get_objective
    >>> queries = Queries.from_sizes([2])
    >>> bound = get_objective("perturbed(draws=2):lambda:ndcg").bind([1, 0], queries)
    >>> for round in (1, 2):
    ...     print(bound.gradients([0.0, 0.0], round=round)[0].round(4))
    [-0.1902  0.1902]
    [-0.2074  0.2074]
    >>> bound = Perturbed(NDCG(), draws=10_000).bind([1, 0], queries)
    >>> bound.gradients([0.0, 0.0])[0].round(2)  # (1 − 1/log2(3))/4, but for chance
    array([-0.09,  0.09])
    """

    name = "perturbed"
    facts = Facts(
        formula="1/K Σ_d L(s + σ z_d), z Gumbel or normal; around a measure −E M(s + σz), its "
        "gradient estimated by −Σ_d (M_d − b_d) ψ_d/(K σ)",
        source="Gulin, Kuralenok & Pavlov 2011; Ustimenko & Prokhorenkova 2020; Williams 1992",
        differentiable=False,
        stochastic=True,
        labels="those of the objective or measure",
        cost="K times that of the objective, or of ranking by the measure",
        takes_measure=True,
        takes_objective=True,
    )

    objective: Objective | Measure = field(default_factory=LambdaRank)
    noise: Literal["gumbel", "gaussian"] = "gumbel"
    draws: int = 8
    seed: int = 0
    normalize: Literal["query"] | None = None

    def __post_init__(self) -> None:
        around_measure = isinstance(self.objective, Measure)
        if not around_measure and not isinstance(self.objective, Objective):
            raise TypeError(
                "objective must be an Objective or a Measure, such as "
                f"get_objective('lambda:ndcg') or NDCG(), got {self.objective!r}."
            )
        check_choice(self.noise, "noise", QUANTILES)
        check_number(self.draws, "draws", 2 if around_measure else 1, integer=True)
        check_number(self.seed, "seed", integer=True)
        check_choice(self.normalize, "normalize", [None, "query"])
        if isinstance(self.objective, Objective):
            if self.normalize is not None:
                raise ValueError(
                    "normalize must be None around an objective, which has its own, as in "
                    f"'perturbed:lambda(normalize=query):ndcg'; got {self.normalize!r}."
                )
            inner = self.objective.facts
            facts = replace(
                type(self).facts,
                convex=inner.convex,
                differentiable=inner.differentiable,
                shift_invariant=inner.shift_invariant,
                annealed=inner.annealed,
                sigma_unit=inner.sigma_unit,
                sigma=inner.sigma,
            )
            object.__setattr__(self, "facts", facts)

    @property
    def rescaled(self) -> bool:
        """Whether hooks may scale gradient and curvature together: as for an objective inside."""
        return isinstance(self.objective, Measure) or self.objective.rescaled

    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the inner objective's kernel and constants, or the expectation of the measure."""
        if isinstance(self.objective, Objective):
            return self.objective.program(labels, queries)
        terms = self.objective.terms(labels, queries)
        return Program(
            kernel=expected_measure,
            documents=terms.x[None, :],
            queries=terms.query,
            table=terms.table,
            params=np.array([self.draws, self.noise == "gaussian"]),
            rows=(type(self.objective).value, NO_ROWS[1]),
            scratch=SCRATCH + self.objective.scratch,
            query_norm=self.normalize == "query",
            seed=self.seed,
        )

    def runner(
        self, labels: Vector, queries: Queries, n_jobs: int | None, rounds: int | None
    ) -> Evaluator:
        """Return what perturbs scores and runs the inner objective or measure on each result."""
        if isinstance(self.objective, Measure):
            return super().runner(labels, queries, n_jobs, rounds)
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
