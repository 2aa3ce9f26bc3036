"""Parameters that people know from LightGBM, XGBoost and CatBoost, and their names here."""

import functools
import inspect
from typing import Any, TypeVar

from gbrank.common.checks import unknown_name

T = TypeVar("T", bound=type)

# What is used here, and what the boosters and their scikit-learn classes call it.
CALLED = {
    "objective": "application loss loss_function obj",
    "n_estimators": "iterations max_iter n_iter num_boost_round num_iterations num_round "
    "num_rounds num_trees",
    "learning_rate": "eta shrinkage_rate",
    "num_leaves": "max_leaf_nodes max_leaves num_leaf",
    "max_depth": "depth",
    "min_child_samples": "min_child_weight min_data_in_leaf min_data_per_leaf min_samples_leaf "
    "min_sum_hessian_in_leaf",
    "subsample": "bagging_fraction sub_row subsample_freq bagging_freq",
    "subsample_by": "bagging_by_query",
    "colsample": "colsample_bytree feature_fraction rsm sub_feature",
    "extra_trees": "extra_tree",
    "reg_lambda": "l2_leaf_reg l2_regularization lambda_l2",
    "eval_metric": "custom_metric eval_at feval metric metrics ndcg_eval_at",
    "early_stopping_rounds": "early_stopping_round n_iter_no_change od_wait",
    "random_state": "bagging_seed random_seed seed",
    "n_jobs": "nthread num_threads thread_count",
    "verbose": "logging_level silent verbose_eval verbosity",
    "init": "init_model xgb_model",
    "validation_fraction": "eval_fraction",
    "fit(categorical_feature=...)": "cat_features categorical_features enable_categorical",
    "fit(callbacks=...)": "callbacks",
    "fit(init_score=...)": "base_score",
    "booster_params": "alpha bagging_temperature boosting boosting_type booster_type border_count "
    "bootstrap_type class_weight colsample_bylevel colsample_bynode device device_type "
    "feature_types gamma gpu_id grow_policy importance_type interaction_constraints label_gain "
    "lambda_l1 lambdarank_norm lambdarank_num_pair_per_sample lambdarank_pair_method "
    "lambdarank_truncation_level leaf_estimation_iterations linear_tree max_bin max_bins "
    "max_cat_threshold max_cat_to_onehot max_delta_step min_gain_to_split min_split_gain "
    "min_split_loss missing model_size_reg monotone_constraints multi_strategy num_parallel_tree "
    "path_smooth random_strength reg_alpha sampling_method scale_pos_weight subsample_for_bin "
    "task_type tree_learner tree_method",
}
HERE = {name: here for here, names in CALLED.items() for name in names.split()}


def explains_names(cls: T) -> T:
    """Let a class say what stands for an unknown keyword; a class decorator."""
    init, set_params = cls.__init__, cls.set_params  # type: ignore[misc, attr-defined]
    known = list(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def explaining_init(self: Any, *values: Any, **params: Any) -> None:
        for name in sorted(params.keys() - set(known)):
            if name not in HERE:
                raise TypeError(str(unknown_name(f"parameter of {cls.__name__}", name, known)))
            raise TypeError(f"{cls.__name__} has no {name}: use {HERE[name]}.")
        init(self, *values, **params)

    @functools.wraps(set_params)
    def explaining_set_params(self: Any, **params: Any) -> Any:
        for name in sorted(params.keys() & HERE.keys() - self.get_params(deep=False).keys()):
            raise ValueError(f"{cls.__name__} has no {name}: use {HERE[name]}.")
        return set_params(self, **params)

    cls.__init__, cls.set_params = explaining_init, explaining_set_params  # type: ignore[misc, attr-defined]
    return cls
