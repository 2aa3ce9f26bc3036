"""Bins for LightGBM's random thresholds.

LightGBM draws one of a feature's thresholds, whatever number of rows its bins have. Of counts, most
would stand among rare large numbers, since each value gets a bin, or all bins but those of the
commonest values. And of n bins it draws one of the first n − 2 thresholds, where there are n − 1:
it never separates the largest values from the next, unless values are missing, which have a bin
above.
"""

import math

import numpy as np
import scipy.sparse as sp

from gbrank.boosters.booster import whole_number
from gbrank.boosters.interface import Params
from gbrank.common.checks import Mask, Positions, Vector
from gbrank.data.feature_matrix import Features, dense_column, stacked
from gbrank.data.schema import Schema

# Features; bins from elsewhere undo LightGBM's bundles, without which wide data are slow.
WIDE = 1000
ZERO = 1e-35  # up to which LightGBM takes numbers for zero


def bins_of_one_size(X: Features, params: Params, schema: Schema) -> tuple[Params, Features]:
    """Set the number of bins of each feature, and the rows to make bins of.

    A value that fills a bin has one, and the other bins have about as many rows as bins of one size
    would. Where each of three values or more has a bin, there are rows above the largest one; other
    features have their smallest value there.
    """
    if X.shape[1] > WIDE or "max_bin_by_feature" in params:
        return params, X
    most = whole_number(params, "max_bin", 255, 2)
    in_use = params.get("use_missing") is not False  # None stands for the default
    missing_are_above = in_use and not params.get("zero_as_missing")
    columns = X.tocsc() if sp.issparse(X) else X
    numbers = np.full(X.shape[1], most)
    row = np.full(X.shape[1], np.nan, dtype=X.dtype)
    extended = False
    for place in range(X.shape[1]):
        column = dense_column(columns, place)
        values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        if not len(values):
            continue
        row[place] = values[0]
        if place in schema.categorical:
            continue
        missing = missing_are_above and len(column) > counts.sum()
        n_bins = _bins_of_one_size(values, counts, most)
        largest = float(values[-1])
        with np.errstate(over="ignore"):
            above = X.dtype.type(largest + max(abs(largest), 1))
        if not missing and 3 <= len(values) <= n_bins < most and np.isfinite(above):
            row[place] = above
            extended = True
            n_bins = n_bins + 1
        numbers[place] = min(max(n_bins + missing, 2), most)
    params = params | {"max_bin_by_feature": numbers.tolist()}
    if not extended:
        return params, X
    rows = np.repeat(row[np.newaxis], smallest_bin(params), axis=0)
    return params, stacked([X, rows])


def smallest_bin(params: Params) -> int:
    """Count the rows that LightGBM wants in a bin."""
    return whole_number(params, "min_data_in_bin", 3, 1)


def _bins_of_one_size(values: Vector, counts: Positions, most: int) -> int:
    """Count the bins, of which LightGBM gives one to zero, and shares to both sides."""
    fills = counts * most >= counts.sum()

    def needed(side: Mask) -> int:
        rest = counts[side & ~fills].sum()
        return int((side & fills).sum()) + math.ceil(rest * most / counts.sum())

    below = values < -ZERO
    side = needed(below)
    both = side + needed(values > ZERO)
    if side > 1:
        share = counts[below].sum() / counts[np.abs(values) > ZERO].sum()
        both = max(both, math.ceil(side / share))
    return 1 + both
