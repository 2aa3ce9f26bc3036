"""Documents of whole queries: features, labels, and the columns that belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Array,
    Mask,
    Positions,
    Vector,
    check_entries,
    check_finite,
    check_known_name,
    check_labels,
    check_vector,
    check_weights,
    quoted,
    warn_user,
)
from gbrank.common.collective import all_any
from gbrank.common.grammar import check_label_name

from .frames import as_frame, as_numbers
from .queries import Queries, QueryWeights
from .sampling import sampled

UNJUDGED = -1  # as a label beside y; so is NaN
LARGEST_SCORE = 1e30  # finite in single precision, and so are sums
EVERY = slice(None)
BY_DOCUMENT = ("y", "sample_weight", "init_score", "position")  # the columns, besides labels
# Columns of which `fit` takes those of validation sets too, as eval_qid=, ...
VALIDATION = ("qid", "group", "init_score", "labels")

Chosen: TypeAlias = Positions | Mask | slice
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
    position: Array | None = None  # from 1; with contexts, a column for each
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
        """Check all columns; labels that are columns of X leave it."""
        n = queries.n_documents
        X, labels = split_columns(X, labels)
        if init_score is not None:
            init_score = check_finite(init_score, "init_score", n)
            too_large = np.abs(init_score) > LARGEST_SCORE
            demand = f"must be at most {LARGEST_SCORE} in size"
            check_entries(too_large, init_score, "init_score", demand)
        in_order = queries.in_order(query_weight)
        return cls(
            X,
            check_labels(y, "y", n),
            queries,
            sample_weight=check_weights(sample_weight, "sample_weight", n, "document"),
            query_weight=check_weights(in_order, "query_weight", queries.n_queries, "query"),
            init_score=init_score,
            position=None if position is None else check_positions(position, "position", n),
            labels=check_labels_by_name(labels or {}, n),
        )

    @property
    def weights(self) -> Vector | None:
        """The weight of each document, times its query's; None if there are no weights."""
        if self.query_weight is None:
            return self.sample_weight
        per_document = self.query_weight[self.queries.index]
        return per_document if self.sample_weight is None else per_document * self.sample_weight

    def arguments(self) -> dict[str, Any]:
        """List the arguments of `fit` that hold these documents."""
        columns = {**vars(self), "labels": self.labels or None, "qid": self.queries.qid}
        del columns["queries"]
        return {name: values for name, values in columns.items() if values is not None}

    def take(self, rows: Positions, queries: Queries, kept: Chosen = EVERY) -> Documents:
        """Take some documents, of `queries`, the retained ones of ours."""
        columns = {
            name: column[rows]
            for name in BY_DOCUMENT
            if (column := getattr(self, name)) is not None
        }
        return Documents(
            None if self.X is None else take_rows(self.X, rows),
            queries=queries,
            query_weight=None if self.query_weight is None else self.query_weight[kept],
            labels={name: values[rows] for name, values in self.labels.items()},
            **columns,
        )

    def take_queries(self, mask: Mask) -> Documents:
        """Take the documents of some queries."""
        queries, rows = self.queries.subset(mask)
        return self.take(rows, queries, mask)

    def each_query(self) -> Iterator[Documents]:
        """Yield the documents of each query."""
        queries = self.queries
        for query in range(queries.n_queries):
            rows = queries.rows(query)
            # Of the same type, so that no kernel is compiled again.
            order = np.arange(len(rows), dtype=rows.dtype)
            span = slice(query, query + 1)
            single = Queries(order, np.array([0, len(rows)]), queries.ids[span])
            yield self.take(rows, single, span)

    def grouped(self) -> Documents:
        """Sort the documents by query, as other libraries need them."""
        if self.queries.contiguous:
            return self
        return self.take(self.queries.order, Queries.from_sizes(self.queries.sizes))

    def split(self, fraction: float, seed: int) -> tuple[Documents, Documents]:
        """Set some queries aside, which a hash of the seed and of their ids chooses."""
        mask = sampled(self.queries.id_keys, fraction, seed)
        if mask.all():
            raise ArgumentError(
                "validation_fraction",
                "must leave queries to train on",
                f"{fraction} of {self.queries.n_queries} queries",
            )
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
        """Take the documents that have a label, in place of y; return them, their rows and queries.

        `user` is what needs the label, for the error where there is none.
        """
        if label is None:
            return self, EVERY, EVERY
        if not self.labels:
            raise ValueError(f"{user} needs labels= with {label!r}, got none.")
        check_known_name("label", label, self.labels)
        documents = replace(self, y=self.labels[label])
        judged = ~np.isnan(documents.y)
        if judged.all():
            return documents, EVERY, EVERY
        if not judged.any():
            raise ValueError(f"{user} needs documents that are judged by {label!r}, got none.")
        queries, rows, kept = self.queries.select(judged)
        return documents.take(rows, queries, kept), rows, kept


def check_labels_by_name(labels: Mapping[str, ArrayLike], length: int) -> dict[str, Vector]:
    """Check labels by name, NaN where a document is unjudged."""
    checked = {}
    for name, values in labels.items():
        argument = f"labels[{check_label_name(name)!r}]"
        vector = check_vector(values, argument, length)
        unjudged = vector == UNJUDGED
        vector = np.where(unjudged, np.nan, vector)
        wrong = (vector < 0) | np.isinf(vector)
        check_entries(wrong, vector, argument, "must be at least 0, or -1")
        if not all_any((~np.isnan(vector)).any()):
            raise ValueError(f"{argument} must have at least one judged document, got none.")
        if unjudged.any():
            warn_user(
                f"{argument}: {unjudged.sum()} documents with {UNJUDGED} are treated as unjudged. "
                "To avoid this warning, use NaN."
            )
        checked[name] = vector
    return checked


def check_column_names(names: Any) -> list[str]:
    """Check that names are a list of columns."""
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    if not listed or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(
            "labels",
            "must be a mapping of name to values, or a list of columns of X",
            quoted(names),
        )
    return list(names)


def split_columns(X: Any, labels: Labels | None) -> tuple[Any, Mapping[str, ArrayLike] | None]:
    """Split labels that name columns off a data frame; leave a mapping as it is."""
    if isinstance(labels, Mapping | None):
        return X, labels
    if (frame := as_frame(X)) is None:
        raise ArgumentTypeError(
            "labels", "must be a mapping of name to values where X is no data frame", quoted(labels)
        )
    columns: dict[str, Any] = {}
    for name in check_column_names(labels):
        check_known_name("column (labels)", name, frame.columns)
        columns[name] = as_numbers(frame[name], "labels must name columns of numbers")
    return frame.drop(list(columns)).to_native(), columns


def check_positions(values: Any, name: str, length: int) -> Array:
    """Check positions of impressions, from 1, with a column for each context."""
    if isinstance(values, Mapping):
        parts = [check_positions(part, f"{name}[{key!r}]", length) for key, part in values.items()]
        return np.column_stack(parts)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] > 1:
        return np.column_stack([check_positions(part, name, length) for part in values.T])
    vector = check_finite(values, name, length)
    wrong = (vector < 1) | (vector != np.floor(vector))
    check_entries(wrong, vector, name, "must hold integers of at least 1")
    return vector


def take_rows(X: Any, rows: Positions) -> Any:
    """Take some rows of a table."""
    from sklearn.utils import _safe_indexing  # takes long to import, and commands need no rows

    if sp.issparse(X):
        return X.tocsr()[rows]
    frame = as_frame(X)
    return _safe_indexing(X, rows) if frame is None else frame[rows].to_native()


def fit_arguments(training: Mapping[str, Any], *validation: Mapping[str, Any]) -> dict[str, Any]:
    """Make the arguments of `fit` from those of training and validation sets."""
    arguments = dict(training)
    if validation:
        arguments["eval_set"] = [(part["X"], part["y"]) for part in validation]
    for name in VALIDATION:
        lists = [part.get(name) for part in validation]
        if any(values is not None for values in lists):
            arguments[f"eval_{name}"] = lists
    return arguments
