"""Objectives: declared facts, binding to labels, kernels, measures; mixtures and named labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    ArgumentTypeError,
    Function,
    Vector,
    check_finite,
    check_integer,
    check_number,
    check_vector,
)
from gbrank.common.collective import all_any
from gbrank.common.fields import Checked
from gbrank.common.grammar import changed_options, format_options, split_label
from gbrank.common.registry import notes
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries, QueryWeights
from gbrank.data.sums import order_free_mean
from gbrank.engine.contract import Program, Terms
from gbrank.engine.driver import Runner
from gbrank.engine.query_loop import SMALLEST_CURVATURE
from gbrank.measures.discounted import NDCG
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure
from gbrank.schedules import Curve, Sigma, as_schedule, check_sigma, constant, unit_of

# In spreads of the scores: a wider start would undo what RankNet has learned.
ANNEALED = "geometric(0.3, 0.1, unit='spread')"
# Bounds the factor on an objective whose curvature has all but underflowed.
LARGEST_SCALE = 1e300


@dataclass(frozen=True)
class Facts:
    """Declared facts of an objective; they drive the catalogue and the tests.

    Parameters
    ----------
    formula, source : str
        The loss of one query, or its gradient where there is no loss; paper and equation. These,
        labels, cost and fast may stand in the notes of a docstring instead, ``- Formula: ...``.
    convex : bool
        Whether the loss is convex in the scores.
    differentiable : bool
        Whether the gradient is that of the loss; if not, of the loss with its weights frozen.
    second_derivative : bool
        Whether the curvature is the second derivative of the loss by the score, unless that would
        let a Newton step be longer than its bound; if not, it is a surrogate.
    shift_invariant : bool
        Whether a constant on all scores of a query changes nothing, so that gradients sum to zero.
    stochastic, annealed : bool
        Whether the gradient is random; whether it follows a schedule of its own, besides sigma's.
    draws_documents : bool
        Whether a round ranks some documents only, and the others have no curvature.
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

    formula: str = ""
    source: str = ""
    convex: bool = False
    differentiable: bool = True
    second_derivative: bool = False
    shift_invariant: bool = True
    stochastic: bool = False
    annealed: bool = False
    draws_documents: bool = False
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
    """Computes an objective for known labels: a `Runner`, or a combination of several."""

    def values(self, scores: Vector, sigma: float, round: int) -> Vector:
        """Return the loss of each query, shape (n_queries,)."""

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature of each document, times its weight, in input order."""


class Objective(Checked, ABC):
    """Base class of objectives: small frozen dataclasses that hold parameters only.

    A subclass has a `name`, declares its facts (`declared`) and makes a `runner`. Everything is
    minimized: an objective is a loss, and gradients are its derivatives by the scores.
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    declared: ClassVar[Facts]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if isinstance(declared := vars(cls).get("declared"), Facts):
            cls.declared = replace(declared, **cast(Any, notes(cls)))

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

    def __add__(self, other: Objective) -> Mixture:
        """Return the mixture of both; terms keep their weights, a single objective has weight 1."""
        objectives, weights = zip(*terms_of(self), *terms_of(other), strict=True)
        return Mixture(objectives, weights)

    @abstractmethod
    def runner(self, documents: Documents, n_jobs: int | None, rounds: int | None) -> Evaluator:
        """Return the evaluator of values and gradients for these labels.

        Parameters
        ----------
        documents : Documents
            Their queries, y and other labels, checked.
        n_jobs, rounds : int or None
            As for `bind`.

        Returns
        -------
        Evaluator
        """

    def bind(
        self,
        y: ArrayLike,
        queries: Queries,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: QueryWeights | None = None,
        n_jobs: int | None = None,
        rounds: int | None = None,
        labels: Mapping[str, ArrayLike] | None = None,
    ) -> BoundObjective:
        """Prepare the objective for many gradients of the same labels, once per fit.

        Parameters
        ----------
        y : array-like, shape (n_documents,)
            Relevance labels, at least 0.
        queries : Queries
            Which rows belong to which query.
        sample_weight : array-like, shape (n_documents,), optional
            Document weights: each multiplies its document's gradient and curvature.
        query_weight : array-like, shape (n_queries,), or mapping of query to weight, optional
            Query weights: each multiplies its query's loss, gradients and curvatures. A pandas
            Series by query id is taken by its index.
        n_jobs : int, optional
            Number of threads; all by default. It does not change the result.
        rounds : int, optional
            How many boosting rounds there will be, for a mixture whose weights are schedules.
        labels : mapping of str to array-like, shape (n_documents,), optional
            Other labels, of objectives that name theirs (see `OnLabel`); NaN or −1 where a document
            is unjudged.

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
        documents = Documents.checked(
            None, y, queries, sample_weight=sample_weight, query_weight=query_weight, labels=labels
        )
        check_integer(rounds, "rounds", 1, optional=True)
        return self.bind_documents(documents, n_jobs=n_jobs, rounds=rounds)

    def bind_documents(
        self, documents: Documents, *, n_jobs: int | None = None, rounds: int | None = None
    ) -> BoundObjective:
        """Attach labels and weights that have been checked."""
        runner = self.runner(documents, n_jobs, rounds)
        weights = np.empty(0) if documents.weights is None else documents.weights
        return BoundObjective(self, documents.queries, runner, weights, documents.query_weight)


@dataclass(frozen=True, eq=False)
class BoundObjective:
    """An objective bound to labels, queries and weights; made by `Objective.bind`."""

    objective: Objective
    queries: Queries
    runner: Evaluator
    weights: Vector  # of each document, its query's weight in it; or empty
    query_weight: Vector | None

    @cached_property
    def mean_weight(self) -> float:
        """The mean weight of a document, over all workers; 1 without weights."""
        return order_free_mean(self.weights, len(self.weights)) if self.weights.size else 1.0

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


class KernelObjective(Objective):
    """Base class of objectives that are computed by a kernel.

    A subclass has a `name`, declares its facts (`declared`) and makes a `program`.
    """

    @abstractmethod
    def program(self, labels: Vector, queries: Queries) -> Program:
        """Return the kernel and its constants for these labels, which are checked."""

    def runner(self, documents: Documents, n_jobs: int | None, rounds: int | None) -> Any:
        """Return the runner of the kernel."""
        program = self.program(documents.y, documents.queries)
        return Runner(program, documents.queries, n_jobs)


@dataclass(frozen=True)
class MeasureObjective(KernelObjective):
    """Base class of relaxations: objectives of a measure.

    A subclass sets `needs`, what a measure must declare, such as "swaps", or overrides `takes`; and
    `wanted`, which completes the error "measure must {wanted}, got ...".

    Parameters
    ----------
    measure : Measure or str
        Its own `ties` and `no_relevant` have no effect.
    """

    needs: ClassVar[str]
    wanted: ClassVar[str]

    measure: Measure | str = field(default_factory=NDCG)

    def __post_init__(self) -> None:
        super().__post_init__()
        measure = get_measure(self.measure)
        object.__setattr__(self, "measure", measure)
        if measure.label is not None:
            raise ValueError(
                f"measure must have no label, got {measure}: label the objective, as in "
                f"'lambda:ndcg[{measure.label}]' or OnLabel(..., {measure.label!r})."
            )
        if not self.takes(measure):
            raise ValueError(f"measure must {self.wanted}, got {measure}.")

    @classmethod
    def takes(cls, measure: Measure) -> bool:
        """Return whether the measure declares what is needed of it."""
        return getattr(type(measure), cls.needs) is not None

    @property
    def _measure(self) -> Measure:
        return cast(Measure, self.measure)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Return the measure's constants for these labels."""
        terms = self._measure.terms(labels, queries)
        form = self._measure.form
        if form is not None and terms.discounts.size == 0:
            raise ValueError(f"{self._measure} is of the form {form!r}: its terms need discounts.")
        return terms

    def measure_program(
        self,
        kernel: Function,
        labels: Vector,
        queries: Queries,
        functions: Sequence[str] = (),
        by_label: bool = False,
        **others: Any,
    ) -> Program:
        """Return the program of a kernel that calls some of the measure's functions.

        Documents of equal score are sorted by their gains, or `by_label`; `others` are as for
        `Program`.
        """
        terms = self.terms(labels, queries)
        return Program(
            kernel,
            labels if by_label else terms.gains,
            terms,
            self._measure.functions(*functions),
            self._measure.work,
            **others,
        )


@dataclass(frozen=True)
class Mixture(Objective):
    """A weighted mean of objectives, each divided by its mean curvature in every round.

    Gradient and curvature are Σ_k w_k (g_k, h_k)/mean h_k / Σ_k w_k, so that a weight is the share
    of an objective, whatever its scale; means use the weights of documents. The strings
    "0.7*lambda:ndcg+0.3*ranknet" and, with equal weights, "lambda:ndcg+ranknet" make mixtures, and
    so does ``first + second``. A weight may be a schedule:
    "linear(1,0)*listnet+linear(0,1)*ranknet" changes from one objective in the first round to the
    other in the last. Objectives with weight 0 are not computed, and those without curvature,
    because all pairs are in order, are omitted.

    Parameters
    ----------
    objectives : sequence of Objective
        What to mix, at least two; the loss is the same mean of losses, without the division.
    weights : sequence of float above 0, schedule, callable or str, optional
        The weight of each objective; 1 by default. A schedule, such as ``linear(0, 1)``, or a
        function of (round, rounds) gives numbers of at least 0, in each round one above 0.

    Examples
    --------
    >>> from gbrank import LambdaRank, ListMLE, Queries
    >>> bound = (LambdaRank() + ListMLE()).bind([1, 0], Queries.from_sizes([2]))
    >>> gradient, curvature = bound.gradients([0.0, 0.0])
    >>> gradient.round(4).tolist(), curvature.round(4).tolist()
    ([-1.5, 1.5], [1.0, 1.0])
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
            if isinstance(objective, Mixture) or not isinstance(objective, Objective):
                raise ArgumentTypeError(
                    "objectives",
                    "must hold Objectives other than mixtures: write one sum of weighted terms",
                    repr(objective),
                )
        weights = (1.0,) * len(objectives) if self.weights is None else tuple(self.weights)
        if len(objectives) < 2 or len(weights) != len(objectives):
            raise ValueError(
                "objectives must be at least two, with one weight each, got "
                f"{len(objectives)} objectives and {len(weights)} weights."
            )
        object.__setattr__(self, "objectives", objectives)
        object.__setattr__(self, "weights", tuple(map(_checked, weights)))

    @property
    def facts(self) -> Facts:
        """The facts of the mixture, which follow from those of its objectives."""
        parts = [objective.facts for objective in self.objectives]
        scheduled = any(map(callable, self.weights or ()))
        units = [part.sigma_unit for part in parts if part.sigma_unit != "none"]
        need_start = [part.needs_start for part in parts]
        alike = {(part.sigma, split_label(part.start)[0]) for part in parts}
        sigma, start = (parts[0].sigma, parts[0].start) if len(alike) == 1 else ("1", "none")
        return replace(
            _texts_of(parts),
            convex=all(part.convex for part in parts),
            differentiable=False,
            shift_invariant=all(part.shift_invariant for part in parts),
            stochastic=any(part.stochastic for part in parts),
            annealed=scheduled or any(part.annealed for part in parts),
            draws_documents=all(part.draws_documents for part in parts),
            sigma_unit=units[0] if units else "none",
            sigma=sigma,
            start=start,
            needs_start=any(need_start) if scheduled else all(need_start),
        )

    def __str__(self) -> str:
        """Return the text from which `get_objective` makes the same mixture again."""
        return "+".join(
            str(objective) if weight == 1 else f"{weight!r}*{objective}".replace(", ", ",")
            for objective, weight in terms_of(self)
        )

    def runner(self, documents: Documents, n_jobs: int | None, rounds: int | None) -> Evaluator:
        """Return a runner of all objectives, each on its label."""
        weights = [as_schedule(weight) for weight in self.weights or ()]
        least = [
            SMALLEST_CURVATURE if item.facts.draws_documents else 0.0 for item in self.objectives
        ]
        runners = [item.runner(documents, n_jobs, rounds) for item in self.objectives]
        mixed = MixtureRunner(weights, runners, least, rounds)
        for round in range(rounds or 1):
            mixed.terms(round)
        return mixed


def _texts_of(parts: Sequence[Facts]) -> Facts:
    return Facts(
        formula=f"{' and '.join(part.formula for part in parts)}, each over its mean curvature",
        source="gbrank",
        labels="; ".join(part.labels for part in parts),
        cost=" + ".join(part.cost for part in parts),
        fast=" + ".join(part.cost if part.fast == "none" else part.fast for part in parts),
    )


def terms_of(objective: Objective) -> list[tuple[Objective, Sigma]]:
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
        return check_number(schedule.value, "weight", above=0)
    return schedule


@dataclass(frozen=True, eq=False)
class MixtureRunner:
    """Adds up the runners of objectives."""

    weights: Sequence[Curve]
    runners: Sequence[Evaluator]
    least: Sequence[float]  # the curvature of a document in which an objective has no part
    rounds: int | None

    def values(self, scores: Vector, sigma: float, round: int) -> Vector:
        """Return the mixed loss of each query, shape (n_queries,)."""
        losses = [
            share * runner.values(scores, sigma, round) for share, runner, _ in self.terms(round)
        ]
        return np.sum(losses, axis=0)

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the mixed gradient and curvature of each document, times its weight.

        Only a document in which no objective has a part, as none drew it, has no curvature.
        """
        gradient, curvature = np.zeros((2, len(scores)))
        takes_part = np.zeros(len(scores), bool)
        weight = order_free_mean(weights, len(weights)) if weights.size else 1.0
        for share, runner, none in self.terms(round):
            g, h = runner.gradients(scores, sigma, round, weights)
            takes_part |= h > none
            if not all_any((h > SMALLEST_CURVATURE).any()):
                continue
            scale = min(share * weight / order_free_mean(h, len(h)), LARGEST_SCALE)
            gradient += scale * g
            curvature += scale * h
        return gradient, np.where(takes_part, np.maximum(curvature, 2 * SMALLEST_CURVATURE), 0.0)

    def terms(self, round: int) -> list[tuple[float, Evaluator, float]]:
        """Return the objectives of weight above 0 in a round, each with its share in their sum."""
        name = f"weight in round {round}"
        values = [check_number(weight(round, self.rounds), name, 0) for weight in self.weights]
        total = sum(values)
        if not 0 < total < np.inf:
            raise ValueError(
                f"weights in round {round} must have a positive, finite sum, got {values}."
            )
        terms = zip(values, self.runners, self.least, strict=True)
        return [(value / total, runner, least) for value, runner, least in terms if value > 0]
