"""Base classes of measures: how they are called, averaged, printed, and bound to labels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.checks import ArgumentError, Function, Mask, Vector, check_labels, check_scores
from gbrank.common.collective import all_any, all_max, all_sum
from gbrank.common.fields import Checked, Choice, Integer, Parameter, Real
from gbrank.common.grammar import changed_options, check_label_name, format_options
from gbrank.common.registry import notes
from gbrank.common.runtime import usable_threads
from gbrank.data.documents import EVERY, Chosen, Documents
from gbrank.data.queries import Queries, QueryWeights
from gbrank.data.schema import Schema
from gbrank.engine.contract import (
    Derivatives,
    MeasureFunctions,
    Nothing,
    Program,
    Query,
    Swaps,
    Terms,
)
from gbrank.engine.driver import Runner

from .gains import Discount, discount_values, formula_of
from .per_query import inverse

# How each treatment of ties orders documents of equal score, by their gains.
TIE_ORDERS: dict[str, Literal["descending", "ascending", "input"]] = {
    "average": "descending",
    "pessimistic": "ascending",
    "optimistic": "descending",
    "order": "input",
}

# With fewer, a second thread costs more than it saves: a list is little but sorted.
DOCUMENTS_PER_THREAD = 50_000


def _check_label(label: object, name: str) -> str | None:
    return None if label is None else check_label_name(label)


class Spelling(NamedTuple):
    """The text that a measure was requested by; canonical is its usual one."""

    text: str
    name: str
    canonical: str


def measure_value(query: Query, measure: MeasureFunctions, out: Derivatives) -> float:
    """Compute the measure of one query."""
    return measure.value(query.ranking)


@dataclass(frozen=True, repr=False)
class Measure(Checked, ABC):
    """Base class of measures: immutable values that score rankings, higher being better.

    A subclass is a frozen dataclass with a `name`, the method `terms`, notes for the catalogue
    (``- Formula: ...``, Source and Labels, in its docstring or as attributes; optional), and
    functions that are compiled (see `gbrank.engine.contract`): `value`, and what makes it
    trainable: `swaps` (LambdaRank), `by_rank` (ApproxRank), `by_position` (SmoothRank). It
    declares:

    work : type
        The named tuple of the arrays that these functions work with.
    form : {"discounted", "paired"}, optional
        How it is made of gains G and discounts D, by rank: "discounted" is Σ G D, "paired"
        Σ G D (1 + Σ G above).
    bounded_by : {"discounts", "shares"}, optional
        How SLAM weighs documents to bound 1 − measure: by G D over the best value, D averaged over
        equal G ("discounts"), or all relevant documents alike ("shares").
    takes_unretrieved : bool
        Whether a document of gain 0 in the last position adds nothing, so that documents may have
        the score −inf: they were never retrieved, and count in the ideal only.
    usual_label : str, optional
        The label that is meant where documents have several, by name; y if a class has none.

    Parameters
    ----------
    ties : {"average", "pessimistic", "optimistic", "order"}
        What documents of equal score are worth: the exact mean over all their orders, the worst
        order, the best, or the order of the rows.
    no_relevant : {"skip", 0, 1}
        What a query without a relevant document is worth; ``"skip"`` leaves it out of means.
    label : str, optional
        Which of the labels that `GBRanker.fit` is given by name is meant; y by default. Written
        in brackets: "ndcg@10[margin]".
    """

    name: ClassVar[str]
    aliases: ClassVar[tuple[str, ...]] = ()
    formula: ClassVar[str] = ""
    source: ClassVar[str] = ""
    labels: ClassVar[str] = "floats ≥ 0"
    value: ClassVar[Function]
    swaps: ClassVar[Swaps | None] = None
    by_rank: ClassVar[Function | None] = None
    by_position: ClassVar[Function | None] = None
    form: ClassVar[Literal["discounted", "paired"] | None] = None
    bounded_by: ClassVar[Literal["discounts", "shares"] | None] = None
    takes_unretrieved: ClassVar[bool] = False
    usual_label: ClassVar[str | None] = None
    work: ClassVar[type] = Nothing

    _: KW_ONLY
    ties: Literal["average", "pessimistic", "optimistic", "order"] = Choice("average", TIE_ORDERS)
    no_relevant: Literal["skip", 0, 1] = Choice("skip", ["skip", 0, 1])
    label: str | None = Parameter(None, _check_label)
    _spelling: Spelling | None = field(default=None, repr=False, compare=False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, text in notes(cls).items():
            setattr(cls, name, text)

    @abstractmethod
    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Prepare the measure's constants for these labels.

        Parameters
        ----------
        labels : ndarray, shape (n_documents,)
            Finite, non-negative labels.
        queries : Queries

        Returns
        -------
        Terms
        """

    @classmethod
    def functions(cls, *names: str) -> MeasureFunctions:
        """Select some of the measure's compiled functions, for a kernel that calls these.

        Parameters
        ----------
        *names : str
            Their names in `gbrank.engine.contract.MeasureFunctions`.

        Returns
        -------
        MeasureFunctions

        Examples
        --------
        >>> from gbrank import NDCG
        >>> NDCG.functions("separable").value is None
        True
        """
        swaps = cls.swaps or Swaps()
        return MeasureFunctions(
            **{name: getattr(swaps if hasattr(swaps, name) else cls, name) for name in names}
        )

    @property
    def known_at_real_ranks(self) -> bool:
        """Whether `by_rank` can compute the measure at ranks that are not integers.

        Of discounts, compiled code has the formulas of those by name.
        """
        return not callable(getattr(self, "discount", None))

    def with_positions(self, schema: Schema) -> Measure:
        """Make the measure for features whose columns have no names.

        Parameters
        ----------
        schema : Schema
            The names and positions of the columns.

        Returns
        -------
        Measure
            Itself, if it looks at no columns.
        """
        return self

    def bind(
        self, y: ArrayLike, queries: Queries, n_jobs: int | None = None, X: Any = None
    ) -> BoundMeasure:
        """Prepare the measure for many scorings of the same labels.

        Parameters
        ----------
        y : array-like, shape (n_documents,)
            Relevance labels, at least 0.
        queries : Queries
            Which rows belong to which query.
        n_jobs : int, optional
            Number of threads at most; all by default.
        X : array-like, sparse matrix or data frame, optional
            The features; for a measure that looks at some of their columns (see `custom_measure`).

        Returns
        -------
        BoundMeasure

        Examples
        --------
        >>> from gbrank import NDCG, Queries
        >>> NDCG().bind([1, 0], Queries.from_sizes([2])).per_query([0.0, 1.0]).round(4)
        array([0.6309])
        """
        if self.label is not None:
            raise ValueError(
                f"metric {self} needs the label {self.label!r}, which is not known here: use the "
                "metric without a label, and pass this label's values as y."
            )
        checked = check_labels(y, "y", queries.n_documents)
        terms = self.terms(checked, queries)
        runner = self._runner(terms, queries, n_jobs, X)
        defined = np.ones(queries.n_queries, bool) if terms.defined is None else terms.defined
        return BoundMeasure(self, runner, defined, checked, queries.n_queries, EVERY, EVERY)

    def _runner(self, terms: Terms, queries: Queries, n_jobs: int | None, X: Any) -> Runner:
        program = Program(
            kernel=measure_value,
            key=terms.gains,
            terms=terms,
            measure=self.functions("value"),
            memory=self.work,
            tied=self.ties == "average",
            order=TIE_ORDERS[self.ties],
        )
        worth = 1 + queries.n_documents // DOCUMENTS_PER_THREAD
        return Runner(program, queries, min(usable_threads(n_jobs), worth))

    def _values_of_runs(self, bound: BoundMeasure, scores: Vector, unretrieved: Mask) -> Vector:
        if not self.takes_unretrieved:
            raise ArgumentError(
                "scores",
                f"must be finite for {self}, which is undefined for documents without a rank",
                "-inf",
            )
        queries = bound.runner.queries
        checked = check_scores(ranked_last(scores, unretrieved), queries.n_documents)
        terms = self._terms_of_runs(self.terms(bound.labels, queries), queries, unretrieved)
        return self._runner(terms, queries, bound.runner.n_jobs, None).values(checked)

    def _terms_of_runs(self, terms: Terms, queries: Queries, unretrieved: Mask) -> Terms:
        return replace(terms, gains=np.where(unretrieved, 0.0, terms.gains))

    def _why_undefined(self, largest: float) -> str:
        return (
            f"none has, for example, a relevant document (the largest label is {largest})."
            " Set threshold= to the smallest relevant label, or no_relevant=0 or 1 to count such "
            "queries."
        )

    def per_query(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        X: Any = None,
    ) -> Vector:
        """Compute the measure of each query.

        Parameters
        ----------
        y : array-like, shape (n_documents,)
            Relevance labels, at least 0.
        scores : array-like, shape (n_documents,)
            Finite scores; higher ranks earlier. −inf is a document that was never retrieved: it
            counts in the ideal, and in the number of relevant documents.
        qid : array-like, shape (n_documents,), optional
            The query of each row, in any order.
        group : array-like of int, shape (n_queries,), optional
            Sizes of consecutive queries; with neither, all rows are one query.
        X : array-like, sparse matrix or data frame, optional
            The features; for a measure that looks at some of their columns (see `custom_measure`).

        Returns
        -------
        ndarray, shape (n_queries,)
            In the order in which queries first appear; NaN where a query is skipped.

        Raises
        ------
        ValueError
            If lengths differ, labels are negative or not finite, or a score is NaN or infinite;
            −inf is refused by measures that count pairs.

        Examples
        --------
        >>> from gbrank import NDCG
        >>> NDCG(k=1).per_query([1, 0, 0], [2.0, 1.0, 0.0], qid=["a", "a", "b"])
        array([ 1., nan])
        """
        labels = check_labels(y, "y")
        queries = Queries.resolve(len(labels), qid, group)
        return self.bind(labels, queries, X=X).per_query(scores)

    def __call__(
        self,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: QueryWeights | None = None,
        X: Any = None,
    ) -> float:
        """Compute the mean of the measure over queries.

        Parameters
        ----------
        y, scores, qid, group, X
            As for `per_query`.
        sample_weight : array-like, shape (n_documents,), optional
            Document weights; a query weighs the mean of its documents' weights.
        query_weight : array-like, shape (n_queries,), or mapping of query to weight, optional
            Query weights, in the order in which queries first appear, or by query id: a mapping, or
            a pandas Series with the ids as its index.

        Returns
        -------
        float
            Σ w_q M_q / Σ w_q over the queries that are not skipped.

        Raises
        ------
        ValueError
            As for `per_query`; also if every query is skipped.

        Examples
        --------
        >>> from gbrank import RR
        >>> RR()([0, 1, 1, 0], [2.0, 1.0, 2.0, 1.0], group=[2, 2])
        0.75
        """
        labels = check_labels(y, "y")
        queries = Queries.resolve(len(labels), qid, group)
        documents = Documents.checked(
            X, labels, queries, sample_weight=sample_weight, query_weight=query_weight
        )
        bound = self.bind(labels, queries, X=X)
        return replace(bound, weights=mean_weights(documents)).mean(scores)

    def __str__(self) -> str:
        """Write the text it was requested by, or else one that `get_measure` reads the same."""
        options = changed_options(self)
        k = options.pop("k", None)
        label = options.pop("label", None)
        cut = "" if k is None else f"@{k}"
        suffix = "" if label is None else f"[{label}]"
        rest = cut + format_options(options) + suffix
        canonical = self.name + rest
        if self._spelling is None:
            return canonical
        if canonical == self._spelling.canonical:
            return self._spelling.text
        return self._spelling.name + rest


class RankMeasure(Measure):
    """Base class of measures of gains and discounts by rank: subclasses say what these are.

    The discount is the attribute `discount`, 1 by default, up to rank `k` if there is one.
    """

    takes_unretrieved = True

    @property
    def discount(self) -> Discount:
        """The discount D by rank."""
        return "flat"

    @property
    def last_rank(self) -> int | None:
        """The last rank k that counts, or None."""
        return getattr(self, "k", None)

    @abstractmethod
    def gains(self, labels: Vector) -> Vector:
        """Compute the gain of each label, shape (n_documents,)."""

    def normalizers(self, gains: Vector, discounts: Vector, queries: Queries) -> Vector:
        """Compute the divisor Z of each query; 1 unless a subclass overrides it."""
        return np.ones(queries.n_queries)

    def terms(self, labels: Vector, queries: Queries) -> Terms:
        """Prepare gains, 1/Z, k, discounts, and which queries have a gain."""
        gains = self.gains(labels)
        discounts = discount_values(self.discount, queries.sizes, self.last_rank)
        with np.errstate(over="ignore"):
            scale = inverse(self.normalizers(gains, discounts, queries))
            defined = (scale > 0) & (queries.reduce(np.add, gains) > 0)
        cut = np.inf if self.last_rank is None else float(self.last_rank)
        formula = formula_of(self.discount, queries.sizes)
        return Terms(gains, defined, scale, cut, formula, discounts)


class RelevanceMeasure(RankMeasure):
    """Base class of measures of binary relevance: a label from `threshold` on is relevant."""

    labels = "floats ≥ 0, relevant from `threshold`"
    threshold: float

    def gains(self, labels: Vector) -> Vector:
        """1 where a label reaches the threshold, else 0."""
        return (labels >= self.threshold).astype(np.float64)


@dataclass(frozen=True, repr=False)
class TruncatedRelevance(RelevanceMeasure):
    """Base class of measures of binary relevance at ranks up to k."""

    k: int | None = Integer(None, 1)
    threshold: float = Real(1.0, above=0)


@dataclass(frozen=True, eq=False)
class BoundMeasure:
    """A measure bound to labels and queries; made by `Measure.bind` and `bind_to_rows`.

    It is of some rows and queries, those that have its label: scores are given for all rows, and
    the others' queries are NaN.
    """

    measure: Measure
    runner: Runner
    defined: Mask
    labels: Vector
    n_queries: int
    rows: Chosen
    queries: Chosen
    weights: Vector | None = None

    def per_query(self, scores: ArrayLike) -> Vector:
        """Compute the measure of each query, NaN where skipped; −inf is never retrieved."""
        array = np.asarray(scores)
        values = self._values(array[self.rows] if array.ndim else array)
        fill = self.measure.no_relevant
        known = self.defined & ~np.isnan(values)  # a user's function may give NaN
        every = np.full(self.n_queries, np.nan)
        every[self.queries] = np.where(known, values, np.nan if fill == "skip" else float(fill))
        return every

    def _values(self, scores: NDArray[Any]) -> Vector:
        if scores.dtype.kind != "f" or scores.min(initial=0.0) > -np.inf:
            return self.runner.values(check_scores(scores, self.runner.queries.n_documents))
        return self.measure._values_of_runs(self, scores, scores == -np.inf)

    def mean(self, scores: ArrayLike) -> float:
        """Average over the queries that are not skipped, weighted by query.

        If every query (of positive weight) is skipped, that is a ValueError.
        """
        values = self.per_query(scores)[self.queries]
        weights = np.ones(len(values)) if self.weights is None else self.weights
        if not all_any((weights > 0).any()):
            raise ValueError(
                "sample_weight and query_weight: all weights are zero; one must be positive."
            )
        counted = ~np.isnan(values) & (weights > 0)
        # Rounding must not depend on the order of queries, nor leave the range of the values.
        values, weights = values[counted], weights[counted]
        largest_weight, high, low = all_max(
            np.array([np.max(side, initial=-np.inf) for side in (weights, values, -values)])
        )
        if largest_weight == -np.inf:
            reason = self.measure._why_undefined(all_max(float(self.labels.max())))
            raise ValueError(f"{self.measure} is undefined on every query: {reason}")
        weights = weights / largest_weight
        size = math.ldexp(1.0, math.frexp(max(high, low))[1] - 1)  # sums of huge values are finite
        terms = values / size * weights
        value, weight = all_sum(np.array([math.fsum(terms), math.fsum(weights)]))
        return float(np.clip(value / weight * size, -low, high))


def ranked_last(scores: Vector, mask: Mask) -> Vector:
    """Lower the scores of a mask below all others."""
    lowest = float(np.min(scores, where=~mask, initial=np.inf))
    if np.isinf(lowest):
        lowest = 0.0
    with np.errstate(over="ignore"):
        last = min(lowest - 1, np.nextafter(lowest, -np.inf))
    return np.where(mask, last, scores)


def mean_weights(documents: Documents) -> Vector | None:
    """Multiply each query's mean document weight by its query weight."""
    weights = documents.query_weight
    if documents.sample_weight is None:
        return weights
    queries = documents.queries
    means = queries.reduce(np.add, documents.sample_weight) / queries.sizes
    return means if weights is None else means * weights


def bind_to_rows(measure: Measure, documents: Documents, n_jobs: int | None = None) -> BoundMeasure:
    """Bind a measure to the documents that have the label that it names."""
    label = measure.usual_label if measure.label is None else measure.label
    labelled, rows, queries = documents.with_label(label, f"measure {measure}")
    unlabelled = measure if measure.label is None else replace(measure, label=None)
    return replace(
        unlabelled.bind(labelled.y, labelled.queries, n_jobs, labelled.X),
        measure=measure,
        n_queries=documents.queries.n_queries,
        weights=mean_weights(labelled),
        rows=rows,
        queries=queries,
    )
