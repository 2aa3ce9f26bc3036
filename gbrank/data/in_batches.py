"""What is done alike to features in memory and in batches."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from gbrank.data.batches import FeatureBatches, mapped
from gbrank.data.schema import Features, Schema


def learn_schema(X: Any, categorical_feature: Sequence[int | str] | None = None) -> Schema:
    """Learn the columns: of batches from the first, unless there are categories to be found."""
    if not isinstance(X, FeatureBatches):
        return Schema.learn(X, categorical_feature)
    nothing = np.empty((0, X.shape[1]))
    first = Schema.learn(next(iter(X.read()), nothing), categorical_feature)
    if not first.categories:
        return first
    return Schema.union([Schema.learn(batch, categorical_feature) for batch in X])


def transformed(schema: Schema, X: Any) -> Features:
    """Return features as numbers; of batches, each when it is read."""
    if isinstance(X, FeatureBatches):
        return mapped(X, schema.transform)
    return schema.transform(X)


def take_rows(X: Any, chosen: NDArray[np.int64]) -> Any:
    """Return some rows of a table."""
    return X[chosen] if isinstance(X, FeatureBatches) else _safe_indexing(X, chosen)


def each_batch(function: Callable[[Features], NDArray[Any]], X: Features) -> NDArray[Any]:
    """Return what a function gives for the rows of X."""
    if isinstance(X, FeatureBatches):
        return np.concatenate([function(batch) for batch in X])
    return function(X)
