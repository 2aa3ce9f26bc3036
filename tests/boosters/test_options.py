"""Every option of the boosters changes the model, or is refused by name."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gbrank import GBRanker
from gbrank.boosters import BOOSTERS
from gbrank.boosters.lightgbm.trainer import known_names
from gbrank.common.words import by_name
from optioned import X, Y, scores

DART, GOSS = {"boosting": "dart", "drop_rate": 0.5}, {"data_sample_strategy": "goss"}
QUANTIZED, RISING = {"use_quantized_grad": True}, {"monotone_constraints": [1] * 3 + [0] * 3}
# A value of each option that makes another model, and what it needs beside it.
EFFECTIVE: dict[str, dict[str, tuple[Any, dict[str, Any]]]] = {
    "lightgbm": {
        "bin_construct_sample_cnt": (1000, {}),
        "boosting": ("dart", {}),
        "cat_l2": (50.0, {"min_data_per_group": 5}),
        "cat_smooth": (50.0, {}),
        "cegb_penalty_feature_coupled": ([9.0] * 6, {}),
        "cegb_penalty_feature_lazy": ([0.1] * 6, {}),
        "cegb_penalty_split": (0.1, {}),
        "cegb_tradeoff": (5.0, {"cegb_penalty_split": 0.01}),
        "data_sample_strategy": ("goss", {}),
        "drop_rate": (0.9, {"boosting": "dart"}),
        "drop_seed": (9, DART),
        "enable_bundle": (False, {}),
        "extra_seed": (8, {}),
        "feature_contri": ([0.1] * 3 + [1.0] * 3, {}),
        "feature_fraction_bynode": (0.5, {}),
        "feature_fraction_seed": (9, {}),
        "forcedbins_filename": ("bins.json", {}),
        "forcedsplits_filename": ("splits.json", {}),
        "interaction_constraints": ([[0, 1], [2, 3]], {}),
        "lambda_l1": (5.0, {}),
        "linear_lambda": (9.0, {"linear_tree": True}),
        "linear_tree": (True, {}),
        "max_bin": (15, {}),
        "max_bin_by_feature": ([10] * 6, {}),
        "max_cat_threshold": (2, {}),
        "max_cat_to_onehot": (90, {}),
        "max_delta_step": (0.01, {}),
        "max_drop": (1, DART | {"skip_drop": 0.0, "drop_rate": 0.9}),
        "min_data_in_bin": (300, {}),
        "min_data_per_group": (300, {}),
        "min_gain_to_split": (5.0, {}),
        "min_sum_hessian_in_leaf": (50.0, {}),
        "monotone_constraints": ([-1] * 3 + [0] * 3, {}),
        "monotone_constraints_method": ("advanced", RISING),
        "monotone_penalty": (3.0, RISING),
        "num_grad_quant_bins": (32, QUANTIZED),
        "other_rate": (0.3, GOSS),
        "path_smooth": (9.0, {}),
        "quant_train_renew_leaf": (True, QUANTIZED),
        "skip_drop": (0.0, DART | {"drop_seed": 3}),
        "stochastic_rounding": (False, QUANTIZED),
        "top_rate": (0.5, GOSS),
        "uniform_drop": (True, DART | {"skip_drop": 0.0}),
        "use_missing": (False, {}),
        "use_quantized_grad": (True, {}),
        "xgboost_dart_mode": (True, DART | {"skip_drop": 0.0}),
        "zero_as_missing": (True, {}),
    },
    "xgboost": {
        "alpha": (5.0, {}),
        "booster": ("dart", {}),
        "colsample_bylevel": (0.5, {}),
        "colsample_bynode": (0.5, {}),
        "gamma": (50.0, {}),
        "grow_policy": ("depthwise", {"colsample_bynode": 0.5}),
        "interaction_constraints": ([[0, 1], [2, 3]], {}),
        "max_bin": (15, {}),
        "max_cat_threshold": (1, {}),
        "max_cat_to_onehot": (90, {}),
        "max_delta_step": (0.01, {}),
        "monotone_constraints": ([-1, -1, -1, 0, 0, 0], {}),
        "normalize_type": ("forest", {"booster": "dart", "rate_drop": 0.5}),
        "num_parallel_tree": (2, {}),
        "one_drop": (1, {"booster": "dart"}),
        "rate_drop": (0.5, {"booster": "dart"}),
        "sample_type": ("weighted", {"booster": "dart", "rate_drop": 0.5}),
        "skip_drop": (0.5, {"booster": "dart", "rate_drop": 0.5}),
        "tree_method": ("approx", {}),
    },
}
# Options that change seconds, memory, messages, or what is trained on, but no tree here.
OF_THE_MACHINE = {
    "lightgbm": {"deterministic", "device_type", "feature_pre_filter", "force_col_wise",
                 "force_row_wise", "histogram_pool_size", "is_enable_sparse", "verbosity"},
    "xgboost": {"debug_synchronize", "device", "extmem_single_page", "max_cached_hist_node",
                "verbosity"},
}  # fmt: skip


@cache
def scores_by_default(booster: str) -> Any:
    """Return the scores without any option, once for all tests."""
    return scores(booster, {})


@pytest.fixture
def forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the files that some options name, and go where they are."""
    bins = [{"feature": 1, "bin_upper_bound": [0.1, 0.4]}]
    (tmp_path / "bins.json").write_text(json.dumps(bins), encoding="utf-8")
    splits = {"feature": 1, "threshold": 0.1}
    (tmp_path / "splits.json").write_text(json.dumps(splits), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("forced")
@pytest.mark.parametrize(
    ("booster", "name"), [(booster, name) for booster, names in EFFECTIVE.items() for name in names]
)
def test_options_that_change_the_model(booster: str, name: str) -> None:
    """With what they need beside them."""
    value, beside = EFFECTIVE[booster][name]
    without = scores(booster, beside) if beside else scores_by_default(booster)
    assert (scores(booster, {**beside, name: value}) != without).any()


def names_of(booster: str) -> set[str]:
    """Return the main names that a booster lists for itself."""
    if booster == "lightgbm":
        return set(known_names())
    ranker = GBRanker(
        "ranknet", booster="xgboost", n_estimators=1, booster_params={"booster": "dart"}
    )
    listed, names = [json.loads(ranker.fit(X, Y, group=[30] * 50).booster_.save_config())], set()
    while listed:
        part = listed.pop()
        listed += (
            part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        )
        names |= set(part) if isinstance(part, dict) else set()
    return names - by_name(BOOSTERS["xgboost"].options.aliases).keys()


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_every_other_option_is_refused(booster: str) -> None:
    """By name, whatever else the booster lists: nothing is taken and not heeded."""
    taken, names = set(), names_of(booster) - EFFECTIVE[booster].keys() - OF_THE_MACHINE[booster]
    assert len(names) > 40
    for name in names:
        try:
            scores(booster, {name: 1})
            taken.add(name)
        except ValueError as error:
            assert re.search(rf"booster.param.*'{name}'", str(error))  # noqa: PT017
    assert taken == set()
