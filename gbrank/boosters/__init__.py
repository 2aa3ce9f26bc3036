"""The boosters that grow the trees, behind one interface."""

from typing import Any

from gbrank.boosters.interface import Model, Trainer, TrainerFactory, TreeSettings
from gbrank.boosters.lightgbm.trained_model import LightGBMModel
from gbrank.boosters.lightgbm.trainer import LightGBMTrainer
from gbrank.boosters.xgboost.trained_model import XGBoostModel
from gbrank.boosters.xgboost.trainer import XGBoostTrainer

__all__ = ["MODELS", "TRAINERS", "Model", "Trainer", "TreeSettings", "recognise"]

TRAINERS: dict[str, TrainerFactory] = {"lightgbm": LightGBMTrainer, "xgboost": XGBoostTrainer}
MODELS: dict[str, type[Model]] = {"lightgbm": LightGBMModel, "xgboost": XGBoostModel}


def recognise(model: Any) -> tuple[str, Model] | None:
    """Return the booster's name and the wrapped model, if this is a trained model of one."""
    for name, kind in MODELS.items():
        if (wrapped := kind.recognise(model)) is not None:
            return name, wrapped
    return None
