"""The parameters of LightGBM: their names, and what gbrank sets them to."""

import re
import socket
from functools import cache
from typing import Any

import lightgbm as lgb
import numpy as np

from gbrank.boosters.interface import TreeSettings, user_params
from gbrank.parallel.collective import all_gather, n_workers, own_host

# Parameters that keep a state between rounds, or force splits that gain nothing.
STATEFUL = (
    "cegb_penalty_feature_coupled", "cegb_penalty_feature_lazy", "cegb_penalty_split",
    "cegb_tradeoff", "data_sample_strategy", "forcedsplits_filename", "use_quantized_grad",
)  # fmt: skip
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
ALIASES = {other: main for main, others in OTHER_NAMES.items() for other in others.split()}


@cache
def known_names() -> frozenset[str]:
    """Return the main names of LightGBM's parameters, as the text of a model lists them."""
    options = {"verbosity": -1}
    data = lgb.Dataset(np.arange(2.0)[:, None], np.zeros(2), params=options)
    text = lgb.Booster(options, data).model_to_string()
    return frozenset(re.findall(r"^\[(\w+): ", text, re.MULTILINE))


def tree_params(settings: TreeSettings) -> dict[str, Any]:
    """Return LightGBM's parameters for these settings."""
    user = user_params(settings.params, ALIASES, known_names())
    layout = {} if "force_row_wise" in user else {"force_col_wise": True}
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
        **layout,
        "feature_pre_filter": False,
        "verbosity": -1,
        **sampling,
        "boosting": "gbdt",
        **user,
    }


def network_params() -> dict[str, Any]:
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


def draws_features(params: dict[str, Any]) -> bool:
    """Say whether LightGBM draws features or thresholds at random."""
    drawn = params["feature_fraction"] < 1 or params["extra_trees"]
    return drawn or "feature_fraction_bynode" in params


def stateful(params: dict[str, Any], settings: TreeSettings) -> list[str]:
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
