"""The boosters' parameters: every name of LightGBM's, gbrank takes for the same one."""

import lightgbm as lgb
import pytest

from gbrank import GBRanker, make_cubic
from gbrank.boosters.interface import SET_INSTEAD
from gbrank.boosters.lightgbm.parameters import ALIASES, known_names


def test_every_name_that_lightgbm_knows() -> None:
    """LightGBM's own table is not public, and may be asked in tests only."""
    table = lgb.basic._ConfigAliases._get_all_param_aliases()
    known = known_names()
    theirs = {other: main for main, others in table.items() if main in known for other in others}
    assert {name: ALIASES.get(name, name) for name in theirs} == theirs


def test_names_of_training() -> None:
    """All that gbrank sets itself is among them, and what only predicts or reads files is not."""
    xgboost_only = {"base_score", "eval_metric", "seed_per_iteration"}
    assert {ALIASES.get(name, name) for name in SET_INSTEAD} - known_names() == xgboost_only
    assert "path_smooth" in known_names()
    assert "output_model" not in known_names()


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("name", "argument"),
    [("eta", "learning_rate"), ("min_data_in_leaf", "min_child_samples"),
     ("colsample_bytree", "colsample"), ("feature_fraction", "colsample"),
     ("lambda_l2", "reg_lambda"), ("num_iterations", "n_estimators"), ("nthread", "n_jobs")],
)  # fmt: skip
def test_names_of_either_booster_lead_to_the_argument(
    booster: str, name: str, argument: str
) -> None:
    """Also where the name is the other's."""
    X, y, qid = make_cubic(5, n_documents=5, random_state=0)
    message = f"booster_params must not hold '{name}': use the argument {argument}"
    with pytest.raises(ValueError, match=message):
        GBRanker(booster=booster, booster_params={name: 1}).fit(X, y, qid=qid)
