"""Training with LightGBM."""

from collections.abc import Callable
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
    SEEDS,
    depends_on_threads,
    network_params,
    seeds_of_draws,
    tree_params,
)
from gbrank.boosters.lightgbm.random_thresholds import bins_of_one_size, smallest_bin
from gbrank.boosters.lightgbm.trained_model import LightGBMModel
from gbrank.common.arrays import Single, Vector
from gbrank.common.checks import check_number
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
        self,
        train: Documents,
        valid: list[Documents],
        schema: Schema,
        settings: TreeSettings,
        state: State | None = None,
    ) -> None:
        check_threads(settings.n_jobs)
        params = self.check(settings, schema)
        self._seeds = seeds_of_draws(params, settings)
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
            train, *valid = (
                replace(rows, init_score=np.frombuffer(state[f"scores_{i}"]))
                for i, rows in enumerate([train, *valid])
            )
        with translated(REFUSED):
            params, data = _training_data(train, params, schema)
            self._booster = lgb.Booster(params | network_params(), data)
        if all(data.feature_num_bin(feature) <= 1 for feature in range(schema.n_features)):
            raise ValueError("X must have a feature that varies: there is nothing to split on.")
        for i, rows in enumerate(valid):
            of_valid = _dataset(rows.X, params, schema, data, rows.init_score)
            self._booster.add_valid(of_valid, f"valid_{i}")
        if state is not None:
            merge(self._booster, lgb.Booster(model_str=state["model"].decode()))

    def step(self, derivatives: GradientFunction) -> None:
        """Grow one tree."""

        def fobj(scores: Vector, _: lgb.Dataset) -> tuple[Single, Single]:
            # No earlier: in its first round, LightGBM itself resets parameters.
            self._reseed(self.done)
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

    @property
    def done(self) -> int:
        """How many rounds have been trained."""
        return len(self._n_trees) - 1

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

    def _reseed(self, round: int) -> None:
        """Make what a round draws depend on the seed and the round only."""
        if round == 0 or not self._seeds:
            return
        keys = np.arange(len(self._seeds), dtype=np.uint64)
        noise = query_noise(keys, list(self._seeds.values()), round) >> np.uint64(34)
        self._booster.reset_parameter(dict(zip(self._seeds, noise.tolist(), strict=True)))


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
    most = params.get("bin_construct_sample_cnt", BINNED_ROWS)
    check_number(most, "bin_construct_sample_cnt in booster_params", 1, integer=True)
    if params["extra_trees"]:  # of more rows LightGBM itself would take a sample
        most = max(1, most - smallest_bin(params))
    sample = X
    if n_workers() > 1 or X.shape[0] > most:
        sample = stacked(all_gather(bin_sample(X, most)))
    if params["extra_trees"]:
        params, sample = bins_of_one_size(sample, params, schema)
    bins = None if sample is X else _dataset(sample, params, schema)
    return params, _dataset(X, params, schema, bins, train.init_score)


def _dataset(
    X: Features,
    params: dict[str, Any],
    schema: Schema,
    reference: lgb.Dataset | None = None,
    init_score: Vector | None = None,
) -> lgb.Dataset:
    return lgb.Dataset(
        X,
        reference=reference,
        init_score=init_score,
        feature_name=safe_names(schema) or "auto",
        categorical_feature=schema.categorical or "auto",
        params=params,
    ).construct()
