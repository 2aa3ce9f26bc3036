"""Training with LightGBM."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import lightgbm as lgb
import numpy as np
import scipy.sparse as sp

from gbrank.boosters.bins import BINNED_ROWS, bin_sample
from gbrank.boosters.booster_params import by_position
from gbrank.boosters.interface import (
    GradientFunction,
    Params,
    State,
    TreeSettings,
    refuse_settings,
    safe_names,
    single_precision,
)
from gbrank.boosters.lightgbm import check_threads, translated
from gbrank.boosters.lightgbm.parameters import (
    OPTIONS,
    depends_on_threads,
    draws_features,
    network_params,
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
SEEDS = ("feature_fraction_seed", "extra_seed")  # the seeds of LightGBM's draws for a tree


def merge(booster: lgb.Booster, earlier: lgb.Booster) -> None:
    """Put the trees of an earlier booster before those of another one.

    LightGBM's C interface has this function, its Python package does not: only who resumes a
    checkpoint depends on it.
    """
    from lightgbm.basic import _LIB, _safe_call

    _safe_call(_LIB.LGBM_BoosterMerge(booster._handle, earlier._handle))


class LightGBMTrainer:
    """A LightGBM booster in training."""

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
        self._choose_seeds(params, settings)
        if params["num_threads"] < settings.n_jobs:
            warn_user(
                f"trees grow on one thread, not n_jobs={settings.n_jobs}: with "
                f"{' and '.join(depends_on_threads(params))} in booster_params, LightGBM's trees "
                "depend on the number of threads."
            )
        self._n_trees = [0]  # after each round; a round that finds no split adds none
        if state is not None:
            self._n_trees = np.frombuffer(state["trees"], dtype=np.int64).tolist()
            train, *valid = _with_scores([train, *valid], state)
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

    @staticmethod
    def check(settings: TreeSettings, schema: Schema) -> Params:
        """Return LightGBM's parameters, of which none is refused."""
        return by_position(tree_params(settings), schema)

    def _choose_seeds(self, params: Params, settings: TreeSettings) -> None:
        """Refuse what cannot be resumed, and choose the seeds to change in each round."""
        obstacles = OPTIONS.stateful(params)
        refuse_settings(settings, params["boosting"], obstacles)
        self._seeds: dict[str, int] = {}
        if draws_features(params) and not obstacles:
            self._seeds = {name: params.get(name, settings.seed) for name in SEEDS}
        self._first_seeds = {name: params[name] for name in ("seed", *SEEDS) if name in params}

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


def _with_scores(parts: list[Documents], state: State) -> list[Documents]:
    """Return training and validation rows with the checkpoint's scores as initial scores."""
    return [
        replace(rows, init_score=np.frombuffer(state[f"scores_{i}"]))
        for i, rows in enumerate(parts)
    ]


def _capture(evaluate: Callable[..., object]) -> list[Vector]:
    """Return the scores that LightGBM hands to a metric, one vector for each data set."""
    seen: list[Vector] = []

    def keep(scores: Vector, _: lgb.Dataset) -> tuple[str, float, bool]:
        seen.append(np.array(scores, dtype=np.float64))
        return "kept", 0.0, True

    evaluate(feval=keep)
    return seen


def _training_data(train: Documents, params: Params, schema: Schema) -> tuple[Params, lgb.Dataset]:
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
        parts = all_gather(bin_sample(X, most))
        sample = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    if params["extra_trees"]:
        params, sample = bins_of_one_size(sample, params, schema)
    if sample is X:
        return params, _dataset(X, params, schema, init_score=train.init_score)
    bins = _dataset(sample, params, schema)
    return params, _dataset(X, params, schema, bins, train.init_score)


def _dataset(
    X: Features,
    params: Params,
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
