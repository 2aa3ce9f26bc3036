"""The boosters that grow the trees, behind one interface."""

from gbrank.boosters.base import Model, Rows, Settings, Trainer, TrainerFactory
from gbrank.boosters.lightgbm import LightGBMModel, LightGBMTrainer
from gbrank.boosters.xgboost import XGBoostModel, XGBoostTrainer

__all__ = ["MODELS", "TRAINERS", "Model", "Rows", "Settings", "Trainer"]

TRAINERS: dict[str, TrainerFactory] = {"lightgbm": LightGBMTrainer, "xgboost": XGBoostTrainer}
MODELS: dict[str, type[Model]] = {"lightgbm": LightGBMModel, "xgboost": XGBoostModel}
