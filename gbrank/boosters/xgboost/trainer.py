"""Training with XGBoost."""

import json
from contextlib import ExitStack
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import xgboost as xgb

from gbrank.boosters.interface import (
    Derivatives,
    Single,
    State,
    TreeSettings,
    earlier_trees,
    reading_state,
    refuse_settings,
    single_precision,
    user_params,
)
from gbrank.boosters.xgboost.errors import check_threads, translated
from gbrank.boosters.xgboost.matrices import as_matrix, training_matrix
from gbrank.boosters.xgboost.trained_model import XGBoostModel
from gbrank.common.arrays import Vector
from gbrank.common.interrupts import interrupts_held
from gbrank.common.warnings import warn_user
from gbrank.data.batches import FeatureBatches
from gbrank.data.rows import Rows
from gbrank.data.schema import Schema
from gbrank.parallel.collective import BoosterError, all_max

REFUSED = "XGBoost refuses the parameters or data"
# Parameters that draw features, besides colsample.
DRAWING = ("colsample_bylevel", "colsample_bynode")
# Parameters in units of the gradient, or of its square.
OF_GRADIENTS = ("alpha", "gamma", "max_delta_step")
# Gradients below this are scaled up, where the mean curvature is 1.
SMALL = 1.0
# By at most 2 to this power: learning rate and leaves must be numbers in single precision.
LARGEST_POWER = 100
# Parameters that keep a state between rounds.
STATEFUL = ("lambdarank_unbiased", "process_type", "updater")
# Parameters that a booster's saved configuration does not list.
UNLISTED = ("debug_synchronize", "max_cached_hist_node", "verbosity")
ALIASES = {
    "learning_rate": "eta",
    "min_split_loss": "gamma",
    "n_jobs": "nthread",
    "random_state": "seed",
    "reg_alpha": "alpha",
    "reg_lambda": "lambda",
}


class XGBoostTrainer:
    """An XGBoost booster in training."""

    @interrupts_held()
    def __init__(
        self, train: Rows, valid: list[Rows], schema: Schema, settings: TreeSettings,
        state: State | None = None,
    ) -> None:  # fmt: skip
        check_threads(settings.n_jobs)
        kind, params = settings.params.get("booster"), _params(settings)
        if kind == "gblinear":
            raise ValueError("booster_params must not set booster='gblinear': gbrank grows trees.")
        refuse_settings(settings, str(kind), _stateful(settings))
        self._seed_each_round = params["seed_per_iteration"]
        self._places: Any = slice(None)  # where the booster has each training row
        if settings.built_in is not None:
            if train.sample_weight is not None:
                raise ValueError(
                    "sample_weight must be None with XGBoost's own ranking objectives, which take "
                    "query_weight only."
                )
            self._places = np.argsort(train.queries.order)
            train = train.grouped()
        # As a parameter of the booster, it would stay set for the whole process.
        self._verbosity = settings.params.get("verbosity", 0)
        with xgb.config_context(verbosity=self._verbosity), translated(REFUSED):
            user = _checked(settings, params, schema.n_features)
        in_batches = any(isinstance(rows.X, FeatureBatches) for rows in (train, *valid))
        with ExitStack() as files:
            folder = ""
            if in_batches:
                temporary = TemporaryDirectory(prefix="gbrank-", ignore_cleanup_errors=True)
                folder = files.enter_context(temporary)
            self._train = training_matrix(train, schema, settings, folder)
            self._valid = [
                as_matrix(rows.X, schema, settings.n_jobs, rows.init_score, folder, f"valid_{i}")
                for i, rows in enumerate(valid)
            ]
            with xgb.config_context(verbosity=self._verbosity), translated(REFUSED):
                self._booster = xgb.Booster(params, [self._train, *self._valid])
                if state is not None:
                    with reading_state():
                        trees = earlier_trees(XGBoostModel, state, schema)
                        self._booster.load_model(bytearray(trees))
                self._booster.set_param(params | user)
                _warn_of_no_gpu(self._booster, settings)
            self._files = files.pop_all()
        self._rate = settings.learning_rate
        self._power = 0
        self._fixed_scale = kind == "dart" or not user.keys().isdisjoint(OF_GRADIENTS)

    def step(self, derivatives: Derivatives | None) -> None:
        """Grow one tree."""
        with (
            xgb.config_context(verbosity=self._verbosity),
            translated("XGBoost could not grow a tree", BoosterError),
        ):
            if self._seed_each_round:
                # The sampler of features has a state, which loading the configuration resets.
                self._booster.load_config(self._booster.save_config())
            rounds = self._booster.num_boosted_rounds()
            fobj = None if derivatives is None else partial(self._scaled, derivatives)
            self._booster.update(self._train, rounds, fobj)

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""
        return self._scores(self._train)[self._places]

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return [self._scores(data) for data in self._valid]

    @property
    def done(self) -> int:
        """How many rounds have been trained."""
        return int(self._booster.num_boosted_rounds())

    def state(self) -> State:
        """Return the trees, from which XGBoost computes the same scores again."""
        return {"model": XGBoostModel(self._booster).dump()}

    @interrupts_held()
    def finish(self, rounds: int) -> XGBoostModel:
        """Return the model of the first rounds."""
        return XGBoostModel(self._booster[:rounds])

    @interrupts_held()
    def close(self) -> None:
        """Release the data and their files; `meeting` connects and disconnects workers."""
        del self._booster, self._train, self._valid
        self._files.close()

    def _scaled(
        self, derivatives: Derivatives, scores: Vector, _: xgb.DMatrix
    ) -> tuple[Single, Single]:
        """Return derivatives; a power of two scales tiny gradients up and the learning rate down.

        XGBoost takes no split that gains less than 1e-6, and a gain has the scale of the gradient
        squared: it would grow stumps where sigma is narrow.
        """
        gradient, curvature = derivatives(scores)
        size = float(all_max(np.abs(gradient).max()))
        power = 0
        if 0 < size < SMALL and not self._fixed_scale:
            power = min(-int(np.frexp(size)[1]), LARGEST_POWER)
        if power != self._power:
            self._power = power
            self._booster.set_param({"eta": float(np.ldexp(self._rate, -power))})
        return single_precision((np.ldexp(gradient, power), curvature))

    def _scores(self, data: xgb.DMatrix) -> Vector:
        return np.asarray(self._booster.predict(data, output_margin=True), dtype=np.float64)


def _warn_of_no_gpu(booster: xgb.Booster, settings: TreeSettings) -> None:
    """Warn that XGBoost trains on the CPU though asked for a GPU, as it would itself."""
    device = settings.params.get("device", "cpu")
    if device != "cpu":
        config = json.loads(booster.save_config())
        if config["learner"]["generic_param"]["device"] == "cpu":
            warn_user(f"XGBoost finds no GPU for device={device!r}, and trains on the CPU.")


def _draws_features(settings: TreeSettings) -> bool:
    return settings.colsample < 1 or any(name in settings.params for name in DRAWING)


def _stateful(settings: TreeSettings) -> list[str]:
    """Return the settings that keep a resumed fit from giving the same model."""
    user = settings.params
    obstacles = [name for name in STATEFUL if name in user]
    if user.get("booster") == "dart":
        obstacles.append("booster='dart'")
    if user.get("tree_method") == "approx":
        obstacles.append("tree_method='approx'")
    if settings.built_in is not None and (settings.subsample < 1 or _draws_features(settings)):
        obstacles.append("sampling by the booster's own objective")
    return obstacles


def _params(settings: TreeSettings) -> dict[str, Any]:
    # With mean curvature 1 this counts documents, as LightGBM's min_data_in_leaf does. The
    # built-in objectives have curvatures of another scale, and keep XGBoost's default.
    if settings.built_in is None:
        objective: dict[str, Any] = {"min_child_weight": settings.min_child_samples}
    else:
        objective = {"objective": settings.built_in, "subsample": settings.subsample}
    kind = settings.params.get("booster", "gbtree")
    seed_each_round = _draws_features(settings) and settings.built_in is None and kind != "dart"
    return {
        "booster": kind,
        **objective,
        "base_score": 0.0,
        "eta": settings.learning_rate,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": settings.num_leaves,
        "max_depth": settings.max_depth or 0,
        "colsample_bytree": settings.colsample,
        "lambda": settings.reg_lambda,
        "seed": settings.seed,
        "nthread": settings.n_jobs,
        "seed_per_iteration": seed_each_round,  # draws depend on seed and round only
        "disable_default_eval_metric": True,
    }


def _checked(settings: TreeSettings, params: dict[str, Any], n_features: int) -> dict[str, Any]:
    """Return the user's parameters, checked on a booster with a row of placeholder data."""
    placeholder = xgb.DMatrix(np.zeros((1, n_features)), nthread=1)
    booster = xgb.Booster(params, [placeholder])
    known = _names(json.loads(booster.save_config())).union(UNLISTED)
    user = user_params(settings.params, ALIASES, known)
    user.pop("verbosity", None)
    booster.set_param(params | user)
    booster.save_config()
    return user


def _names(config: Any) -> set[str]:
    """Return all names in a booster's nested configuration."""
    if not isinstance(config, dict):
        return set()
    return set(config).union(*map(_names, config.values()))
