"""What users pass on to the boosters: each option does something, or is refused by name."""

import json
import re
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from gbrank import GBRanker, make_cubic
from gbrank.boosters.booster_params import SET_INSTEAD, by_position
from gbrank.boosters.lightgbm.parameters import OPTIONS, known_names
from gbrank.boosters.xgboost.parameters import OPTIONS as XGBOOST_OPTIONS
from gbrank.common.plain import plain
from gbrank.data.schema import Schema

N = 1500
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 4, N).astype(float)
X = RNG.normal(size=(N, 6)) + 0.5 * Y[:, None]
X[:, 0] = X[:, 0].round(1)
X[:, 3] = RNG.integers(0, 30, N) + 3 * Y  # categories
X[:, 4] = np.where(RNG.random(N) < 0.4, 0, X[:, 4])
X[RNG.random(N) < 0.2, 5] = np.nan


def scores(booster: str, params: dict[str, Any], **more: Any) -> NDArray[np.float64]:
    """Return what a small ranker predicts."""
    defaults = {"n_estimators": 12, "learning_rate": 0.2, "num_leaves": 20,
                "min_child_samples": 5, "colsample": 0.7}  # fmt: skip
    params = {"max_bin": 255, **params}
    options: dict[str, Any] = {"random_state": 0, "n_jobs": 1, **defaults, **more}
    ranker = GBRanker("ranknet", booster=booster, booster_params=params, **options)
    return ranker.fit(X, Y, group=[30] * 50, categorical_feature=[3]).predict(X)


# --- Names ------------------------------------------------------------------------------------


def test_every_name_that_lightgbm_knows() -> None:
    """LightGBM's own table is not public, and may be asked in tests only."""
    table = lgb.basic._ConfigAliases._get_all_param_aliases()
    known = known_names()
    theirs = {other: main for main, others in table.items() if main in known for other in others}
    assert {name: OPTIONS.aliases.get(name, name) for name in theirs} == theirs


def test_names_of_training() -> None:
    """All that gbrank sets itself is among them, and what only predicts or reads files is not."""
    xgboost_only = {"base_score", "disable_default_eval_metric", "eval_metric",
                    "seed_per_iteration"}  # fmt: skip
    unknown = {OPTIONS.aliases.get(name, name) for name in SET_INSTEAD} - known_names()
    assert unknown - {"bagging_by_query"} == xgboost_only  # LightGBM 4.5 does not have that one
    assert "path_smooth" in known_names()
    assert "output_model" not in known_names()


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize(
    ("name", "argument"),
    [("eta", "learning_rate"), ("min_data_in_leaf", "min_child_samples"),
     ("colsample_bytree", "colsample"), ("feature_fraction", "colsample"),
     ("lambda_l2", "reg_lambda"), ("num_iterations", "n_estimators"), ("nthread", "n_jobs"),
     ("early_stopping_rounds", "early_stopping_rounds")],
)  # fmt: skip
def test_names_of_either_booster_lead_to_the_argument(
    booster: str, name: str, argument: str
) -> None:
    """Also where the name is the other's."""
    X, y, qid = make_cubic(5, n_documents=5, random_state=0)
    message = f"booster_params must not hold '{name}': use the argument {argument}"
    with pytest.raises(ValueError, match=message):
        GBRanker(booster=booster, booster_params={name: 1}).fit(X, y, qid=qid)


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_all_wrong_names_at_once(booster: str) -> None:
    """Those that would not be heeded, then those that are unknown."""
    wrong = {"eta": 1, "colour": 2, "rate_drop": 0.5, "max_bin": 7, "nthread": 2, "taste": 3}
    kind = {"lightgbm": "boosting", "xgboost": "booster"}[booster]
    with pytest.raises(ValueError, match="booster_params must not hold") as caught:
        scores(booster, wrong)
    said = str(caught.value)
    assert said.startswith(
        "booster_params must not hold 'eta': use the argument learning_rate; 'rate_drop', which "
        f"has no effect without {kind}=dart; 'nthread': use the argument n_jobs. "
    )
    assert "unknown booster parameter 'colour'." in said
    assert "unknown booster parameter 'taste'." in said
    assert "max_bin'" not in said


# --- Effects ----------------------------------------------------------------------------------

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
    assert (scores(booster, {**beside, name: value}) != scores(booster, beside)).any()


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
    return names - XGBOOST_OPTIONS.aliases.keys()


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


@pytest.mark.parametrize(
    ("booster", "name", "instead"),
    [
        ("lightgbm", "lambdarank_truncation_level", "objective='lambda:ndcg@10'"),
        ("lightgbm", "label_gain", "gain="),
        ("lightgbm", "sigmoid", "argument sigma"),
        ("lightgbm", "unbalance", "argument sample_weight of fit"),
        ("lightgbm", "scale_pos_weight", "argument sample_weight of fit"),
        ("lightgbm", "objective_seed", "argument random_state"),
        ("lightgbm", "tweedie_variance_power", "argument objective"),
        ("lightgbm", "ndcg_at", "argument eval_metric"),
        ("lightgbm", "metric_freq", "argument eval_metric"),
        ("lightgbm", "early_stopping_min_delta", "argument early_stopping_rounds"),
        ("lightgbm", "has_header", "give fit their columns"),
        ("lightgbm", "query_column", "give fit their columns"),
        ("lightgbm", "weight", "give fit their columns"),
        ("lightgbm", "cat_feature", "argument categorical_feature of fit"),
        ("lightgbm", "mlist", "gbrank.distributed"),
        ("lightgbm", "num_class", "one score"),
        ("lightgbm", "predict_raw_score", "arguments of predict"),
        ("lightgbm", "drop_rate", "without boosting=dart"),
        ("lightgbm", "top_rate", "without data_sample_strategy=goss or boosting=goss"),
        ("lightgbm", "linear_lambda", "without linear_tree=True"),
        ("lightgbm", "mc_method", "without monotone_constraints"),
        ("lightgbm", "gpu_device_id", "without device_type=gpu or device_type=cuda"),
        ("lightgbm", "time_out", "without num_machines"),
        ("xgboost", "scale_pos_weight", "argument sample_weight of fit"),
        ("xgboost", "lambdarank_pair_method", "objective='lambda:ndcg@10'"),
        ("xgboost", "ndcg_exp_gain", "gain="),
        ("xgboost", "huber_slope", "argument objective"),
        ("xgboost", "sampling_method", "argument subsample"),
        ("xgboost", "disable_default_eval_metric", "argument eval_metric"),
        ("xgboost", "rate_drop", "without booster=dart"),
        ("xgboost", "validate_parameters", "names are always checked"),
        ("xgboost", "refresh_leaf", "trees are always grown"),
        ("xgboost", "process_type", "trees are always grown"),
        ("xgboost", "updater", "follow from tree_method"),
    ],
)
def test_what_to_do_instead(booster: str, name: str, instead: str) -> None:
    """The error says it, and has the name that was given."""
    with pytest.raises(ValueError, match=f"booster_params must not hold '{name}'.*{instead}"):
        scores(booster, {name: 1})


@pytest.mark.parametrize("name", ["forcedbins_filename", "forcedsplits_filename", "fs"])
@pytest.mark.parametrize("content", [None, "{"])
def test_files_that_cannot_be_read(name: str, content: str | None, tmp_path: Path) -> None:
    """LightGBM itself goes on without them."""
    file = tmp_path / "splits.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    main = OPTIONS.aliases.get(name, name)
    with pytest.raises(
        ValueError, match=rf"{main} in booster_params must name a JSON file.*splits"
    ):
        scores("lightgbm", {name: str(file)})


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("signs", [{3: 1}, {"shop": -1}, [0, 0, 0, 1, 0, 0], "(0,0,0,-1,0,0)"])
def test_categories_have_no_order(booster: str, signs: Any) -> None:
    """LightGBM would end the process at a constraint on them, and XGBoost would ignore it."""
    frame = pd.DataFrame(X, columns=["a", "b", "c", "shop", "d", "e"])
    ranker = GBRanker(booster=booster, booster_params={"monotone_constraints": signs})
    with pytest.raises(ValueError, match=r"monotone_constraints .*0 for .*categories.*'shop'"):
        ranker.fit(frame, Y, group=[30] * 50, categorical_feature=["shop"])
    other = {3: 1} if signs == {"shop": -1} else signs
    with pytest.raises(ValueError, match=r"monotone_constraints .*got -?1 for column 3\."):
        scores(booster, {"monotone_constraints": other})


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
        ("lightgbm", {"lambda_l1": np.inf}),
        ("lightgbm", {"feature_contri": [1.0] * 5 + [np.nan]}),
        ("xgboost", {"alpha": np.float32("nan")}),
        ("xgboost", {"verbosity": 9}),
    ],
    ids=str,
)
def test_numbers_that_no_booster_heeds(booster: str, params: dict[str, Any]) -> None:
    """Infinite ones and NaN are refused by name, and so is what XGBoost itself refuses."""
    (name,) = params
    with pytest.raises(ValueError, match=name):
        scores(booster, params)
    scores(booster, {})  # nothing of it stays set in the process


def test_a_method_that_lightgbm_does_not_know() -> None:
    """It would take the first one."""
    method = {"monotone_constraints": [1, 0, 0, 0, 0, 0], "monotone_constraints_method": "best"}
    with pytest.raises(ValueError, match="monotone_constraints_method in booster_params must be"):
        scores("lightgbm", method)


# --- Values -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("booster", "params"),
    [
        ("lightgbm", {"max_bin": np.int64(15), "lambda_l1": np.float32(0.5)}),
        ("lightgbm", {"linear_tree": np.bool_(True), "boosting": np.str_("dart")}),
        ("lightgbm", {"monotone_constraints": np.array([1, 0, 0, 0, 0, 0], dtype=np.int8)}),
        ("lightgbm", {"max_bin_by_feature": pd.Series([9, 9, 9, 20, 9, 9])}),
        ("lightgbm", {"interaction_constraints": [np.array([0, 1]), [np.int64(2), 3]]}),
        ("xgboost", {"max_bin": np.int64(15), "alpha": np.float32(0.5)}),
        ("xgboost", {"max_bin": np.array(15), "tree_method": np.str_("approx")}),
        ("xgboost", {"monotone_constraints": np.array([1, 0, 0, 0, 0, 0])}),
        ("xgboost", {"monotone_constraints": (np.int8(1), 0, 0, 0, 0, 0)}),
        ("xgboost", {"interaction_constraints": [np.array([0, 1]), [np.int64(2), 3]]}),
    ],
    ids=str,
)
def test_numpys_values_are_pythons(booster: str, params: dict[str, Any]) -> None:
    """One number, an array, or lists with either."""
    own = {
        "max_bin": 15, "lambda_l1": 0.5, "alpha": 0.5, "linear_tree": True, "boosting": "dart",
        "tree_method": "approx", "monotone_constraints": [1, 0, 0, 0, 0, 0],
        "max_bin_by_feature": [9, 9, 9, 20, 9, 9], "interaction_constraints": [[0, 1], [2, 3]],
    }  # fmt: skip
    expected = scores(booster, {name: own[name] for name in params})
    assert_array_equal(scores(booster, params), expected)
    assert (expected != scores(booster, {})).any()


def test_plain_values() -> None:
    """All the way down, with types that JSON knows."""
    value = {
        "a": [np.int64(1), (np.float32(0.5),)],
        "b": np.arange(2),
        np.str_("c"): np.bool_(True),
    }
    result = plain(value)
    assert result == {"a": [1, (0.5,)], "b": [0, 1], "c": True}
    assert json.dumps(result) == '{"a": [1, [0.5]], "b": [0, 1], "c": true}'
    assert isinstance(result["a"][1], tuple)


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


@pytest.mark.parametrize("rows", [True, False])
def test_how_lightgbm_counts(rows: bool) -> None:
    """By columns, unless it is asked for rows; thresholds that are not drawn are fine ones."""
    given = {"force_row_wise": True} if rows else {}
    ranker = GBRanker(n_estimators=1, extra_trees=False, booster_params=given)
    text = ranker.fit(X, Y, group=[30] * 50).booster_.model_to_string()
    told = dict(re.findall(r"^\[(\w+): (.*)\]$", text, re.MULTILINE))
    assert [told[f"force_{name}_wise"] for name in ("row", "col")] == [f"{rows:d}", f"{not rows:d}"]
    assert told["max_bin"] == "255"


@pytest.mark.parametrize("signs", [{"b": -1}, {1: -1}, [0, -1, 0], "(0, -1, 0)", "0,-1,0"])
def test_columns_that_no_sign_names_are_free(signs: Any) -> None:
    schema = Schema(3, ["a", "b", "c"], [], {})
    assert by_position({"monotone_constraints": signs}, schema) == {
        "monotone_constraints": [0, -1, 0]
    }


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("value", [2**32 + 5, -(2**31), [1, 2**40]])
def test_integers_that_would_be_others_in_32_bits(booster: str, value: Any) -> None:
    with pytest.raises(ValueError, match=r"max_bin in booster_params must be .* 2147483647 in s"):
        scores(booster, {"max_bin": value})


def test_a_smallest_leaf_of_all_documents_in_a_tiny_sample() -> None:
    """LightGBM counts in 32 bits the documents that were not drawn, too."""
    with pytest.warns(UserWarning, match="no tree has a split"):
        GBRanker(subsample=1e-9, n_estimators=1, n_jobs=1).fit(X, Y, group=[30] * 50)
