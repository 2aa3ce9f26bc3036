"""The boosters that grow the trees, behind one interface; a library is loaded on first use."""

import sys

from .booster import Booster
from .interface import Model, Trainer, TreeSettings
from .lightgbm import LIGHTGBM
from .xgboost import XGBOOST

__all__ = ["BOOSTERS", "Booster", "Model", "Trainer", "TreeSettings", "recognise"]

BOOSTERS: dict[str, Booster] = {booster.name: booster for booster in (LIGHTGBM, XGBOOST)}


def recognise(model: object) -> Model | None:
    """Wrap a model that one of the boosters has trained; None if none has."""
    for booster in BOOSTERS.values():
        # A library that is not loaded has made no object.
        if sys.modules.get(booster.library) and (wrapped := booster.model.recognise(model)):
            return wrapped
    return None
