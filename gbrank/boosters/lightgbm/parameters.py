"""The parameters of LightGBM: their names, and what gbrank sets them to."""

import json
import re
import socket
from functools import cache
from pathlib import Path

import lightgbm as lgb
import numpy as np

from gbrank.boosters.booster_params import Options
from gbrank.boosters.interface import Params, TreeSettings
from gbrank.parallel.collective import all_gather, n_workers, own_host

# Parameters that keep a state between rounds, or force splits that gain nothing.
STATEFUL = (
    "cegb_penalty_feature_coupled",
    "cegb_penalty_feature_lazy",
    "cegb_penalty_split",
    "cegb_tradeoff",
    "data_sample_strategy",
    "forcedsplits_filename",
    "use_quantized_grad",
)
# https://lightgbm.readthedocs.io/en/stable/Parameters.html
OTHER_NAMES = {
    "bagging_fraction": "bagging sub_row subsample",
    "bagging_freq": "subsample_freq",
    "bagging_seed": "bagging_fraction_seed",
    "bin_construct_sample_cnt": "subsample_for_bin",
    "boosting": "boost boosting_type",
    "categorical_feature": "cat_column cat_feature categorical_column categorical_features",
    "data": "data_filename train train_data train_data_file",
    "data_random_seed": "data_seed",
    "device_type": "device",
    "drop_rate": "rate_drop",
    "early_stopping_round": "early_stopping early_stopping_rounds n_iter_no_change",
    "enable_bundle": "bundle is_enable_bundle",
    "eval_at": "map_at map_eval_at ndcg_at ndcg_eval_at",
    "extra_trees": "extra_tree",
    "feature_contri": "fc feature_contrib feature_penalty fp",
    "feature_fraction": "colsample_bytree sub_feature",
    "feature_fraction_bynode": "colsample_bynode sub_feature_bynode",
    "forcedsplits_filename": "forced_splits forced_splits_file forced_splits_filename fs",
    "group_column": "group group_id query query_column query_id",
    "header": "has_header",
    "histogram_pool_size": "hist_pool_size",
    "ignore_column": "blacklist ignore_feature",
    "is_enable_sparse": "enable_sparse is_sparse sparse",
    "is_unbalance": "unbalance unbalanced_sets",
    "label_column": "label",
    "lambda_l1": "l1_regularization reg_alpha",
    "lambda_l2": "l2_regularization lambda reg_lambda",
    "learning_rate": "eta shrinkage_rate",
    "linear_tree": "linear_trees",
    "local_listen_port": "local_port port",
    "machine_list_filename": "machine_list machine_list_file mlist",
    "machines": "nodes workers",
    "max_bin": "max_bins",
    "max_delta_step": "max_leaf_output max_tree_output",
    "metric": "metric_types metrics",
    "min_data_in_leaf": "min_child_samples min_data min_data_per_leaf min_samples_leaf",
    "min_gain_to_split": "min_split_gain",
    "min_sum_hessian_in_leaf": "min_child_weight min_hessian "
    "min_sum_hessian min_sum_hessian_per_leaf",
    "monotone_constraints": "mc monotone_constraint monotonic_cst",
    "monotone_constraints_method": "mc_method monotone_constraining_method",
    "monotone_penalty": "mc_penalty monotone_splits_penalty ms_penalty",
    "neg_bagging_fraction": "neg_bagging neg_sub_row neg_subsample",
    "num_class": "num_classes",
    "num_iterations": "max_iter n_estimators n_iter nrounds num_boost_round "
    "num_iteration num_round num_rounds num_tree num_trees",
    "num_leaves": "max_leaf max_leaf_nodes max_leaves num_leaf",
    "num_machines": "num_machine",
    "num_threads": "n_jobs nthread nthreads num_thread",
    "objective": "app application loss objective_type",
    "pos_bagging_fraction": "pos_bagging pos_sub_row pos_subsample",
    "pre_partition": "is_pre_partition",
    "seed": "random_seed random_state",
    "top_k": "topk",
    "tree_learner": "tree tree_learner_type tree_type",
    "two_round": "two_round_loading use_two_round_loading",
    "valid": "test test_data test_data_file valid_data valid_data_file valid_filenames",
    "verbosity": "verbose",
    "weight_column": "weight",
}
OPTIONS = Options(
    OTHER_NAMES,
    own={
        "name a measure, as in objective='lambda:ndcg@10'": "lambdarank_norm "
        "lambdarank_truncation_level",
        "gains are the measure's, as in objective='lambda:ndcg(gain=(0, 1, 3, 7))'": "label_gain",
        "use the argument sigma": "sigmoid",
        "use the argument position of fit": "lambdarank_position_bias_regularization",
        "use the argument sample_weight of fit": "is_unbalance scale_pos_weight",
        "use the argument init": "boost_from_average",
        "use the argument random_state": "data_random_seed objective_seed",
        "use the argument objective": "alpha fair_c poisson_max_delta_step reg_sqrt "
        "tweedie_variance_power",
    },
    idle={
        "use the argument eval_metric": "auc_mu_weights eval_at first_metric_only "
        "is_provide_training_metric metric_freq multi_error_top_k",
        "use the argument early_stopping_rounds": "early_stopping_min_delta",
        "read files by read_letor or split_frame, and give fit their columns": "data group_column "
        "header ignore_column label_column parser_config_file precise_float_parser save_binary "
        "two_round valid weight_column",
        "use the arguments of predict": "num_iteration_predict pred_early_stop "
        "pred_early_stop_freq pred_early_stop_margin predict_contrib predict_disable_shape_check "
        "predict_leaf_index predict_raw_score start_iteration_predict",
        "use save, load and feature_importances_": "input_model output_model output_result "
        "saved_feature_importance_type snapshot_freq",
        "a document has one score": "num_class",
        "workers keep their own rows": "pre_partition",
        "workers share their histograms": "top_k",
        "fit again, with the argument init": "refit_decay_rate",
        "it is for LightGBM's own command line": "config convert_model convert_model_language task",
    },
    needs={
        "boosting=dart": "drop_rate drop_seed max_drop skip_drop uniform_drop xgboost_dart_mode",
        "data_sample_strategy=goss|boosting=goss": "other_rate top_rate",
        "device_type=gpu|device_type=cuda": "gpu_device_id gpu_device_id_list gpu_platform_id "
        "gpu_use_dp num_gpu",
        "extra_trees=True": "extra_seed",
        "linear_tree=True": "linear_lambda",
        "monotone_constraints": "monotone_constraints_method monotone_penalty",
        "num_machines": "time_out",
        "use_quantized_grad=True": "num_grad_quant_bins quant_train_renew_leaf stochastic_rounding",
    },
)
# A threshold drawn from all need not be a fine one: a tenth less time, at the same quality.
BINS_OF_RANDOM_THRESHOLDS = 63
# Options that name a file, of which LightGBM does not say that it cannot read it.
FILES = ("forcedbins_filename", "forcedsplits_filename")


@cache
def known_names() -> frozenset[str]:
    """Return the main names of LightGBM's parameters, as the text of a model lists them."""
    options = {"verbosity": -1}
    data = lgb.Dataset(np.arange(2.0)[:, None], np.zeros(2), params=options)
    text = lgb.Booster(options, data).model_to_string()
    return frozenset(re.findall(r"^\[(\w+): ", text, re.MULTILINE))


def tree_params(settings: TreeSettings) -> Params:
    """Return LightGBM's parameters for these settings."""
    given = _given(settings)
    workers = {"num_machines": n_workers()} if n_workers() > 1 else {}
    built_in = settings.built_in is not None
    user = OPTIONS.check(settings.params, given | workers, known_names(), built_in)
    if user.get("boosting") == "rf":
        raise ValueError(
            "booster_params must not set boosting='rf': a random forest does not boost, "
            "and takes no objective of gbrank. Use 'gbdt' or 'dart'."
        )
    _check_files(user)
    own: Params = {} if "force_row_wise" in user else {"force_col_wise": True}
    if settings.extra_trees:
        own["max_bin"] = BINS_OF_RANDOM_THRESHOLDS
    return given | own | user


def _given(settings: TreeSettings) -> Params:
    """Return the parameters that gbrank sets, whatever the user's."""
    min_data, sampling = settings.min_child_samples, {}
    if settings.subsample < 1 and settings.built_in is not None:
        sampling = {"bagging_fraction": settings.subsample, "bagging_freq": 1}
    elif settings.subsample < 1:
        min_data = round(min_data / settings.subsample)  # LightGBM counts those left out too
    return {
        "objective": settings.built_in or "none",
        "metric": "none",
        "boost_from_average": False,
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.num_leaves,
        "max_depth": -1 if settings.max_depth is None else settings.max_depth,
        "min_data_in_leaf": min_data,
        "feature_fraction": settings.colsample,
        "extra_trees": settings.extra_trees,
        "lambda_l2": settings.reg_lambda,
        "seed": settings.seed,
        "num_threads": settings.n_jobs,
        "deterministic": True,
        "feature_pre_filter": False,
        "verbosity": -1,
        **sampling,
        "boosting": "gbdt",
    }


def _check_files(user: Params) -> None:
    """Refuse files of which LightGBM would make nothing, without a word."""
    for name in FILES:
        if name in user:
            try:
                json.loads(Path(user[name]).read_bytes())
            except (OSError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{name} in booster_params must name a JSON file, got {user[name]!r}: {error}"
                ) from None


def network_params() -> Params:
    """Return the parameters that connect LightGBM to all workers of a distributed fit."""
    if n_workers() == 1:
        return {}
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    return {
        "tree_learner": "data",
        "machines": ",".join(all_gather(f"{own_host()}:{port}")),
        "num_machines": n_workers(),
        "local_listen_port": port,
    }


def draws_features(params: Params) -> bool:
    """Say whether LightGBM draws features or thresholds at random."""
    drawn = params["feature_fraction"] < 1 or params["extra_trees"]
    return drawn or "feature_fraction_bynode" in params


def stateful(params: Params, settings: TreeSettings) -> list[str]:
    """Return the settings that keep a resumed fit from giving the same model."""
    obstacles = [name for name in STATEFUL if name in params]
    if params["boosting"] != "gbdt":
        obstacles.append(f"boosting={params['boosting']!r}")
    if settings.built_in is not None:
        if draws_features(params) or "bagging_fraction" in params:
            obstacles.append("sampling by the booster's own objective")
        if "linear_tree" in params:
            obstacles.append("linear_tree and the booster's own objective")
        if "xendcg" in settings.built_in:
            obstacles.append("its rank_xendcg")
    return obstacles
