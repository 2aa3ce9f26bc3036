"""Documents of whole queries: features, labels, and the columns that belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Mask, Positions, Vector
from gbrank.common.checks import (
    check_finite,
    check_labels,
    check_vector,
    check_weights,
    refuse_where,
)
from gbrank.common.collective import all_any
from gbrank.data.frames import as_frame
from gbrank.data.labels import check_labels_by_name, find_label, is_judged, split_columns
from gbrank.data.queries import Queries, QueryWeights
from gbrank.data.sampling import query_keys, sampled

LARGEST_SCORE = 1e30  # finite in single precision, and so are sums
EVERY = slice(None)
# The arguments of `fit` that list a column, one entry for each validation set.
VALIDATION = {
    "qid": "eval_qid",
    "group": "eval_group",
    "init_score": "eval_init_score",
    "labels": "eval_labels",
}

Chosen: TypeAlias = NDArray[np.int64] | NDArray[np.bool_] | slice
Labels: TypeAlias = Mapping[str, ArrayLike] | Sequence[str]  # by name, or columns of X


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of whole queries; the names of their columns are those of the arguments of `fit`.

    X is a table as users have it, or the features that a schema makes of it, or None.
    """

    X: Any
    y: Vector
    queries: Queries
    _: KW_ONLY
    sample_weight: Vector | None = None
    query_weight: Vector | None = None  # one a query; all others are one a document
    init_score: Vector | None = None
    position: NDArray[np.float64] | None = None  # from 1; with contexts, a column for each
    labels: Mapping[str, Vector] = field(default_factory=dict)  # besides y; NaN is unjudged

    @classmethod
    def checked(
        cls,
        X: Any,
        y: ArrayLike,
        queries: Queries,
        *,
        sample_weight: ArrayLike | None = None,
        query_weight: QueryWeights | None = None,
        init_score: ArrayLike | None = None,
        position: ArrayLike | Mapping[str, ArrayLike] | None = None,
        labels: Labels | None = None,
    ) -> Documents:
        """Return documents whose columns are checked; labels that are columns of X leave it."""
        n, n_queries = queries.n_documents, queries.n_queries
        if not isinstance(labels, Mapping | None):
            X, labels = split_columns(X, labels)
        in_order = queries.in_order(query_weight)
        return cls(
            X,
            check_labels(y, "y", n),
            queries,
            sample_weight=check_weights(sample_weight, "sample_weight", n, "document"),
            query_weight=check_weights(in_order, "query_weight", n_queries, "query"),
            init_score=check_initial_scores(init_score, "init_score", n),
            position=None if position is None else check_positions(position, "position", n),
            labels=check_labels_by_name(labels, n),
        )

    @property
    def weights(self) -> Vector | None:
        """The weight of each document, times its query's; None if there are no weights."""
        return document_weights(self.queries, self.sample_weight, self.query_weight)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `fit` that hold these documents."""
        columns = {
            "X": self.X,
            "y": self.y,
            "qid": self.queries.ids[self.queries.index],
            "sample_weight": self.sample_weight,
            "query_weight": self.query_weight,
            "init_score": self.init_score,
            "position": self.position,
            "labels": self.labels or None,
        }
        return {name: values for name, values in columns.items() if values is not None}

    def take(self, rows: Positions, queries: Queries, kept: Chosen = EVERY) -> Documents:
        """Return some documents, whose queries are `queries`: those of ours that are kept."""

        def rows_of(column: NDArray[Any] | None) -> Any:
            return None if column is None else column[rows]

        return Documents(
            None if self.X is None else take_rows(self.X, rows),
            self.y[rows],
            queries,
            sample_weight=rows_of(self.sample_weight),
            query_weight=None if self.query_weight is None else self.query_weight[kept],
            init_score=rows_of(self.init_score),
            position=rows_of(self.position),
            labels={name: values[rows] for name, values in self.labels.items()},
        )

    def take_queries(self, mask: Mask) -> Documents:
        """Return the documents of some queries."""
        queries, rows = self.queries.subset(mask)
        return self.take(rows, queries, mask)

    def each_query(self) -> Iterator[Documents]:
        """Yield the documents of each query."""
        queries = self.queries
        for query, (first, last) in enumerate(pairwise(queries.offsets)):
            span, size = slice(query, query + 1), last - first
            # Of the same type, so that no kernel is compiled again.
            order = np.arange(size, dtype=queries.order.dtype)
            single = Queries(order, np.array([0, size]), queries.ids[span])
            yield self.take(queries.order[first:last], single, span)

    def grouped(self) -> Documents:
        """Return the documents query by query, as other libraries need them."""
        if self.queries.contiguous:
            return self
        return self.take(self.queries.order, Queries.from_sizes(self.queries.sizes))

    def split(self, fraction: float, seed: int) -> tuple[Documents, Documents]:
        """Set some queries aside, which a hash of the seed and of their ids chooses."""
        mask = sampled(query_keys(self.queries.ids), fraction, seed, 0)
        if mask.all():
            got = f"{fraction} of {self.queries.n_queries} queries"
            raise ArgumentError("validation_fraction", "must leave queries to train on", got)
        parts = self.take_queries(~mask), self.take_queries(mask)
        for part in parts:
            needed = {
                f"judged by labels[{name!r}]": ~np.isnan(values)
                for name, values in part.labels.items()
            }
            if part.weights is not None:
                needed["of positive weight"] = part.weights > 0
            for kind, present in needed.items():
                if not all_any(present.any()):
                    raise ValueError(
                        f"validation_fraction must leave documents {kind} on both sides, got "
                        f"{fraction}: pass eval_set=, or another random_state."
                    )
        return parts

    def with_label(self, label: str | None, user: object) -> tuple[Documents, Chosen, Chosen]:
        """Return the documents that have a label, in place of y; and their rows and queries.

        `user` is what needs the label, for the error where there is none.
        """
        if label is None:
            return self, EVERY, EVERY
        values = find_label(self.labels, label, user)
        documents = replace(self, y=values)
        judged = is_judged(values)
        if judged is None:
            return documents, EVERY, EVERY
        if not judged.any():
            raise ValueError(f"{user} needs documents that are judged by {label!r}, got none.")
        queries, rows, kept = self.queries.select(judged)
        return documents.take(rows, queries, kept), rows, kept


def check_initial_scores(values: ArrayLike | None, name: str, length: int) -> Vector | None:
    """Return the scores to boost from, none of them too large for a booster."""
    if values is None:
        return None
    scores = check_finite(check_vector(values, name, length), name)
    demand = f"must be at most {LARGEST_SCORE} in size"
    refuse_where(np.abs(scores) > LARGEST_SCORE, scores, name, demand)
    return scores


def check_positions(values: Any, name: str, length: int) -> NDArray[np.float64]:
    """Return the positions of documents that were shown, from 1, or a column for each context."""
    if isinstance(values, Mapping):
        parts = [check_positions(part, f"{name}[{key!r}]", length) for key, part in values.items()]
        return np.column_stack(parts)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] > 1:
        return np.column_stack([check_positions(part, name, length) for part in values.T])
    vector = check_finite(check_vector(values, name, length), name)
    wrong = (vector < 1) | (vector != np.floor(vector))
    refuse_where(wrong, vector, name, "must hold integers of at least 1")
    return vector


def document_weights(
    queries: Queries, sample_weight: Vector | None, query_weight: Vector | None
) -> Vector | None:
    """Return the weight of each document, times its query's; None if there are no weights."""
    if query_weight is None:
        return sample_weight
    per_document = query_weight[queries.index]
    return per_document if sample_weight is None else per_document * sample_weight


def take_rows(X: Any, rows: Positions) -> Any:
    """Return some rows of a table."""
    from sklearn.utils import _safe_indexing  # takes long to import, and commands need no rows

    if sp.issparse(X):
        return X.tocsr()[rows]
    frame = as_frame(X, "X")
    return _safe_indexing(X, rows) if frame is None else frame[rows].to_native()


def fit_arguments(
    training: Mapping[str, Any], validation: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the arguments of `fit` for training and validation sets, each as its arguments."""
    arguments = {name: values for name, values in training.items() if values is not None}
    if validation:
        arguments["eval_set"] = [(part["X"], part["y"]) for part in validation]
    for name, argument in VALIDATION.items():
        lists = [part.get(name) for part in validation]
        if any(values is not None for values in lists):
            arguments[argument] = lists
    return arguments
