"""The base class of linear rankers: prediction, saving and loading; and checks of features."""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from gbrank.common.arrays import Vector
from gbrank.data.rows import Rows
from gbrank.data.schema import Features, Schema
from gbrank.fit.arguments import TableLike
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.fitted import Fitted, Published, saved, vector_of
from gbrank.fit.storage import Saved

T = TypeVar("T", bound="LinearModel[Any]")
W = TypeVar("W", bound="FittedWeights")

LARGEST_FEATURE = 1e100  # sums of squares stay finite


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedWeights(Fitted):
    """What a fit of a linear ranker makes."""

    suffix: ClassVar[str] = "_"

    coef: Vector = saved(vector_of)


class LinearModel(BaseRanker[W]):
    """Base class of linear rankers: a score is the sum of features times weights."""

    _makes: ClassVar[type[FittedWeights]]  # what `fit` makes

    coef_ = Published[Vector]()

    def predict(self, X: TableLike) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            Features, none missing.

        Returns
        -------
        ndarray, shape (n_documents,)
        """
        fitted = self._fitted  # once: another thread may publish the next fit meanwhile
        return _complete(fitted.schema.transform(X), "") @ fitted.coef

    def _to_saved(self) -> Saved:
        """Return what `save` writes."""
        return Saved(self._description(self._fitted), {})

    @classmethod
    def _from_saved(cls: type[T], saved: Saved) -> T:
        """Return the ranker that a folder holds."""
        ranker = cls(**saved.description["params"])
        schema = Schema.restored(saved.description["schema"])
        ranker._published = cls._makes.restored(saved.description["fitted"], schema=schema)
        return ranker


def learn_numbers(X: TableLike) -> Schema:
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
