"""What all objectives share: their declared facts, and how they are bound to labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.arrays import Vector
from gbrank.common.checks import (
    check_finite,
    check_labels,
    check_number,
    check_vector,
    check_weights,
)
from gbrank.common.grammar import changed_options, format_options
from gbrank.data.queries import Queries
from gbrank.data.rows import document_weights
from gbrank.schedules import check_sigma

# In spreads of the scores: a wider start would undo what RankNet has learned.
ANNEALED = "geometric(0.3, 0.1, unit='spread')"


@dataclass(frozen=True)
class Facts:
    """What is declared of an objective; it drives the catalogue and the tests.

    Parameters
    ----------
    formula, source : str
        The loss of one query, or its gradient where there is no loss; paper and equation.
    convex : bool
        Whether the loss is convex in the scores.
    differentiable : bool
        Whether the gradient is that of the loss; if not, of the loss with its weights frozen.
    shift_invariant : bool
        Whether a constant on all scores of a query changes nothing, so that gradients sum to zero.
    stochastic, annealed : bool
        Whether the gradient is random; whether it follows a schedule of its own, besides sigma's.
    labels, cost : str
        Which labels it takes; operations for a query of m documents.
    fast : str
        Operations for long lists and from which length, if they are summed another way; or "none".
    sigma_unit, sigma : str
        What sigma is measured in: "score", "squared score", or "none" if it plays no part; the
        schedule where none is given.
    start : str
        The objective that trees learn first, for half of the rounds, or "none".
    needs_start : bool
        Whether the gradient is zero where all scores tie, so that training needs initial scores.
    takes_measure : bool
        Whether its string takes a measure after a colon.
    closed_form : bool
        Whether a linear ranker's regression on the gains is its minimum.
    """

    formula: str
    source: str
    convex: bool = False
    differentiable: bool = True
    shift_invariant: bool = True
    stochastic: bool = False
    annealed: bool = False
    labels: str = "floats ≥ 0"
    cost: str = "O(m²)"
    fast: str = "none"
    sigma_unit: str = "score"
    sigma: str = "1"
    start: str = "none"
    needs_start: bool = False
    takes_measure: bool = False
    closed_form: bool = False


class Evaluator(Protocol):
    """What computes an objective for given labels: a `Runner`, or a combination of several."""

    def values(self, scores: Vector, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the loss of each query, shape (n_queries,)."""
        ...

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature of each document, times its weight, in input order."""
        ...


class Objective(ABC):
    """Base class of objectives: small frozen dataclasses that hold parameters only.

    A subclass has a `name`, declares its facts (`declared`) and makes a `runner`. Everything is
    minimised: an objective is a loss, and gradients are its derivatives by the scores.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    declared: ClassVar[Facts]

    @property
    def facts(self) -> Facts:
        """The facts of the objective with its parameters."""
        return self.declared

    def __str__(self) -> str:
        """Return the text from which `get_objective` makes the same objective again."""
        options = changed_options(self)
        inner = ""
        if self.facts.takes_measure and hasattr(self, "measure"):
            inner = f":{self.measure}"
            options.pop("measure", None)
        return self.name + format_options(options) + inner

    @property
    def rescaled(self) -> bool:
        """Whether hooks may scale gradient and curvature together, to mean curvature 1."""
        return True

    @abstractmethod
    def runner(
        self, labels: Vector, queries: Queries, n_jobs: int | None, rounds: int | None
    ) -> Evaluator:
        """Return the evaluator of values and gradients for these labels.

        Parameters
        ----------
        labels, queries, n_jobs, rounds
            As for `bind`, which has checked them.

        Returns
        -------
        Evaluator
        """

    def bind(
        self,
        labels: ArrayLike,
        queries: Queries,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
        n_jobs: int | None = None,
        rounds: int | None = None,
    ) -> BoundObjective:
        """Prepare the objective for many gradients of the same labels, once per fit.

        Parameters
        ----------
        labels : array-like, shape (n_documents,)
            Relevance labels, at least 0.
        queries : Queries
            Which rows belong to which query.
        sample_weight : array-like, shape (n_documents,), optional
            Document weights: each multiplies its document's gradient and curvature.
        query_weight : array-like, shape (n_queries,), optional
            Query weights: each multiplies its query's loss, gradients and curvatures.
        n_jobs : int, optional
            Number of threads; all by default. It does not change the result.
        rounds : int, optional
            How many boosting rounds there will be, for a mixture whose weights are schedules.

        Returns
        -------
        BoundObjective

        Raises
        ------
        ValueError
            If lengths differ, labels or weights are negative or not finite, the labels do not
            suit the objective, or its schedule needs to know the number of rounds.

        Examples
        --------
        >>> from gbrank import Queries, RankNet
        >>> bound = RankNet().bind([1, 0], Queries.from_sizes([2]))
        >>> gradient, curvature = bound.gradients([0.0, 0.0])
        >>> gradient.tolist(), curvature.tolist()
        ([-0.5, 0.5], [0.25, 0.25])
        """
        checked = check_labels(labels, queries.n_documents)
        documents = check_weights(sample_weight, "sample_weight", queries.n_documents, "document")
        per_query = check_weights(query_weight, "query_weight", queries.n_queries, "query")
        check_number(rounds, "rounds", 1, integer=True, optional=True)
        runner = self.runner(checked, queries, n_jobs, rounds)
        weights = document_weights(queries, documents, per_query)
        weights = np.empty(0) if weights is None else weights
        return BoundObjective(self, queries, runner, weights, per_query)


@dataclass(frozen=True, eq=False)
class BoundObjective:
    """An objective bound to labels, queries and weights; made by `Objective.bind`."""

    objective: Objective
    queries: Queries
    runner: Evaluator
    weights: Vector  # of each document, its query's weight in it; or empty
    query_weight: Vector | None

    def loss(self, scores: ArrayLike, sigma: float = 1.0, round: int = 0) -> Vector:
        """Return the loss of each query, shape (n_queries,).

        Parameters
        ----------
        scores : array-like, shape (n_documents,)
            Finite scores.
        sigma : float
            Width of the smoothing, in score units, at least 1e-300.
        round : int
            The boosting round, on which draws and the shares of annealed mixtures depend.

        Raises
        ------
        RuntimeError
            If a loss is not finite; the message names the query.
        """
        losses = self.runner.values(*self._check(scores, sigma), round)
        return losses if self.query_weight is None else losses * self.query_weight

    def gradients(
        self, scores: ArrayLike, sigma: float = 1.0, round: int = 0
    ) -> tuple[Vector, Vector]:
        """Return the derivative of the loss by each score, and the curvature, in order of rows.

        Parameters and errors are those of `loss`; the curvature is positive and finite.
        """
        return self.runner.gradients(*self._check(scores, sigma), round, self.weights)

    def _check(self, scores: ArrayLike, sigma: float) -> tuple[Vector, float]:
        checked = check_vector(scores, "scores", self.queries.n_documents)
        return check_finite(checked, "scores"), check_sigma(sigma, "sigma")
