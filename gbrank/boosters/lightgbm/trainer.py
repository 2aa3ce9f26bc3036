"""Training with LightGBM."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import lightgbm as lgb
import numpy as np

from gbrank.boosters.interface import (
    BINNED_ROWS,
    GradientFunction,
    State,
    TreeSettings,
    bin_sample,
    safe_names,
    single_precision,
    stacked,
)
from gbrank.boosters.lightgbm import check_threads, translated
from gbrank.boosters.lightgbm.parameters import (
    OPTIONS,
    SEEDS,
    depends_on_threads,
    network_params,
    tree_params,
)
from gbrank.boosters.lightgbm.random_thresholds import bins_of_one_size, smallest_bin, whole_number
from gbrank.boosters.lightgbm.trained_model import LightGBMModel
from gbrank.common.arrays import Single, Vector
from gbrank.common.collective import BoosterError, all_gather, n_workers
from gbrank.common.interrupts import interrupts_held
from gbrank.common.warnings import warn_user
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features
from gbrank.data.sampling import query_noise
from gbrank.data.schema import Schema

REFUSED = "LightGBM refuses the parameters or data"


def merge(booster: lgb.Booster, earlier: lgb.Booster) -> None:
    """Put the trees of an earlier booster before those of another one.

    LightGBM's C interface has this function, its Python package does not: only who resumes a
    checkpoint depends on it.
    """
    from lightgbm.basic import _LIB, _safe_call

    _safe_call(_LIB.LGBM_BoosterMerge(booster._handle, earlier._handle))


class LightGBMTrainer:
    """A LightGBM booster in training."""

    check = staticmethod(tree_params)

    @interrupts_held()
    def __init__(
        self, rows: Sequence[Documents], schema: Schema, settings: TreeSettings, state: State | None
    ) -> None:
        check_threads(settings.n_jobs)
        params = self.check(settings, schema)
        drawn = params["feature_fraction"] < 1 or "feature_fraction_bynode" in params
        self._seeds: dict[str, int] = {}  # to change in each round
        if not OPTIONS.stateful(settings, params) and (drawn or params["extra_trees"]):
            self._seeds = {name: params.get(name, settings.seed) for name in SEEDS}
        self._first_seeds = {name: params[name] for name in ("seed", *SEEDS) if name in params}
        if params["num_threads"] < settings.n_jobs:
            warn_user(
                f"trees grow on one thread, not n_jobs={settings.n_jobs}: with "
                f"{' and '.join(depends_on_threads(params))} in booster_params, LightGBM's trees "
                "depend on the number of threads."
            )
        self._n_trees = [0]  # after each round; a round that finds no split adds none
        if state is not None:
            self._n_trees = np.frombuffer(state["trees"], dtype=np.int64).tolist()
            scores = [np.frombuffer(state[f"scores_{i}"]) for i in range(len(rows))]
            rows = [replace(part, init_score=of) for part, of in zip(rows, scores, strict=True)]
        with translated(REFUSED):
            params, data = _training_data(rows[0], params, schema)
            self._booster = lgb.Booster(params | network_params(), data)
        if all(data.feature_num_bin(feature) <= 1 for feature in range(schema.n_features)):
            raise ValueError("X must have a feature that varies: there is nothing to split on.")
        for i, part in enumerate(rows[1:]):
            scored = {"reference": data, "init_score": part.init_score}
            self._booster.add_valid(_dataset(part.X, params, schema, **scored), f"valid_{i}")
        if state is not None:
            merge(self._booster, lgb.Booster(model_str=state["model"].decode()))

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

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""
        return _capture(self._booster.eval_train)[0]

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return _capture(self._booster.eval_valid)

    def state(self) -> State:
        """Return the trees, and the scores, whose last bits the trees do not determine."""
        scores = [self.train_scores(), *self.valid_scores()]
        return {
            "trees": np.array(self._n_trees, dtype=np.int64).tobytes(),
            "model": self._booster.model_to_string(num_iteration=-1).encode(),
            **{f"scores_{i}": values.tobytes() for i, values in enumerate(scores)},
        }

    @interrupts_held()
    def finish(self, rounds: int) -> LightGBMModel:
        """Return the model of the first rounds."""
        if self._seeds:
            self._booster.reset_parameter(self._first_seeds)  # as the model's text records them
        text = self._booster.model_to_string(num_iteration=self._n_trees[rounds])
        return LightGBMModel(lgb.Booster(model_str=text))

    def close(self) -> None:
        """Disconnect from the other workers of a distributed fit."""
        if n_workers() > 1:
            self._booster.free_network()


def _capture(evaluate: Callable[..., object]) -> list[Vector]:
    """Return the scores that LightGBM hands to a metric, one vector for each data set."""
    seen: list[Vector] = []

    def keep(scores: Vector, _: lgb.Dataset) -> tuple[str, float, bool]:
        seen.append(np.array(scores, dtype=np.float64))
        return "kept", 0.0, True

    evaluate(feval=keep)
    return seen


def _training_data(
    train: Documents, params: dict[str, Any], schema: Schema
) -> tuple[dict[str, Any], lgb.Dataset]:
    """Return all parameters, and the data set of the training rows, with bins of a sample.

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


def _dataset(X: Features, params: dict[str, Any], schema: Schema, **options: Any) -> lgb.Dataset:
    names, categories = safe_names(schema) or "auto", schema.categorical or "auto"
    options |= {"feature_name": names, "categorical_feature": categories, "params": params}
    return lgb.Dataset(X, **options).construct()
