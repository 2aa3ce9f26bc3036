"""LightGBM: what it declares; its library, trainer, model and hook are loaded on first use."""

import re

from gbrank.boosters.booster import Booster, Options
from gbrank.common.words import WORDS

LIGHTGBM = Booster(
    name="lightgbm",
    title="LightGBM",
    library="lightgbm",
    file=re.compile(rb"tree\r?\n"),
    options=Options(**WORDS["lightgbm"]),
    random_thresholds=True,
    params_name="gbrank.boosters.lightgbm.trainer:tree_params",
    trainer_name="gbrank.boosters.lightgbm.trainer:LightGBMTrainer",
    model_name="gbrank.boosters.lightgbm.trained_model:LightGBMModel",
)
