"""Columns of features that measures look at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gbrank.common.checks import unknown_name
from gbrank.data.frames import as_frame

__all__ = ["column_places", "feature_columns"]


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
                raise unknown_name("column", item, list(names))
            places.append(names.index(item))
        elif item < n_features:
            places.append(int(item))
        else:
            raise ValueError(f"columns must hold positions below {n_features}, got {item!r}.")
    return tuple(places)


def feature_columns(X: Any, wanted: Sequence[int | str]) -> NDArray[np.float64]:
    """Return columns of a table as numbers, shape (n_columns, n_documents)."""
    frame = as_frame(X, "X")
    if frame is not None:
        places = column_places(wanted, frame.columns, frame.shape[1])
        columns = [frame[:, place].to_numpy() for place in places]
    elif sp.issparse(X):
        places = column_places(wanted, None, X.shape[1])
        columns = list(sp.csr_matrix(X)[:, list(places)].toarray().T)
    else:
        table = np.asarray(X)
        columns = [table[:, place] for place in column_places(wanted, None, table.shape[1])]
    try:
        return np.array(columns, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"columns {list(wanted)} of X must hold numbers.") from None
