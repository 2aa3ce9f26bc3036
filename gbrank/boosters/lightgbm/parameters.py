"""The parameters of LightGBM: their names, and what gbrank sets them to."""

import json
import re
import socket
from functools import cache
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from gbrank.boosters.booster_params import LARGEST_INT32, Options, by_position
from gbrank.boosters.interface import TreeSettings
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_choice
from gbrank.common.collective import all_gather, n_workers, own_host
from gbrank.data.schema import Schema

FILES = {"forcedsplits_filename", "forcedbins_filename"}  # options that name a file
KINDS = ("gbdt", "gbrt", "dart", "goss")  # of boosting, in letters of either case
METHODS = ("basic", "intermediate", "advanced")  # LightGBM takes any other for the first
# https://lightgbm.readthedocs.io/en/stable/Parameters.html
OPTIONS = Options("lightgbm")
SEEDS = ("feature_fraction_seed", "extra_seed")  # the seeds of LightGBM's draws for a tree
# A threshold drawn from all need not be a fine one: a tenth less time, at the same quality.
BINS_OF_RANDOM_THRESHOLDS = 63


@cache
def known_names() -> frozenset[str]:
    """Return the main names of LightGBM's parameters, as the text of a model lists them."""
    options = {"verbosity": -1}
    data = lgb.Dataset(np.arange(2.0)[:, None], np.zeros(2), params=options)
    text = lgb.Booster(options, data).model_to_string()
    return frozenset(re.findall(r"^\[(\w+): ", text, re.MULTILINE))


def tree_params(settings: TreeSettings, schema: Schema) -> dict[str, Any]:
    """Return LightGBM's parameters for these settings, of which none is refused."""
    defaults = _defaults(settings)
    workers = {"num_machines": n_workers()} if n_workers() > 1 else {}
    user = OPTIONS.check(settings.params, defaults | workers, known_names())
    check_choice(str(user.get("boosting") or KINDS[0]).lower(), "boosting in booster_params", KINDS)
    method = user.get("monotone_constraints_method") or METHODS[0]
    check_choice(method, "monotone_constraints_method in booster_params", METHODS)
    for name in FILES & user.keys():  # LightGBM would make nothing of others without a word
        try:
            json.loads(Path(user[name]).read_bytes())
        except (OSError, TypeError, ValueError) as error:
            got = f"{user[name]!r}: {error}"
            name = f"{name} in booster_params"
            raise ArgumentError(name, "must name a JSON file", got) from None
    if "force_row_wise" not in user:
        defaults["force_col_wise"] = True
    if depends_on_threads(user):
        defaults["num_threads"] = 1
    if settings.extra_trees:
        defaults["max_bin"] = BINS_OF_RANDOM_THRESHOLDS
    return by_position(defaults | user, schema)


def _defaults(settings: TreeSettings) -> dict[str, Any]:
    """Return the parameters that gbrank sets, whatever the user's."""
    # LightGBM counts the documents that subsample leaves out too.
    min_data = min(round(settings.min_child_samples / settings.subsample), LARGEST_INT32)
    return {
        "objective": "none",
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
        "boosting": "gbdt",
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


def depends_on_threads(params: dict[str, Any]) -> list[str]:
    """Return the options with which LightGBM draws, or adds, by blocks of its threads."""
    rounding = params.get("use_quantized_grad", False)  # LightGBM's default beside it
    return OPTIONS.in_use("by_threads", {"stochastic_rounding": rounding} | params)
