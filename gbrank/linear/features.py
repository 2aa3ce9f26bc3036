"""The features of linear rankers: numbers, none missing, their z-scores, and weighted sum."""

from dataclasses import replace

import numpy as np

from gbrank.common.checks import Matrix, Vector, error_context
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features, as_dense, first_entry
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema


def weighted_sum(X: Features, coef: Vector) -> Vector:
    """Return the score of each row: its features times weights."""
    return np.asarray(_complete(X) @ coef)


def z_scores(X: Features, queries: Queries) -> Matrix:
    """Return z-scores by query; a missing value is 1 below the lowest, 0 where all are missing."""
    result = np.empty(X.shape)
    for rows in np.split(queries.order, queries.offsets[1:-1]):
        numbers = as_dense(X[rows]).astype(np.float64)
        known = np.ma.masked_array(numbers, np.isnan(numbers))
        deviations = known - known.mean(axis=0)
        spread = known.std(axis=0).filled(0.0)
        scores = deviations / np.where(spread > 0, spread, 1.0)
        lowest = np.broadcast_to(scores.min(axis=0).filled(1.0), numbers.shape)
        result[rows] = np.where(np.isnan(numbers), lowest - 1.0, scores.data)
    return result


def learn_numbers(X: object) -> Schema:
    """Learn the columns from training data, refusing categories."""
    schema = Schema.learn(X)
    if schema.categorical:
        raise ValueError(
            "X must hold numbers for a linear ranker; column "
            f"{schema.feature_names[schema.categorical[0]]!r} holds categories. Encode them, "
            "for example by sklearn.preprocessing.OneHotEncoder."
        )
    return schema


def with_numbers(
    schema: Schema, documents: Documents, place: int = 0, by_query: bool = False
) -> Documents:
    """Return documents with complete features in place of their table; in place 0, to train on."""
    with error_context(f"eval_set[{place - 1}]: " if place else ""):
        X = schema.transform(documents.X)
        return replace(documents, X=z_scores(X, documents.queries) if by_query else _complete(X))


def _complete(matrix: Features) -> Features:
    """Return features as float64; refuse missing ones."""
    if (missing := first_entry(matrix, np.isnan)) is not None:
        raise ValueError(
            f"X must not hold NaN for a linear ranker, got it in row {missing[1]}, column "
            f"{missing[2]}. Fill it in, for example by sklearn.impute.SimpleImputer; "
            "LinearRanker(by_query=True) ranks what is missing last."
        )
    return matrix.astype(np.float64, copy=False)
