"""The boosters that grow the trees, behind one interface."""

from gbrank.boosters.interface import Model, Settings, Trainer, TrainerFactory
from gbrank.boosters.lightgbm.trainer import LightGBMModel, LightGBMTrainer
from gbrank.boosters.xgboost.trainer import XGBoostModel, XGBoostTrainer

__all__ = ["MODELS", "TRAINERS", "Model", "Settings", "Trainer"]

TRAINERS: dict[str, TrainerFactory] = {"lightgbm": LightGBMTrainer, "xgboost": XGBoostTrainer}
MODELS: dict[str, type[Model]] = {"lightgbm": LightGBMModel, "xgboost": XGBoostModel}
