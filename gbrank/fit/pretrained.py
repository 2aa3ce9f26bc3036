"""Rankers from models that LightGBM or XGBoost trained."""

import os
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike, NDArray

from gbrank.boosters import Model
from gbrank.boosters.lightgbm.trainer import LightGBMModel
from gbrank.boosters.xgboost.trainer import XGBoostModel
from gbrank.data.schema import Schema
from gbrank.fit.estimator import BaseRanker, as_json
from gbrank.fit.loading import loadable
from gbrank.fit.storage import read_model, write_model
from gbrank.measures.measure import Measure

__all__ = ["PretrainedRanker", "as_pretrained"]

Vector = NDArray[np.float64]

NATIVE = ("pandas", "pyarrow", "scipy", "numpy")  # what both boosters read themselves


@loadable
class PretrainedRanker(BaseRanker):
    """Ranker from a booster: its scores are what LightGBM or XGBoost predicts, untransformed.

    What `GBRanker` makes of an `init` that one of these libraries trained. There is nothing left
    to fit: `fit` and cloning give the same ranker.

    Parameters
    ----------
    booster : lightgbm.Booster or xgboost.Booster
        The trained model. LightGBM predicts with its best iteration, if it knows one.
    eval_metric : str, Measure, or sequence of them
        The first is `score`.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> from gbrank import make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> data = lgb.Dataset(X, y, group=[10] * 20)
    >>> booster = lgb.train({"objective": "lambdarank", "verbosity": -1}, data, 5)
    >>> PretrainedRanker(booster).score(X, y, qid) > 0.8
    True
    """

    _allows_missing = True

    def __init__(
        self,
        booster: lgb.Booster | xgb.Booster,
        *,
        eval_metric: str | Measure | list[str | Measure] = "ndcg@10",
    ) -> None:
        self.booster = booster
        self.eval_metric = eval_metric

    def fit(self, X: Any, y: ArrayLike, *, qid: ArrayLike | None = None) -> "PretrainedRanker":
        """Do nothing: the model is trained.

        Parameters
        ----------
        X, y, qid
            Not looked at.

        Returns
        -------
        PretrainedRanker
            Itself.
        """
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            As the booster takes it, in its columns and categories.

        Returns
        -------
        ndarray, shape (n_documents,)

        Raises
        ------
        ValueError
            If the booster cannot read X.
        """
        table = _readable(X)
        try:
            if isinstance(self.booster, lgb.Booster):
                scores = self.booster.predict(
                    table, raw_score=True, validate_features=hasattr(table, "columns")
                )
            else:
                _check_width(table.shape[1], self.booster.num_features())
                data = xgb.DMatrix(table, enable_categorical=True)
                scores = self.booster.predict(
                    data, output_margin=True, validate_features=data.feature_names is not None
                )
        except (lgb.basic.LightGBMError, ValueError) as error:
            raise ValueError(f"X must be as the pretrained booster takes it: {error}") from None
        return np.asarray(scores, dtype=np.float64)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a folder: the booster's own file and a JSON file.

        Parameters
        ----------
        path : path
            The folder; made if it does not exist.
        """
        kind: str
        model: Model
        if isinstance(self.booster, lgb.Booster):
            kind, model = "lightgbm", LightGBMModel(self.booster)
        else:
            kind, model = "xgboost", XGBoostModel(self.booster)
        description = {
            "estimator": type(self).__name__,
            "booster": kind,
            "params": {"eval_metric": as_json(self.eval_metric)},
            "schema": {},
            "fitted": {},
        }
        write_model(path, model, description)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "PretrainedRanker":
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path
            The folder.

        Returns
        -------
        PretrainedRanker

        Raises
        ------
        FileNotFoundError
            If there is no model.
        ValueError
            If a file is cut short or damaged.
        """
        model, description = read_model(path, cls.__name__)
        return cls(model.native, **description["params"])

    def __sklearn_is_fitted__(self) -> bool:
        """Say that it is trained."""
        return True

    def __sklearn_clone__(self) -> "PretrainedRanker":
        """Return itself, since there is no training it again."""
        return self


def as_pretrained(model: Any) -> Any:
    """Return a trained model of LightGBM or XGBoost as a ranker, and anything else as it is.

    Parameters
    ----------
    model : object
        A booster, a fitted estimator of one of the libraries, or something else.

    Returns
    -------
    PretrainedRanker, or `model`

    Examples
    --------
    >>> as_pretrained("regression")
    'regression'
    """
    if isinstance(model, lgb.LGBMModel) and model.__sklearn_is_fitted__():
        model = model.booster_
    elif isinstance(model, xgb.XGBModel) and model.__sklearn_is_fitted__():
        if not np.isnan(model.missing):
            return model  # it reads X in a way that its booster does not know of
        model = model.get_booster()
        best = model.attr("best_iteration")
        model = model if best is None else model[: int(best) + 1]
    return PretrainedRanker(model) if isinstance(model, lgb.Booster | xgb.Booster) else model


def _check_width(found: int, expected: int) -> None:
    """Refuse what XGBoost takes as columns that are missing."""
    if found != expected:
        raise ValueError(f"it has {found} columns, expected {expected}.")


def _readable(X: Any) -> Any:
    """Return what both boosters read: frames of other libraries become arrays."""
    if type(X).__module__.split(".")[0] in NATIVE:
        return X
    schema = Schema.learn(X)
    if schema.categories:
        raise ValueError(
            "X must be a frame of pandas where a pretrained booster is given categories, got "
            f"{type(X).__module__}.{type(X).__name__}."
        )
    return schema.transform(X)
