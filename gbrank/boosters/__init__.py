"""The boosters that grow the trees, behind one interface; a library is loaded on first use."""

import sys
from collections.abc import Callable
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar, Union

from gbrank.boosters.interface import GradientFunction, State, Steps, TreeSettings

if TYPE_CHECKING:
    from gbrank.boosters.lightgbm.trained_model import LightGBMModel
    from gbrank.boosters.lightgbm.trainer import LightGBMTrainer
    from gbrank.boosters.xgboost.trained_model import XGBoostModel
    from gbrank.boosters.xgboost.trainer import XGBoostTrainer

T = TypeVar("T")
Model: TypeAlias = Union["LightGBMModel", "XGBoostModel"]

TITLES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}

__all__ = ["MODELS", "TITLES", "TRAINERS", "Model", "Trainer", "TreeSettings", "recognise"]


class Trainer(Steps, Protocol):
    """A booster in training."""

    def step(self, derivatives: GradientFunction) -> None:
        """Grow one tree on derivatives at the current scores."""

    def state(self) -> State:
        """Return what a trainer of the same rows needs to resume from here, bit for bit."""

    def finish(self, rounds: int) -> Model:
        """Return the model of the first rounds."""

    def close(self) -> None:
        """Release data, and connections to the other workers of a distributed fit."""


class LoadedOnUse(dict[str, Callable[[], T]]):
    """A mapping whose values are made, by the functions that it holds, when they are asked for."""

    def __getitem__(self, name: str) -> T:  # type: ignore[override]
        return super().__getitem__(name)()


TRAINERS: LoadedOnUse[type["LightGBMTrainer"] | type["XGBoostTrainer"]] = LoadedOnUse(
    lightgbm=partial(resolve_name, "gbrank.boosters.lightgbm.trainer:LightGBMTrainer"),
    xgboost=partial(resolve_name, "gbrank.boosters.xgboost.trainer:XGBoostTrainer"),
)
MODELS: LoadedOnUse[type[Model]] = LoadedOnUse(
    lightgbm=partial(resolve_name, "gbrank.boosters.lightgbm.trained_model:LightGBMModel"),
    xgboost=partial(resolve_name, "gbrank.boosters.xgboost.trained_model:XGBoostModel"),
)


def recognise(model: object) -> tuple[str, Model] | None:
    """Return the booster's name and the wrapped model, if this is a trained model of one."""
    for name in MODELS:
        # A library that is not loaded has made no object.
        if name in sys.modules and (wrapped := MODELS[name].recognise(model)) is not None:
            return name, wrapped
    return None
