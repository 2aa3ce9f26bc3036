"""XGBoost: what it declares; its library, trainer, model and hook are loaded on first use."""

import re

from gbrank.boosters.booster import Booster, Options
from gbrank.common.words import WORDS

XGBOOST = Booster(
    name="xgboost",
    title="XGBoost",
    library="xgboost",
    file=re.compile(rb"(?s)\{.*?(?<!\\\")\blearner\b"),
    options=Options(**WORDS["xgboost"]),
    random_thresholds=False,
    params_name="gbrank.boosters.xgboost.trainer:tree_params",
    trainer_name="gbrank.boosters.xgboost.trainer:XGBoostTrainer",
    model_name="gbrank.boosters.xgboost.trained_model:XGBoostModel",
)
