"""Training with XGBoost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import scipy.sparse as sp
import xgboost as xgb

from gbrank.boosters.interface import (
    GradientFunction,
    Params,
    State,
    TreeSettings,
    refuse_settings,
    single_precision,
)
from gbrank.boosters.xgboost import check_threads, translated
from gbrank.boosters.xgboost.matrices import SparseScores, as_matrix, training_matrix
from gbrank.boosters.xgboost.parameters import OF_GRADIENTS, OPTIONS, tree_params, user_params
from gbrank.boosters.xgboost.trained_model import XGBoostModel
from gbrank.common.arrays import Single, Vector
from gbrank.common.checks import check_number
from gbrank.common.collective import BoosterError, all_max
from gbrank.common.interrupts import interrupts_held
from gbrank.common.warnings import warn_user
from gbrank.data.documents import Documents
from gbrank.data.schema import Schema

REFUSED = "XGBoost refuses the parameters or data"
# Gradients below this are scaled up, where the mean curvature is 1.
SMALL = 1.0
# By at most 2 to this power: learning rate and leaves must be numbers in single precision.
LARGEST_POWER = 100


class XGBoostTrainer:
    """An XGBoost booster in training."""

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
        kind, params = str(settings.params.get("booster")), tree_params(settings)
        if kind == "gblinear":
            raise ValueError("booster_params must not set booster='gblinear': gbrank grows trees.")
        refuse_settings(settings, kind, OPTIONS.stateful(settings.params))
        self._seed_each_round = params["seed_per_iteration"]
        # As a parameter of the booster, it would stay set for the whole process.
        self._verbosity = _checked_verbosity(settings)
        user = self.check(settings, schema)
        self._train = training_matrix(train, schema, settings)
        self._valid = [
            SparseScores(rows)
            if sp.issparse(rows.X) and kind != "dart"
            else as_matrix(rows.X, schema, settings.n_jobs, rows.init_score)
            for rows in valid
        ]
        with self._translated(REFUSED):
            self._booster = xgb.Booster(params, [self._train])
            if state is not None:
                self._booster.load_model(bytearray(state["model"]))
            self._booster.set_param(params | user)
            _warn_of_no_gpu(self._booster, settings)
        self._rate = settings.learning_rate
        self._power = 0
        self._fixed_scale = kind == "dart" or not user.keys().isdisjoint(OF_GRADIENTS)

    @staticmethod
    def check(settings: TreeSettings, schema: Schema) -> Params:
        """Return the user's parameters, of which none is refused."""
        check_threads(settings.n_jobs)
        with translated(REFUSED), xgb.config_context(verbosity=_checked_verbosity(settings)):
            return user_params(settings, tree_params(settings), schema)

    @contextmanager
    def _translated(self, message: str, kind: type[ValueError] = ValueError) -> Iterator[None]:
        """Have XGBoost speak as much as the user wants, and its errors be gbrank's."""
        with xgb.config_context(verbosity=self._verbosity), translated(message, kind):
            yield

    def step(self, derivatives: GradientFunction) -> None:
        """Grow one tree."""
        with self._translated("XGBoost could not grow a tree", BoosterError):
            if self._seed_each_round:
                # The sampler of features has a state, which loading the configuration resets.
                self._booster.load_config(self._booster.save_config())
            rounds = self._booster.num_boosted_rounds()
            self._booster.update(self._train, rounds, partial(self._scaled, derivatives))

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""
        return self._scores(self._train)

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return [
            data.by(self._booster) if isinstance(data, SparseScores) else self._scores(data)
            for data in self._valid
        ]

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
        """Release the data; `meeting` connects and disconnects workers."""
        del self._booster, self._train, self._valid

    def _scaled(
        self, derivatives: GradientFunction, scores: Vector, _: xgb.DMatrix
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


def _checked_verbosity(settings: TreeSettings) -> int:
    """Return how much XGBoost says; a number that it refuses would stay set in the process."""
    name = "verbosity in booster_params"
    return int(check_number(settings.params.get("verbosity", 0), name, 0, 3, integer=True))


def _warn_of_no_gpu(booster: xgb.Booster, settings: TreeSettings) -> None:
    """Warn that XGBoost trains on the CPU though asked for a GPU, as it would itself."""
    device = settings.params.get("device", "cpu")
    if device != "cpu":
        config = json.loads(booster.save_config())
        used = config["learner"]["generic_param"]["device"]
        if used == "cpu":
            warn_user(f"XGBoost finds no GPU for device={device!r}, and trains on the CPU.")
        elif ":" in device and device.partition(":")[2] != used.partition(":")[2]:
            warn_user(f"XGBoost finds no such GPU as device={device!r}, and trains on {used!r}.")
