"""The boosters that grow the trees, behind one interface; a library is loaded on first use."""

import sys

from gbrank.boosters.interface import Model, Trainer, TrainerFactory, TreeSettings
from gbrank.common.on_use import LoadedOnUse

__all__ = ["MODELS", "TRAINERS", "Model", "Trainer", "TreeSettings", "recognise"]


def _lightgbm_trainer() -> TrainerFactory:
    from gbrank.boosters.lightgbm.trainer import LightGBMTrainer

    return LightGBMTrainer


def _xgboost_trainer() -> TrainerFactory:
    from gbrank.boosters.xgboost.trainer import XGBoostTrainer

    return XGBoostTrainer


def _lightgbm_model() -> type[Model]:
    from gbrank.boosters.lightgbm.trained_model import LightGBMModel

    return LightGBMModel


def _xgboost_model() -> type[Model]:
    from gbrank.boosters.xgboost.trained_model import XGBoostModel

    return XGBoostModel


TRAINERS = LoadedOnUse(lightgbm=_lightgbm_trainer, xgboost=_xgboost_trainer)
MODELS = LoadedOnUse(lightgbm=_lightgbm_model, xgboost=_xgboost_model)


def recognise(model: object) -> tuple[str, Model] | None:
    """Return the booster's name and the wrapped model, if this is a trained model of one."""
    for name in MODELS:
        # A library that is not loaded has made no object.
        if name in sys.modules and (wrapped := MODELS[name].recognise(model)) is not None:
            return name, wrapped
    return None
