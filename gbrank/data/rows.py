"""Features, labels, queries, initial scores and weights that belong together."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Vector
from gbrank.data.batches import FeatureBatches
from gbrank.data.frames import as_frame
from gbrank.data.named_labels import find_label, is_judged
from gbrank.data.queries import Queries
from gbrank.data.schema import Features

Chosen: TypeAlias = NDArray[np.int64] | NDArray[np.bool_] | slice
EVERY = slice(None)


def take_rows(X: Any, chosen: NDArray[np.int64]) -> Any:
    """Return some rows of a table."""
    from sklearn.utils import _safe_indexing  # takes long to import, and commands need no rows

    if isinstance(X, FeatureBatches):
        return X[chosen]
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


@dataclass(frozen=True, eq=False)
class Rows:
    """Data to train or evaluate on."""

    X: Features
    labels: Vector
    queries: Queries
    init_score: Vector | None = None
    sample_weight: Vector | None = None
    query_weight: Vector | None = None  # one a query; all others are one a document
    positions: Vector | None = None  # where each document was shown, from 1
    named: Mapping[str, Vector] = field(default_factory=dict)  # other labels; NaN is unjudged

    @property
    def weights(self) -> Vector | None:
        """The weight of each document, times its query's; None if there are no weights."""
        return document_weights(self.queries, self.sample_weight, self.query_weight)

    def grouped(self) -> "Rows":
        """Return the rows query by query, as the boosters' own objectives need them."""
        if self.queries.contiguous:
            return self
        return self.take(self.queries.order, Queries.from_sizes(self.queries.sizes))

    def take(
        self, chosen: NDArray[np.int64], queries: Queries, kept: object = slice(None)
    ) -> "Rows":
        """Return the chosen rows, whose queries are `queries`: those of ours that are kept."""
        taken = {
            name: values[kept if name == "query_weight" else chosen]
            for name, values in vars(self).items()
            if name not in ("X", "queries", "named") and values is not None
        }
        X = None if self.X is None else take_rows(self.X, chosen)
        named = {name: values[chosen] for name, values in self.named.items()}
        return replace(self, X=X, queries=queries, named=named, **taken)

    def judged_by(self, label: str | None, user: object) -> tuple["Rows", Chosen, Chosen]:
        """Return the rows that have a label, in place of y, and which rows and queries they are.

        `user` is what needs the label, for the error where there is none.
        """
        if label is None:
            return self, EVERY, EVERY
        values = find_label(self.named, label, user)
        rows = replace(self, labels=values)
        known = is_judged(values)
        if known is None:
            return rows, EVERY, EVERY
        queries, chosen, kept = self.queries.among(known)
        return rows.take(chosen, queries, kept), chosen, kept
