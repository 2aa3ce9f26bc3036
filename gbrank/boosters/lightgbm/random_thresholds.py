"""A bin above the largest value of a feature, for LightGBM's random thresholds.

Of a feature with n bins LightGBM draws one of the first n − 2 thresholds, where there are n − 1:
the largest values are never told from the next ones, unless values are missing, which have a bin
above.
"""

import numpy as np
import scipy.sparse as sp

from gbrank.boosters.interface import Params
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number
from gbrank.data.schema import Features, Schema, as_dense

WIDE = (
    1000  # features; bins from elsewhere undo LightGBM's bundles, without which wide data are slow
)
SHORT = 1000  # rows that tell most features with many values


def smallest_bin(params: Params) -> int:
    """Return how many rows LightGBM wants in a bin."""
    return _integer(params, "min_data_in_bin", 3, 1)


def _integer(params: Params, name: str, default: int, low: int) -> int:
    own = params.get(name, default)
    return int(check_number(own, f"{name} in booster_params", low, integer=True))


def with_room_above(X: Features, params: Params, schema: Schema) -> Features:
    """Return the rows to make bins of, below them some that are larger in features of few values.

    Few are fewer than there may be bins. In other features these rows have the smallest value.
    """
    if X.shape[1] > WIDE:
        return X
    columns = X.tocsc() if sp.issparse(X) else X
    row = np.empty(X.shape[1], dtype=X.dtype)
    found, n_bins = False, _integer(params, "max_bin", 255, 2)
    missing_are_above = params.get("use_missing", True) and not params.get("zero_as_missing", False)
    for place in range(X.shape[1]):
        column = as_dense(columns[:, [place]])[:, 0]
        row[place] = np.fmin.reduce(column)
        if place in schema.categorical or (missing_are_above and np.isnan(column).any()):
            continue
        above = _above(column, n_bins)
        if above is not None:
            row[place], found = above, True
    if not found:
        return X
    rows = np.repeat(row[np.newaxis], smallest_bin(params), axis=0)
    return sp.vstack([X, rows], format="csr") if sp.issparse(X) else np.concatenate([X, rows])


def _above(column: Vector, n_bins: int) -> float | None:
    """Return a number above three values or more, but fewer than bins; None if these are others."""
    if len(np.unique(column[:SHORT])) >= n_bins:
        return None
    values = np.unique(column[~np.isnan(column)])
    if not 3 <= len(values) < n_bins:
        return None
    with np.errstate(over="ignore"):
        above = values[-1] + np.maximum(np.abs(values[-1]), 1)
    return above if np.isfinite(above) else None
