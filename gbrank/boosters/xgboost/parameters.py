"""The parameters of XGBoost: their names, and what gbrank sets them to."""

import json

import numpy as np
import xgboost as xgb

from gbrank.boosters.booster_params import Options, by_position
from gbrank.boosters.interface import Params, TreeSettings
from gbrank.data.schema import Schema

# Parameters that draw features, besides colsample.
DRAWING = ("colsample_bylevel", "colsample_bynode")
# Parameters in units of the gradient, or of its square.
OF_GRADIENTS = ("alpha", "gamma", "max_delta_step")
# Those of a model, which a configuration lists next to those of training.
OF_MODEL = "learner_model_param"
# https://xgboost.readthedocs.io/en/stable/parameter.html
OPTIONS = Options("xgboost")


def tree_params(settings: TreeSettings) -> Params:
    """Return XGBoost's parameters for these settings, but for the user's."""
    kind = settings.params.get("booster", "gbtree")
    seed_each_round = draws_features(settings) and kind != "dart"
    return {
        "booster": kind,
        # With mean curvature 1 this counts documents, as LightGBM's min_data_in_leaf does.
        "min_child_weight": settings.min_child_samples,
        "base_score": 0.0,
        "eta": settings.learning_rate,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": settings.num_leaves,
        "max_depth": settings.max_depth or 0,
        "colsample_bytree": settings.colsample,
        "lambda": settings.reg_lambda,
        "seed": settings.seed,
        "nthread": settings.n_jobs,
        "seed_per_iteration": seed_each_round,  # draws depend on seed and round only
        "disable_default_eval_metric": True,
    }


def user_params(settings: TreeSettings, params: Params, schema: Schema) -> Params:
    """Return the user's parameters, checked on a booster with a row of placeholder data."""
    placeholder = xgb.DMatrix(np.zeros((1, schema.n_features)), nthread=1)
    booster = xgb.Booster(params, [placeholder])
    known = _names(json.loads(booster.save_config())) | {"verbosity"}
    user = OPTIONS.check(settings.params, params, known)
    user.pop("verbosity", None)
    user = by_position(user, schema)
    if "monotone_constraints" in user:
        user["monotone_constraints"] = tuple(user["monotone_constraints"])  # as XGBoost reads them
    booster.set_param(params | user)
    booster.save_config()
    return user


def draws_features(settings: TreeSettings) -> bool:
    """Return whether XGBoost draws features at random."""
    return settings.colsample < 1 or any(name in settings.params for name in DRAWING)


def _names(config: object) -> set[str]:
    """Return the names of all parameters in a booster's nested configuration."""
    names: set[str] = set()
    if isinstance(config, list):
        return names.union(*map(_names, config))
    if isinstance(config, dict):
        for name, value in config.items():
            holds_parameters = name.endswith("_param") and name != OF_MODEL
            names |= set(value) if holds_parameters else _names(value)
    return names
