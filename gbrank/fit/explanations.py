"""Why a ranker ranks documents as it does: a pair of them, or the list of a query."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.common.table import Table, Tabular
from gbrank.data.queries import Queries
from gbrank.measures.measure import Measure

N_REASONS = 3
SWAPS_AT_ONCE = 200_000  # documents


@dataclass(frozen=True, eq=False)
class PairExplanation(Tabular):
    """Why one document is above another: what each feature adds to the gap of their scores.

    It is a table with a row for each feature, the largest share first: `to_pandas`, `to_markdown`,
    HTML in notebooks, and `gbrank.plots.pair`.

    Parameters
    ----------
    features : list of str
        The names of the columns of X, and then of what `context` adds.
    first, second : list
        The values of both documents.
    shares : ndarray, shape (n_features,)
        What each feature adds to `gap`, of which they are the parts.
    scores : tuple of float
        Those of both documents.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> why = ranker.explain_pair(X, 3, 7, qid=qid)
    >>> bool(abs(why.shares.sum() - why.gap) < 1e-9)
    True
    >>> list(why.to_pandas())
    ['feature', 'first', 'second', 'share']
    """

    features: list[str]
    first: list[Any]
    second: list[Any]
    shares: Vector
    scores: tuple[float, float]

    @property
    def gap(self) -> float:
        """By how much the score of the first document is above that of the second."""
        return self.scores[0] - self.scores[1]

    def __str__(self) -> str:
        """Return both scores and their gap."""
        first, second = self.scores
        return f"{first:.4g} − {second:.4g} = {self.gap:+.4g}"

    @property
    def largest(self) -> list[int]:
        """The features, by position, in order of falling size of their share."""
        order: list[int] = np.argsort(-np.abs(self.shares), kind="stable").tolist()
        return order

    def _table(self) -> Table:
        columns: dict[str, Sequence[Any]] = {
            "feature": self.features,
            "first": self.first,
            "second": self.second,
            "share": self.shares.tolist(),
        }
        ordered = {name: [values[i] for i in self.largest] for name, values in columns.items()}
        return Table.of(ordered, caption=str(self))


@dataclass(frozen=True, eq=False)
class QueryExplanation(Tabular):
    """Why the documents of a query are ranked as they are, and what better orders would bring.

    It is a table with a row for each document, by rank: `to_pandas`, `to_markdown`, HTML in
    notebooks, and `gbrank.plots.query`.

    Parameters
    ----------
    measure : str
        What orders are judged by; empty without labels.
    value : float
        The measure of this order; NaN without labels.
    rows : list of int
        The row in X of each document, by rank.
    labels : list of float, or None
    scores : list of float
    lifts, lowers : list of list of (str, float)
        The features that add most to the document's score, and take most from it, beside the mean
        of the query's documents, and by how much.
    swaps : list of (int or None, float)
        For each document, the rank of the wrongly ordered one with which it should swap, and what
        that alone would add to the measure; (None, NaN) where no swap helps. Empty without labels.

    Examples
    --------
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=4, random_state=0)
    >>> ranker = GBRanker(n_estimators=5, n_jobs=1).fit(X, y, qid=qid)
    >>> list(ranker.explain_query(X, y, qid=qid, query=3).to_pandas())
    ['rank', 'row', 'label', 'score', 'lifts', 'lowers', 'swap with', 'gain']
    """

    measure: str
    value: float
    rows: list[int]
    labels: list[float] | None
    scores: list[float]
    lifts: list[list[tuple[str, float]]]
    lowers: list[list[tuple[str, float]]]
    swaps: list[tuple[int | None, float]]

    def __str__(self) -> str:
        """Return the measure of the order."""
        return f"{len(self.rows)} documents" + (
            "" if np.isnan(self.value) else f", {self.measure} {self.value:.4f}"
        )

    def _table(self) -> Table:
        columns: dict[str, list[Any]] = {
            "rank": list(range(1, len(self.rows) + 1)),
            "row": self.rows,
        }
        if self.labels is not None:
            columns["label"] = self.labels
        columns |= {"score": self.scores, "lifts": self.lifts, "lowers": self.lowers}
        if self.labels is not None:
            columns["swap with"] = ["" if rank is None else rank for rank, _ in self.swaps]
            columns["gain"] = [gain for _, gain in self.swaps]
        return Table.of(columns, caption=str(self))


def pair_explanation(
    features: list[str], values: Sequence[list[Any]], shares: Matrix, scores: Vector
) -> PairExplanation:
    """Explain a pair from both documents' values, what each feature adds to them, and scores.

    XGBoost computes in single precision: what is missing to the gap by rounding is added to the
    shares in proportion to their sizes.
    """
    first, second = scores.tolist()
    parts = shares[0] - shares[1]
    sizes = np.abs(parts)
    parts += (first - second - parts.sum()) * sizes / (sizes.sum() or 1.0)
    return PairExplanation(features, values[0], values[1], parts, (first, second))


def query_explanation(
    features: list[str],
    rows: list[int],
    shares: Matrix,
    scores: Vector,
    labels: Vector | None,
    measure: Measure | None,
) -> QueryExplanation:
    """Explain a list whose documents are given by rank: their rows in X, shares, scores, labels."""
    beside = shares - shares.mean(axis=0)

    def most(order: np.ndarray[Any, Any], sign: int) -> list[tuple[str, float]]:
        chosen = np.argsort(-sign * order, kind="stable")[:N_REASONS]
        return [(features[i], float(order[i])) for i in chosen if sign * order[i] > 0]

    value: float = np.nan
    swaps: list[tuple[int | None, float]] = []
    if labels is not None and measure is not None:
        value, swaps = best_swaps(labels, measure)
    return QueryExplanation(
        measure="" if measure is None else str(measure),
        value=value,
        rows=rows,
        labels=None if labels is None else labels.tolist(),
        scores=scores.tolist(),
        lifts=[most(own, 1) for own in beside],
        lowers=[most(own, -1) for own in beside],
        swaps=swaps,
    )


def best_swaps(labels: Vector, measure: Measure) -> tuple[float, list[tuple[int | None, float]]]:
    """Return the measure of labels in rank order, and for each document its most useful swap."""
    m = len(labels)
    ranks = -np.arange(m, dtype=np.float64)
    value = measure.bind(labels, Queries.from_sizes([m]), 1).per_query(ranks).item()
    upper, lower = np.nonzero(labels[:, None] < labels)
    k = getattr(measure, "k", None)
    wrong = (upper < lower) & (upper < (k or m))  # below rank k a swap changes nothing
    upper, lower = upper[wrong], lower[wrong]
    best = np.zeros(m)
    partner = np.full(m, -1)
    step = max(1, SWAPS_AT_ONCE // m)
    for start in range(0, 0 if np.isnan(value) else len(upper), step):
        one, other = upper[start : start + step], lower[start : start + step]
        lists, pairs = np.tile(labels, (len(one), 1)), np.arange(len(one))
        lists[pairs, one], lists[pairs, other] = labels[other], labels[one]
        bound = measure.bind(lists.ravel(), Queries.from_sizes([m] * len(one)))
        gains = bound.per_query(np.tile(ranks, len(one))) - value
        for own, others in ((one, other), (other, one)):
            order = np.argsort(gains, kind="stable")  # of a document, the best pair is written last
            better = order[gains[order] > best[own[order]]]
            best[own[better]], partner[own[better]] = gains[better], others[better]
    found = zip(partner.tolist(), best.tolist(), strict=True)
    return value, [(None, np.nan) if rank < 0 else (rank + 1, gain) for rank, gain in found]
