"""Features, labels, queries, initial scores and weights that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gbrank.common.arrays import Vector
from gbrank.data.columns import each_column, is_of_queries
from gbrank.data.frames import as_frame
from gbrank.data.labels import find_label, is_judged
from gbrank.data.queries import Queries
from gbrank.data.schema import Features

T = TypeVar("T")
Chosen: TypeAlias = NDArray[np.int64] | NDArray[np.bool_] | slice
EVERY = slice(None)


def take_rows(X: Any, chosen: NDArray[np.int64]) -> Any:
    """Return some rows of a table."""
    from sklearn.utils import _safe_indexing  # takes long to import, and commands need no rows

    if sp.issparse(X):
        return X.tocsr()[chosen]
    if isinstance(X, Mapping):
        return {name: _safe_indexing(values, chosen) for name, values in X.items()}
    frame = as_frame(X, "X")
    return _safe_indexing(X, chosen) if frame is None else frame[chosen].to_native()


def document_weights(
    queries: Queries, sample_weight: Vector | None, query_weight: Vector | None
) -> Vector | None:
    """Return the weight of each document, times its query's; None if there are no weights."""
    if query_weight is None:
        return sample_weight
    per_document = query_weight[queries.index]
    return per_document if sample_weight is None else per_document * sample_weight


class _Values(Generic[T]):
    """A column of rows as an attribute, of its name; the default where it was not given."""

    def __init__(self, default: Any = None) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, rows: Rows, owner: type) -> T:
        return cast(T, rows.columns.get(self._name, self._default))


class Rows:
    """Data to train or evaluate on, checked: features, queries, and the columns that were given.

    `columns` holds them by the names in `COLUMNS`; one that is not given is not in it.
    """

    y = _Values[Vector]()
    init_score = _Values[Vector | None]()
    sample_weight = _Values[Vector | None]()
    query_weight = _Values[Vector | None]()  # one a query; all others are one a document
    # Where each document was shown, from 1; with contexts, a column for each.
    position = _Values[NDArray[np.float64] | None]()
    labels = _Values[Mapping[str, Vector]]({})  # besides y; NaN is unjudged

    def __init__(self, X: Features, y: Vector, queries: Queries, **columns: Any) -> None:
        self.X, self.queries = X, queries
        given = {"y": y, **columns}
        self.columns = {name: values for name, values in given.items() if values is not None}

    def replace(self, **changes: Any) -> Rows:
        """Return the same rows with other features, queries or columns."""
        return Rows(**{"X": self.X, "queries": self.queries, **self.columns, **changes})

    @property
    def weights(self) -> Vector | None:
        """The weight of each document, times its query's; None if there are no weights."""
        return document_weights(self.queries, self.sample_weight, self.query_weight)

    def as_given(self, X: Any) -> dict[str, Any]:
        """Return the data as `fit` takes them, with the table that the features were made of."""
        return {"X": X, "qid": self.queries.ids[self.queries.index], **self.columns}

    def grouped(self) -> Rows:
        """Return the rows query by query, as other libraries need them."""
        if self.queries.contiguous:
            return self
        return self.take(self.queries.order, Queries.from_sizes(self.queries.sizes))

    def take(self, chosen: NDArray[np.int64], queries: Queries, kept: Chosen = EVERY) -> Rows:
        """Return the chosen rows, whose queries are `queries`: those of ours that are kept."""

        def taken(name: str, values: NDArray[Any]) -> NDArray[Any]:
            return values[kept if is_of_queries(name) else chosen]

        X = None if self.X is None else take_rows(self.X, chosen)
        return Rows(X=X, queries=queries, **each_column(taken, self.columns))

    def with_label(self, label: str | None, user: object) -> tuple[Rows, Chosen, Chosen]:
        """Return the rows that have a label, in place of y, and which rows and queries they are.

        `user` is what needs the label, for the error where there is none.
        """
        if label is None:
            return self, EVERY, EVERY
        values = find_label(self.labels, label, user)
        rows = self.replace(y=values)
        known = is_judged(values)
        if known is None:
            return rows, EVERY, EVERY
        if not known.any():
            raise ValueError(f"{user} needs documents that are judged by {label!r}, got none.")
        queries, chosen, kept = self.queries.select(known)
        return rows.take(chosen, queries, kept), chosen, kept
