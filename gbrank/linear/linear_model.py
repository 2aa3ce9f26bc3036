"""The base class of linear rankers: prediction, saving and loading."""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from gbrank.common.checks import Vector
from gbrank.data.feature_matrix import n_rows
from gbrank.data.schema import Schema
from gbrank.fit.arguments import TableLike
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.fitted import Fitted, Published, saved, vector_of
from gbrank.fit.storage import Saved

from .features import weighted_sum

T = TypeVar("T", bound="LinearModel[Any]")
W = TypeVar("W", bound="FittedWeights")


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedWeights(Fitted):
    """Results of a fit of a linear ranker."""

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
        if not n_rows(X):
            return np.empty(0)
        return weighted_sum(fitted.schema.transform(X), fitted.coef)

    def _to_saved(self) -> Saved:
        """Return what `save` writes."""
        return self._description(self._fitted)

    @classmethod
    def _from_saved(cls: type[T], saved: Saved) -> T:
        """Return the ranker that a folder holds."""
        ranker = cls(**saved["params"])
        schema = Schema.restored(saved["schema"])
        ranker._published = cls._makes.restored(saved["fitted"], schema=schema)
        return ranker
