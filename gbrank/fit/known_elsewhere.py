"""Words that people know from RankLib, LightGBM, XGBoost and CatBoost, and what stands for each."""

import ast
import functools
import inspect
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar, cast

from gbrank.common.checks import quoted, unknown_name
from gbrank.common.table import Table

T = TypeVar("T", bound=type)
M = TypeVar("M", bound=Callable[..., Any])

LIBRARIES = {
    "ranklib": "RankLib",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
}


class Row(NamedTuple):
    """What stands here for words of other libraries; those with () are callbacks."""

    here: str  # NAME stands for the word itself
    ranklib: str = ""
    lightgbm: str = ""
    xgboost: str = ""
    catboost: str = ""


# The first name of each library is the one that most people use.
TABLE = (
    Row(
        'use `GBRanker(objective="lambda:ndcg@10")`',
        "-ranker -metric2t",
        "objective application loss",
        "objective obj",
        "loss_function objective",
    ),
    Row(
        'use `GBRanker(eval_metric="ndcg@10")`',
        "-metric2T",
        "eval_metric metric metrics feval",
        "eval_metric custom_metric feval",
        "eval_metric custom_metric",
    ),
    Row(
        'use `GBRanker(eval_metric=["ndcg@1", "ndcg@5"])`',
        lightgbm="eval_at ndcg_eval_at map_eval_at",
    ),
    Row(
        "use `GBRanker(n_estimators=...)`",
        "-tree",
        "n_estimators num_iterations num_boost_round n_iter max_iter num_round num_rounds "
        "num_trees",
        "n_estimators num_boost_round num_round",
        "iterations n_estimators num_boost_round num_trees",
    ),
    Row(
        "use `GBRanker(learning_rate=...)`",
        "-shrinkage",
        "learning_rate eta shrinkage_rate",
        "learning_rate eta",
        "learning_rate eta",
    ),
    Row(
        "use `GBRanker(num_leaves=...)`",
        "-leaf",
        "num_leaves max_leaves max_leaf_nodes num_leaf",
        "max_leaves",
        "num_leaves max_leaves",
    ),
    Row("use `GBRanker(max_depth=...)`", "", "max_depth", "max_depth", "depth max_depth"),
    Row(
        "use `GBRanker(min_child_samples=...)`",
        "-mls",
        "min_child_samples min_data_in_leaf min_data_per_leaf min_samples_leaf min_child_weight "
        "min_sum_hessian_in_leaf",
        "min_child_weight",
        "min_data_in_leaf min_child_samples",
    ),
    Row(
        "use `GBRanker(subsample=...)`, which draws in every round",
        "",
        "subsample bagging_fraction sub_row subsample_freq bagging_freq",
        "subsample",
        "subsample sampling_frequency",
    ),
    Row(
        'use `GBRanker(subsample_by="query")`',
        lightgbm="bagging_by_query",
        catboost="sampling_unit",
    ),
    Row(
        "use `GBRanker(colsample=...)`",
        "",
        "colsample_bytree feature_fraction sub_feature",
        "colsample_bytree",
        "rsm",
    ),
    Row("use `GBRanker(extra_trees=...)`", lightgbm="extra_trees extra_tree"),
    Row(
        "use `GBRanker(reg_lambda=...)`",
        "",
        "reg_lambda lambda_l2 l2_regularization",
        "reg_lambda",
        "l2_leaf_reg reg_lambda",
    ),
    Row("use `GBRanker(sigma=...)`", lightgbm="sigmoid"),
    Row(
        "use `GBRanker(early_stopping_rounds=...)`",
        "-estop",
        "early_stopping() early_stopping_round n_iter_no_change early_stopping_min_delta "
        "first_metric_only",
        "early_stopping_rounds EarlyStopping()",
        "early_stopping_rounds od_wait od_type od_pval best_model_min_trees",
    ),
    Row("use `GBRanker(validation_fraction=...)`", catboost="eval_fraction"),
    Row(
        "use `GBRanker(random_state=...)`",
        "",
        "random_state seed random_seed bagging_seed feature_fraction_seed",
        "random_state seed",
        "random_seed random_state",
    ),
    Row(
        "use `GBRanker(n_jobs=...)`",
        "-thread",
        "n_jobs num_threads nthread",
        "n_jobs nthread",
        "thread_count",
    ),
    Row(
        "use `GBRanker(verbose=...)`: 1 shows a progress bar, 0 is silent",
        "-silent",
        "verbosity verbose log_evaluation()",
        "verbosity verbose_eval EvaluationMonitor()",
        "verbose logging_level silent verbose_eval metric_period log_cout log_cerr",
    ),
    Row(
        "use `GBRanker(init=model)`",
        lightgbm="init_model",
        xgboost="xgb_model",
        catboost="init_model",
    ),
    Row(
        "use `fit(qid=...)`, the query of each row, or `fit(group=...)`, the sizes of queries",
        lightgbm="group query query_id",
        xgboost="qid group",
        catboost="group_id",
    ),
    Row(
        "use `fit(sample_weight=...)`, a weight for each row",
        lightgbm="sample_weight class_weight scale_pos_weight is_unbalance",
        xgboost="scale_pos_weight",
        catboost="sample_weight",
    ),
    Row(
        "use `fit(query_weight=...)`, a weight for each query",
        catboost="group_weight",
    ),
    Row(
        "use `fit(init_score=...)`",
        lightgbm="init_score",
        xgboost="base_margin base_score",
        catboost="baseline",
    ),
    Row(
        "use `fit(eval_set=[(X, y)], eval_qid=[qid])`",
        "-validate",
        "eval_set eval_X eval_y valid_sets",
        "eval_set evals",
        "eval_set",
    ),
    Row(
        "use `fit(eval_group=[...])` or `fit(eval_qid=[...])`",
        "",
        "eval_group",
        "eval_qid eval_group",
    ),
    Row(
        "use `fit(eval_init_score=[...])`",
        lightgbm="eval_init_score",
        xgboost="base_margin_eval_set",
    ),
    Row(
        "use `fit(categorical_feature=[...])`; categorical columns of data frames need no word",
        "",
        "categorical_feature cat_feature categorical_features",
        "enable_categorical feature_types",
        "cat_features",
    ),
    Row("use `fit(callbacks=[...])`, functions of a `Round`", "", *["callbacks"] * 3),
    Row(
        "use `fit(position=...)`",
        lightgbm="position lambdarank_position_bias_regularization",
        xgboost="lambdarank_unbiased lambdarank_bias_norm",
    ),
    Row(
        "use `fit(checkpoint=folder, checkpoint_rounds=...)`: the same call goes on from there",
        "",
        "snapshot_freq",
        "TrainingCheckPoint()",
        "save_snapshot snapshot_file snapshot_interval",
    ),
    Row(
        'use `GBRanker(objective="lambda(truncation=30):ndcg")`',
        "",
        "lambdarank_truncation_level",
        "lambdarank_num_pair_per_sample lambdarank_pair_method",
    ),
    Row(
        'use `GBRanker(objective="lambda(normalize=lightgbm):ndcg")`, or `normalize=xgboost`',
        "",
        "lambdarank_norm",
        "lambdarank_normalization lambdarank_score_normalization",
    ),
    Row(
        'use `GBRanker(objective="lambda:ndcg(gain=linear)")`, or another `gain`',
        "",
        "label_gain",
        "ndcg_exp_gain",
    ),
    Row(
        'use `GBRanker(booster_params={"NAME": ...})`',
        "",
        "reg_alpha lambda_l1 max_bin monotone_constraints interaction_constraints max_delta_step "
        "min_split_gain colsample_bynode max_cat_threshold max_cat_to_onehot device",
        "reg_alpha alpha max_bin monotone_constraints interaction_constraints max_delta_step "
        "gamma colsample_bynode max_cat_threshold max_cat_to_onehot device",
        "max_bin monotone_constraints",
    ),
    Row(
        'use `GBRanker(booster_params={"NAME": ...})`, with `GBRanker(booster="lightgbm")`',
        lightgbm="boosting_type boosting min_gain_to_split subsample_for_bin max_bins path_smooth "
        "linear_tree cat_l2 cat_smooth min_data_in_bin min_data_per_group device_type "
        "monotone_constraints_method use_missing zero_as_missing force_row_wise",
    ),
    Row(
        'use `GBRanker(booster_params={"NAME": ...})`, with `GBRanker(booster="xgboost")`',
        xgboost="min_split_loss colsample_bylevel grow_policy tree_method num_parallel_tree",
        catboost="grow_policy colsample_bylevel",
    ),
    Row(
        'use `GBRanker(booster="xgboost", booster_params={"device": "cuda"})`',
        xgboost="gpu_id",
        catboost="task_type devices device_config gpu_ram_part",
    ),
    Row('use `GBRanker(booster_params={"max_bin": ...})`', catboost="border_count"),
    Row("use `ranker.evals_result_`", "", "record_evaluation() evals_result", "evals_result"),
    Row("use `gbrank.plots.learning_curves(ranker)`", catboost="plot plot_file"),
    Row('use `ranker.importances("gain")`', "", "importance_type", "importance_type"),
    Row("use `predict(num_iteration=...)`", "", "num_iteration", "iteration_range", "ntree_end"),
    Row("use `ranker.explain(X)`", "", "pred_contrib", "pred_contribs"),
    Row(
        "use `ranker.booster_`, whose `predict` has it",
        "",
        "pred_leaf start_iteration",
        "",
        "ntree_start",
    ),
    Row("scores are raw, before any link", "", "raw_score", "output_margin"),
    Row(
        "names of features are the columns of a data frame, as in "
        "`fit(pandas.DataFrame(X, columns=names), y)`",
        "",
        "feature_name",
        "feature_names",
    ),
    Row('use `ranker.evals_result_["valid_0"]`, in the order of the sets', "", "eval_names"),
    Row(
        "validation sets have no weights; `score` has, after the fit",
        "",
        "eval_sample_weight",
        "sample_weight_eval_set",
    ),
    Row("early stopping cuts the model to its best round by itself", catboost="use_best_model"),
    Row("NaN is missing: replace other marks by it", xgboost="missing", catboost="nan_mode"),
    Row("pairs follow from the labels of a query", catboost="pairs pairs_weight graph subgroup_id"),
    Row("a document has one score", xgboost="multi_strategy num_class"),
    Row(
        "names are always checked", "", "validate_features", "validate_parameters validate_features"
    ),
    Row(
        "the rate is the same in all rounds",
        "",
        "reset_parameter()",
        "LearningRateScheduler()",
        "model_shrink_rate model_shrink_mode",
    ),
    Row("leave such columns out of X", catboost="ignored_features"),
    Row("features have no weights", xgboost="feature_weights", catboost="feature_weights"),
    Row("rounds draw by `GBRanker(subsample=...)` alone", xgboost="sampling_method"),
    Row(
        "turn text and vectors into columns of numbers first",
        catboost="text_features embedding_features tokenizers dictionaries feature_calcers "
        "text_processing column_description",
    ),
    Row(
        "CatBoost alone has it",
        catboost="model_size_reg feature_border_type per_float_feature_quantization input_borders "
        "output_borders fold_permutation_block counter_calc_method leaf_estimation_iterations "
        "leaf_estimation_method ctr_leaf_count_limit store_all_simple_ctr max_ctr_complexity "
        "has_time allow_const_label target_border one_hot_max_size random_strength "
        "random_score_type name train_dir bagging_temperature fold_len_multiplier used_ram_limit "
        "pinned_memory_size allow_writing_files final_ctr_computation_mode "
        "approx_on_full_history simple_ctr combinations_ctr per_feature_ctr ctr_description "
        "ctr_target_border_count bootstrap_type mvs_reg dev_score_calc_obj_block_size "
        "dev_efb_max_buckets sparse_features_conflict_fraction gpu_cat_features_storage "
        "data_partition metadata score_function leaf_estimation_backtracking ctr_history_unit "
        "penalties_coefficient first_feature_use_penalties per_object_feature_penalties langevin "
        "diffusion_temperature posterior_sampling boost_from_average fixed_binary_splits",
    ),
)
HERE = {
    name: row.here.replace("NAME", name)
    for row in reversed(TABLE)  # where a word is in several rows, the first one counts
    for names in row[1:]
    for name in names.split()
}
# Arguments whose options on the command line have names of their own.
OPTIONS = {
    "eval_metric": ("metric", "measures"),
    "eval_set": ("valid",),
    "position": ("positions",),
    "verbose": ("quiet",),
}
CALLBACKS = {
    name[:-2].replace("_", "").lower(): text for name, text in HERE.items() if name[-2:] == "()"
}


def as_markdown() -> str:
    """Return the table, by what stands here, as a migration guide."""
    rows = [[row.here.removeprefix("use "), *(_codes(names) for names in row[1:])] for row in TABLE]
    head = ["gbrank", *LIBRARIES.values()]
    return Table(head, rows, words=range(len(head))).to_markdown()


def _codes(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split())


def instead(name: str) -> str | None:
    """Return what stands here for a word of another library, as plain text."""
    return HERE[name].replace("`", "") if name in HERE else None


def option_instead(name: str, flags: Mapping[str, str]) -> str | None:
    """Return what stands for a word on the command line, given its flags by parameter."""
    text = HERE.get(name, "")
    calls = re.findall(r"`((?:GBRanker|fit)\(.*?\))`", text)
    for call in calls:
        keywords = cast(ast.Call, ast.parse(call, mode="eval").body).keywords
        if options := [option for word in keywords for option in _options(word, flags)]:
            return f"use {' '.join(options)}"
    return None if calls else instead(name)


def _options(keyword: ast.keyword, flags: Mapping[str, str]) -> Iterator[str]:
    """Yield the option that an argument is, with its value if that is a text, or several."""
    argument = str(keyword.arg)
    names = (argument, *OPTIONS.get(argument, ()))
    flag = next((flags[name] for name in names if name in flags), None)
    if flag is None:
        return
    try:
        value = ast.literal_eval(keyword.value)
    except ValueError:  # the name of something
        value = ...
    if isinstance(value, dict):
        value = [f"{key}={'...' if item is ... else item}" for key, item in value.items()]
    values = value if isinstance(value, list) else [] if value is ... else [value]
    yield " ".join([flag, *map(shlex.quote, values)])


def refuse_theirs(callback: object) -> None:
    """Refuse a callback of another library, with what stands for it here."""
    kind = type(callback)
    library = LIBRARIES.get(kind.__module__.partition(".")[0])
    if library is not None:
        word = kind.__name__.strip("_").removesuffix("Callback")
        text = CALLBACKS.get(word.lower(), "write a function of a `Round`").replace("`", "")
        raise TypeError(
            f"callbacks must not hold {library}'s {word}, got {quoted(callback)}: {text}."
        )


def _refuse(owner: str, kind: str, given: Collection[str], known: list[str]) -> None:
    """Refuse the keywords that a function does not have."""
    for name in sorted(set(given) - set(known)):
        lacks = kind == "argument" and f"fit({name}=" in HERE.get(name, "")  # as Dask's fit may
        if name in HERE and not lacks:
            raise TypeError(f"{owner} has no {name}: {instead(name)}.")
        more = " Others of the booster's go into booster_params." if kind == "parameter" else ""
        raise TypeError(f"{unknown_name(f'{kind} of {owner}', name, known)}{more}")


def explains_words(method: M) -> M:
    """Let a method say what stands for an unknown keyword; a decorator."""
    known = list(inspect.signature(method).parameters)[1:]

    @functools.wraps(method)
    def explaining(self: Any, *values: Any, **named: Any) -> Any:
        if not named.keys() <= set(known):
            _refuse(f"{type(self).__name__}.{method.__name__}", "argument", named, known)
        return method(self, *values, **named)

    return cast(M, explaining)


def explains_parameters(cls: T) -> T:
    """Let a class say what stands for an unknown parameter; a class decorator."""
    init, set_params = cls.__init__, cls.set_params  # type: ignore[misc, attr-defined]
    known = list(inspect.signature(init).parameters)[1:]

    @functools.wraps(init)
    def explaining_init(self: Any, *values: Any, **params: Any) -> None:
        _refuse(cls.__name__, "parameter", params, known)
        init(self, *values, **params)

    @functools.wraps(set_params)
    def explaining_set_params(self: Any, **params: Any) -> Any:
        for name in sorted(params.keys() & HERE.keys() - self.get_params(deep=False).keys()):
            raise ValueError(f"{cls.__name__} has no {name}: {instead(name)}.")
        return set_params(self, **params)

    cls.__init__, cls.set_params = explaining_init, explaining_set_params  # type: ignore[misc, attr-defined]
    return cls
