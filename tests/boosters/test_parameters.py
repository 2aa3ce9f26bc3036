"""Names and values of the boosters' own parameters: what they may be, what boosters are told."""

import json
import re
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker
from gbrank.boosters import BOOSTERS
from gbrank.boosters.lightgbm.trainer import known_names
from gbrank.common.words import by_name
from optioned import X, Y, scores


def test_every_name_that_lightgbm_knows() -> None:
    """LightGBM's own table is not public, and may be asked in tests only."""
    table = lgb.basic._ConfigAliases._get_all_param_aliases()
    known = known_names()
    theirs = {other: main for main, others in table.items() if main in known for other in others}
    ours = by_name(BOOSTERS["lightgbm"].options.aliases)
    assert {name: ours.get(name, name) for name in theirs} == theirs


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("signs", [{3: 1}, {"shop": -1}, [0, 0, 0, 1, 0, 0], "(0,0,0,-1,0,0)"])
def test_categories_have_no_order(booster: str, signs: Any) -> None:
    """LightGBM would end the process at a constraint on them, and XGBoost would ignore it."""
    frame = pd.DataFrame(X, columns=["a", "b", "c", "shop", "d", "e"])
    ranker = GBRanker(booster=booster, booster_params={"monotone_constraints": signs})
    with pytest.raises(ValueError, match=r"monotone_constraints .*0 for .*categories.*'shop'"):
        ranker.fit(frame, Y, group=[30] * 50, categorical_feature=["shop"])
    other = {3: 1} if signs == {"shop": -1} else signs
    with pytest.raises(ValueError, match=r"monotone_constraints .*got -?1 for column 'f3'\."):
        scores(booster, {"monotone_constraints": other})


@pytest.mark.parametrize(
    ("booster", "params", "other"),
    [
        ("lightgbm", {"boosting": "GOSS"}, {"boosting": "goss"}),
        ("lightgbm", {"boosting": "gbrt"}, {"boosting": None}),
        ("xgboost", {"booster": None, "device": None}, {}),
        *(
            (booster, {"monotone_constraints": f"+1,0,{sign},0,0,0"},
             {"monotone_constraints": [1, 0, -1, 0, 0, 0]})
            for booster, sign in (("lightgbm", "-1"), ("xgboost", " -1"))
        ),
    ],
)  # fmt: skip
def test_other_forms_of_values(booster: str, params: Any, other: Any) -> None:
    """Values that boosters take for others, or for their default."""
    assert_array_equal(scores(booster, params), scores(booster, other))


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_groups_of_columns_as_text(booster: str) -> None:
    """As either booster writes them; a column that there is not is refused."""
    expected = scores(booster, {"interaction_constraints": [[0, 1], [2, 4]]})
    for text in ("[0, 1], [2, 4]", "[[0, 1], [2, 4]]", "[0,1],[2,4]"):
        assert_array_equal(scores(booster, {"interaction_constraints": text}), expected)
    for wrong in ("[0, 9]", "[x]", "0, 1", "nonsense", "", [], "[[]]", [[0.5]], [[None]]):
        with pytest.raises(ValueError, match="interaction_constraints in booster_params must"):
            scores(booster, {"interaction_constraints": wrong})


@pytest.mark.parametrize(
    ("booster", "params"),
    [
        ("lightgbm", {"linear_tree": np.bool_(True), "boosting": np.str_("dart")}),
        ("lightgbm", {"max_bin_by_feature": pd.Series([9, 9, 9, 20, 9, 9])}),
        ("lightgbm", {"interaction_constraints": [np.array([0, 1]), [np.int64(2), 3]]}),
        ("xgboost", {"max_bin": np.array(15), "alpha": np.float32(0.5)}),
        ("xgboost", {"monotone_constraints": np.array([1, 0, 0, 0, 0, 0])}),
    ],
    ids=str,
)
def test_numpys_values_are_pythons(booster: str, params: dict[str, Any]) -> None:
    """One number, an array, or lists with either."""
    own = {
        "max_bin": 15, "alpha": 0.5, "linear_tree": True, "boosting": "dart",
        "monotone_constraints": [1, 0, 0, 0, 0, 0],
        "max_bin_by_feature": [9, 9, 9, 20, 9, 9], "interaction_constraints": [[0, 1], [2, 3]],
    }  # fmt: skip
    expected = scores(booster, {name: own[name] for name in params})
    assert_array_equal(scores(booster, params), expected)
    assert (expected != scores(booster, {})).any()


SETTINGS: dict[str, Any] = {
    "learning_rate": 0.375, "num_leaves": 5, "max_depth": 3, "min_child_samples": 9,
    "colsample": 0.5, "subsample": 0.75, "reg_lambda": 7.5, "random_state": 11, "n_jobs": 1,
}  # fmt: skip
BOTH = {"learning_rate": 0.375, "max_depth": 3, "seed": 11}
OF_LIGHTGBM: dict[str, float] = {
    "num_leaves": 5, "feature_fraction": 0.5, "extra_trees": 1, "lambda_l2": 7.5, "max_bin": 63,
    "num_threads": 1, "deterministic": 1, "force_col_wise": 1, "boost_from_average": 0,
}  # fmt: skip
OF_XGBOOST: dict[str, float] = {
    "max_leaves": 5, "colsample_bytree": 0.5, "lambda": 7.5, "nthread": 1, "boost_from_average": 0,
}  # fmt: skip
AS_SET: dict[str, dict[str, float]] = {
    "lightgbm": OF_LIGHTGBM | {"min_data_in_leaf": 12, "bagging_freq": 0},
    "xgboost": OF_XGBOOST | {"min_child_weight": 9, "subsample": 1, "seed_per_iteration": 1},
}


@pytest.mark.parametrize("booster", AS_SET)
@pytest.mark.parametrize("params", [SETTINGS, SETTINGS | {"max_depth": None}])
def test_what_a_booster_was_told(booster: str, params: dict[str, Any]) -> None:
    """Each setting, once and as it is, as the booster itself says after training."""
    own: dict[str, Any] = {"extra_trees": True} if booster == "lightgbm" else {}
    ranker = GBRanker("ranknet", booster=booster, n_estimators=2, **params, **own)
    model = ranker.fit(X, Y, group=[30] * 50).booster_
    if booster == "lightgbm":
        told = dict(re.findall(r"^\[(\w+): (.*)\]$", model.model_to_string(), re.MULTILINE))
        unlimited, base = -1, 0.0
    else:
        learner = json.loads(model.save_config())["learner"]
        told = learner["gradient_booster"]["tree_train_param"]
        told |= learner["generic_param"] | learner["learner_model_param"]
        unlimited, base = 0, float(told["base_score"].strip("[]"))
    wanted = BOTH | AS_SET[booster]
    wanted["max_depth"] = params["max_depth"] or unlimited
    assert {name: float(told[name]) for name in wanted} == wanted
    assert base == 0


def test_a_smallest_leaf_of_all_documents_in_a_tiny_sample() -> None:
    """LightGBM counts in 32 bits the documents that were not drawn, too."""
    with pytest.warns(UserWarning, match="no tree has a split"):
        GBRanker(subsample=1e-9, n_estimators=1, n_jobs=1).fit(X, Y, group=[30] * 50)
