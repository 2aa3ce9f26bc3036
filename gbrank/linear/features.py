"""The features of linear rankers: numbers, none missing, and their weighted sum."""

import numpy as np
import scipy.sparse as sp

from gbrank.common.arrays import Vector
from gbrank.data.rows import Rows
from gbrank.data.schema import Features, Schema

LARGEST_FEATURE = 1e100  # sums of squares stay finite


def weighted_sum(X: Features, coef: Vector) -> Vector:
    """Return the score of each row: its features times weights."""
    return np.asarray(_complete(X, "") @ coef)


def learn_numbers(X: object) -> Schema:
    """Learn the columns from training data, refusing categories."""
    schema = Schema.learn(X)
    if schema.categorical:
        names = schema.names or range(schema.n_features)
        raise ValueError(
            "X must hold numbers for a linear ranker; column "
            f"{names[schema.categorical[0]]!r} holds categories. Encode them, for example by "
            "sklearn.preprocessing.OneHotEncoder."
        )
    return schema


def complete_rows(rows: Rows, where: str = "") -> Rows:
    """Return rows whose features are float64, refusing missing values."""
    return rows.replace(X=_complete(rows.X, where))


def _complete(matrix: Features, where: str) -> Features:
    values = matrix.data if sp.issparse(matrix) else matrix
    if np.isnan(values).any():
        entries = sp.coo_matrix(matrix)
        first = int(np.argmax(np.isnan(entries.data)))
        raise ValueError(
            f"{where}X must not hold NaN for a linear ranker, got it in row {entries.row[first]}, "
            f"column {entries.col[first]}. Fill it in, for example by "
            "sklearn.impute.SimpleImputer."
        )
    largest = float(np.abs(values).max(initial=0))
    if largest > LARGEST_FEATURE:
        raise ValueError(
            f"{where}X must hold numbers of at most {LARGEST_FEATURE} for a linear ranker, got "
            f"{largest}. Scale it, for example by sklearn.preprocessing.StandardScaler."
        )
    return matrix.astype(np.float64, copy=False)
