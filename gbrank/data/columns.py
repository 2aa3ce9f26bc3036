"""Columns of features that measures look at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gbrank.common.checks import unknown_name
from gbrank.data.batches import FeatureBatches
from gbrank.data.schema import checked_frame, checked_matrix


def column_places(
    wanted: Sequence[int | str], names: Sequence[str] | None, n_features: int
) -> tuple[int, ...]:
    """Return the positions of columns that are given by name or position."""
    places = []
    for item in wanted:
        if isinstance(item, str):
            if names is None:
                raise ValueError(f"X must be a data frame for columns by name, such as {item!r}.")
            if item not in names:
                raise unknown_name("column", item, names)
            places.append(names.index(item))
        elif item < n_features:
            places.append(int(item))
        else:
            raise ValueError(f"columns must hold positions below {n_features}, got {item!r}.")
    return tuple(places)


def feature_columns(X: Any, wanted: Sequence[int | str]) -> NDArray[np.float64]:
    """Return columns of a table as numbers, shape (n_columns, n_documents)."""
    if isinstance(X, FeatureBatches):
        return np.concatenate([feature_columns(batch, wanted) for batch in X], axis=1)
    frame = checked_frame(X)
    if frame is None:
        matrix = checked_matrix(X)
        chosen = matrix[:, list(column_places(wanted, None, matrix.shape[1]))]
        return np.ascontiguousarray((chosen.toarray() if sp.issparse(chosen) else chosen).T, float)
    places = column_places(wanted, list(map(str, frame.columns)), frame.shape[1])
    try:
        return np.array([frame[:, place].to_numpy() for place in places], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"columns {list(wanted)} of X must hold numbers.") from None
