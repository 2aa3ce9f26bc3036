"""Training with LightGBM: its parameters, and its rounds."""

import json
import re
import socket
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gbrank.boosters.booster import LARGEST_INT32, options_in_use, whole_number
from gbrank.boosters.interface import (
    BINNED_ROWS,
    GradientFunction,
    Params,
    State,
    TreeSettings,
    bin_sample,
    safe_names,
    single_precision,
)
from gbrank.common.checks import ArgumentError, Single, Vector, check_choice, warn_user
from gbrank.common.collective import BoosterError, all_gather, n_workers, own_host
from gbrank.common.runtime import interrupts_held
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features, stacked
from gbrank.data.sampling import query_noise
from gbrank.data.schema import Schema

from . import LIGHTGBM
from .library import check_threads, lgb, translated
from .random_thresholds import bins_of_one_size, smallest_bin
from .trained_model import LightGBMModel

FILES = {"forcedsplits_filename", "forcedbins_filename"}  # options that name a file
KINDS = ("gbdt", "gbrt", "dart", "goss")  # of boosting, in letters of either case
METHODS = ("basic", "intermediate", "advanced")  # LightGBM takes any other for the first
# https://lightgbm.readthedocs.io/en/stable/Parameters.html
SEEDS = ("feature_fraction_seed", "extra_seed")  # the seeds of LightGBM's draws for a tree
# A threshold drawn from all need not be a fine one: a tenth less time, at the same quality.
BINS_OF_RANDOM_THRESHOLDS = 63


@cache
def known_names() -> frozenset[str]:
    """List the main names of LightGBM's parameters, as the text of a model does."""
    options = {"verbosity": -1}
    data = lgb.Dataset(np.arange(2.0)[:, None], np.zeros(2), params=options)
    text = lgb.Booster(options, data).model_to_string()
    return frozenset(re.findall(r"^\[(\w+): ", text, re.MULTILINE))


def tree_params(settings: TreeSettings, schema: Schema) -> Params:
    """Translate settings into LightGBM's parameters, of which none is refused."""
    defaults = _defaults(settings)
    workers = {"num_machines": n_workers()} if n_workers() > 1 else {}
    user = LIGHTGBM.options.check(settings.params, defaults | workers, known_names(), schema)
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
    return defaults | user


def _defaults(settings: TreeSettings) -> Params:
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


def network_params() -> Params:
    """Set the parameters that connect LightGBM to all workers of a distributed fit."""
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


def depends_on_threads(params: Params) -> list[str]:
    """List the options with which LightGBM draws, or adds, by blocks of its threads."""
    rounding = params.get("use_quantized_grad", False)  # LightGBM's default beside it
    return options_in_use(LIGHTGBM.options.by_threads, {"stochastic_rounding": rounding} | params)


class LightGBMTrainer:
    """A LightGBM booster in training."""

    @interrupts_held()
    def __init__(
        self, rows: Sequence[Documents], schema: Schema, settings: TreeSettings, state: State | None
    ) -> None:
        check_threads(settings.n_jobs)
        params = tree_params(settings, schema)
        drawn = params["feature_fraction"] < 1 or "feature_fraction_bynode" in params
        self._seeds: dict[str, int] = {}  # to change in each round
        if not LIGHTGBM.options.check_state(settings, params) and (drawn or params["extra_trees"]):
            self._seeds = {name: params.get(name, settings.seed) for name in SEEDS}
        self._first_seeds = {name: params[name] for name in ("seed", *SEEDS) if name in params}
        if params["num_threads"] < settings.n_jobs:
            warn_user(
                f"LightGBM uses one thread instead of n_jobs={settings.n_jobs}: with "
                f"{' and '.join(depends_on_threads(params))} in booster_params, its trees depend "
                "on the number of threads."
            )
        self._n_trees = [0]  # after each round; a round that finds no split adds none
        if state is not None:
            self._n_trees = np.frombuffer(state["trees"], dtype=np.int64).tolist()
            rows = [
                replace(part, init_score=np.frombuffer(state[f"scores_{i}"]))
                for i, part in enumerate(rows)
            ]
        with translated("LightGBM refuses the parameters or data"):
            params, data = _training_data(rows[0], params, schema)
            self._booster = lgb.Booster(params | network_params(), data)
        if all(data.feature_num_bin(feature) <= 1 for feature in range(schema.n_features)):
            raise ValueError("X must have a feature that varies: there is nothing to split on.")
        self._sets = [data]
        for part in rows[1:]:
            valid = _dataset(part.X, params, schema, reference=data, init_score=part.init_score)
            self._booster.add_valid(valid, "valid")
            self._sets.append(valid)
        if state is not None:
            # LightGBM's C interface puts the trees of an earlier booster before those of another
            # one, its Python package does not: only who resumes a checkpoint depends on it.
            from lightgbm.basic import _LIB, _safe_call

            earlier = lgb.Booster(model_str=state["model"].decode())
            _safe_call(_LIB.LGBM_BoosterMerge(self._booster._handle, earlier._handle))

    def step(self, derivatives: GradientFunction) -> None:
        """Grow one tree."""
        done = len(self._n_trees) - 1

        def fobj(scores: Vector, _: lgb.Dataset) -> tuple[Single, Single]:
            if done and self._seeds:  # in its first round, LightGBM itself resets parameters
                keys = np.arange(len(self._seeds), dtype=np.uint64)
                noise = query_noise(keys, [*self._seeds.values()], done) >> np.uint64(34)
                self._booster.reset_parameter(dict(zip(self._seeds, noise.tolist(), strict=True)))
            return single_precision(derivatives(scores))

        with translated("LightGBM could not grow a tree", BoosterError):
            self._booster.update(fobj=fobj)
        self._n_trees.append(self._booster.current_iteration())

    def scores(self, place: int) -> Vector:
        """Collect the scores that LightGBM passes to a metric."""
        seen: list[Vector] = []

        def keep(scores: Vector, _: lgb.Dataset) -> tuple[str, float, bool]:
            seen.append(np.array(scores, dtype=np.float64))
            return "scores", 0.0, True

        self._booster.eval(self._sets[place], "scores", keep)
        return seen[0]

    def state(self) -> State:
        """Serialize the trees, and the scores, whose last bits the trees do not determine."""
        return {
            "trees": np.array(self._n_trees, dtype=np.int64).tobytes(),
            "model": self._booster.model_to_string(num_iteration=-1).encode(),
            **{f"scores_{i}": self.scores(i).tobytes() for i in range(len(self._sets))},
        }

    @interrupts_held()
    def finish(self, rounds: int) -> LightGBMModel:
        """Cut the model after some rounds."""
        if self._seeds:
            self._booster.reset_parameter(self._first_seeds)  # as the model's text records them
        text = self._booster.model_to_string(num_iteration=self._n_trees[rounds])
        return LightGBMModel(lgb.Booster(model_str=text))

    def close(self) -> None:
        """Disconnect from the other workers of a distributed fit."""
        if n_workers() > 1:
            self._booster.free_network()


def _training_data(train: Documents, params: Params, schema: Schema) -> tuple[Params, lgb.Dataset]:
    """Construct the data set of the training rows, with bins of a sample, and its parameters.

    LightGBM itself draws rows by position, and takes each feature's bins from one worker.
    """
    X: Any = train.X
    most = whole_number(params, "bin_construct_sample_cnt", BINNED_ROWS, 1)
    if params["extra_trees"]:  # of more rows LightGBM itself would take a sample
        most = max(1, most - smallest_bin(params))
    sample = X
    if n_workers() > 1 or X.shape[0] > most:
        sample = stacked(all_gather(bin_sample(X, most)))
    if params["extra_trees"]:
        params, sample = bins_of_one_size(sample, params, schema)
    bins = None if sample is X else _dataset(sample, params, schema)
    return params, _dataset(X, params, schema, reference=bins, init_score=train.init_score)


def _dataset(X: Features, params: Params, schema: Schema, **options: Any) -> lgb.Dataset:
    return lgb.Dataset(
        X,
        params=params,
        feature_name=safe_names(schema) or "auto",
        categorical_feature=schema.categorical or "auto",
        **options,
    ).construct()
