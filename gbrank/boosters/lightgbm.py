"""Training, prediction and storage with LightGBM."""

from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import NDArray

from gbrank.boosters.base import (
    Derivatives,
    Rows,
    Settings,
    own_params,
    refuse_cutting,
    safe_names,
)
from gbrank.features import Features, Schema

__all__ = ["LightGBMModel", "LightGBMTrainer"]

Vector = NDArray[np.float64]

TAKEN = {
    "objective": "the argument objective",
    "metric": "the argument eval_metric",
    "num_iterations": "the argument n_estimators",
    "early_stopping_round": "the argument early_stopping_rounds",
    "learning_rate": "the argument learning_rate",
    "num_leaves": "the argument num_leaves",
    "max_depth": "the argument max_depth",
    "min_data_in_leaf": "the argument min_child_samples",
    "bagging_fraction": "the argument subsample",
    "bagging_by_query": "the argument subsample_by",
    "feature_fraction": "the argument colsample",
    "lambda_l2": "the argument reg_lambda",
    "seed": "the argument random_state",
    "num_threads": "the argument n_jobs",
}


class LightGBMModel:
    """A trained LightGBM booster."""

    suffix = ".txt"

    def __init__(self, native: lgb.Booster) -> None:
        self.native = native

    @classmethod
    def load(cls, content: bytes) -> "LightGBMModel":
        """Read a model from LightGBM's text format."""
        try:
            return cls(lgb.Booster(model_str=content.decode()))
        except (lgb.basic.LightGBMError, UnicodeDecodeError) as error:
            raise ValueError(f"not a LightGBM model: {error}") from None

    def dump(self) -> bytes:
        """Return the model in LightGBM's text format."""
        return bytes(self.native.model_to_string().encode())

    def predict(self, X: Features, schema: Schema, n_jobs: int) -> Vector:
        """Return the score of each row."""
        scores = self.native.predict(X, raw_score=True, num_threads=n_jobs, validate_features=False)
        return np.asarray(scores, dtype=np.float64)

    def importances(self) -> Vector:
        """Return each feature's total gain."""
        return np.asarray(self.native.feature_importance("gain"), dtype=np.float64)


class LightGBMTrainer:
    """A LightGBM booster in training."""

    def __init__(self, train: Rows, valid: list[Rows], schema: Schema, settings: Settings) -> None:
        params = _params(settings)
        if params["boosting"] == "rf":
            raise ValueError(
                "booster_params must not set boosting='rf': LightGBM's random forests take no "
                "custom objective. Use 'gbdt' or 'dart'."
            )
        refuse_cutting(params["boosting"], settings.early_stopping)
        self._order = None
        if settings.built_in is not None and not train.queries.contiguous:
            self._order = train.queries.order
            train = train.grouped()
        try:
            data = _dataset(train, schema, settings)
            self._booster = lgb.Booster(params, data)
        except lgb.basic.LightGBMError as error:
            raise ValueError(f"LightGBM refuses the parameters or data: {error}") from None
        _refuse_constant(data, schema.n_features)
        for i, rows in enumerate(valid):
            self._booster.add_valid(_dataset(rows, schema, settings, data), f"valid_{i}")

    def step(self, derivatives: Derivatives | None) -> None:
        """Grow one tree."""
        if derivatives is None:
            self._booster.update()
        else:
            self._booster.update(fobj=lambda scores, _: derivatives(scores))

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""
        scores = _capture(self._booster.eval_train)[0]
        if self._order is not None:
            grouped, scores = scores, np.empty(len(scores))
            scores[self._order] = grouped
        return scores

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return _capture(self._booster.eval_valid)

    def finish(self, rounds: int) -> LightGBMModel:
        """Return the model of the first rounds."""
        text = self._booster.model_to_string(num_iteration=rounds)
        return LightGBMModel.load(text.encode())


def _refuse_constant(data: lgb.Dataset, n_features: int) -> None:
    if all(data.feature_num_bin(feature) <= 1 for feature in range(n_features)):
        raise ValueError("X must have a feature that varies: there is nothing to split on.")


def _capture(evaluate: Any) -> list[Vector]:
    """Let LightGBM hand its scores to a metric, which keeps them."""
    seen: list[Vector] = []

    def keep(scores: Any, _: lgb.Dataset) -> tuple[str, float, bool]:
        seen.append(np.array(scores, dtype=np.float64))
        return "kept", 0.0, True

    evaluate(feval=keep)
    return seen


def _params(settings: Settings) -> dict[str, Any]:
    names = lgb.basic._ConfigAliases._get_all_param_aliases()
    aliases = {alias: main for main, others in names.items() for alias in others}
    own = own_params(settings.params, aliases, names, TAKEN)
    layout = {} if "force_row_wise" in own else {"force_col_wise": True}
    bagging = {"bagging_fraction": settings.subsample, "bagging_freq": 1}
    return {
        "objective": settings.built_in or "none",
        "metric": "none",
        "boost_from_average": False,
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.num_leaves,
        "max_depth": -1 if settings.max_depth is None else settings.max_depth,
        "min_data_in_leaf": settings.min_child_samples,
        "feature_fraction": settings.colsample,
        "lambda_l2": settings.reg_lambda,
        "seed": settings.seed,
        "num_threads": settings.n_jobs,
        "deterministic": True,
        **layout,
        "feature_pre_filter": False,
        "verbosity": -1,
        **(bagging if settings.subsample < 1 else {}),
        "boosting": "gbdt",
        **own,
    }


def _dataset(
    rows: Rows, schema: Schema, settings: Settings, reference: lgb.Dataset | None = None
) -> lgb.Dataset:
    built_in = settings.built_in is not None and reference is None
    weight = rows.sample_weight
    if rows.query_weight is not None:
        per_document = rows.query_weight[rows.queries.index]
        weight = per_document if weight is None else weight * per_document
    return lgb.Dataset(
        rows.X,
        rows.labels,
        reference=reference,
        group=rows.queries.sizes if built_in else None,
        weight=weight if built_in else None,
        init_score=rows.init_score,
        feature_name=safe_names(schema) or "auto",
        categorical_feature=schema.categorical or "auto",
        params=_params(settings),
    ).construct()
