"""The features of linear rankers: numbers, none missing, and their weighted sum."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from gbrank.common.argument_error import found_in
from gbrank.common.arrays import Vector
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features
from gbrank.data.schema import Schema


def weighted_sum(X: Features, coef: Vector) -> Vector:
    """Return the score of each row: its features times weights."""
    return np.asarray(_complete(X) @ coef)


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


def with_numbers(schema: Schema, documents: Documents, place: int | None = None) -> Documents:
    """Return documents with complete features in place of their table; of a validation set."""
    with found_in("" if place is None else f"eval_set[{place}]: "):
        return replace(documents, X=_complete(schema.transform(documents.X)))


def _complete(matrix: Features) -> Features:
    """Return features as float64; refuse missing ones."""
    if np.isnan(matrix.data if sp.issparse(matrix) else matrix).any():
        entries = sp.coo_matrix(matrix)
        first = int(np.argmax(np.isnan(entries.data)))
        raise ValueError(
            f"X must not hold NaN for a linear ranker, got it in row {entries.row[first]}, column "
            f"{entries.col[first]}. Fill it in, for example by sklearn.impute.SimpleImputer."
        )
    return matrix.astype(np.float64, copy=False)
