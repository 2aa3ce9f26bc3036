"""Training with XGBoost: its parameters, and its rounds."""

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gbrank.boosters.booster import whole_number
from gbrank.boosters.interface import (
    GradientFunction,
    Params,
    State,
    TreeSettings,
    bin_sample,
    safe_names,
    single_precision,
)
from gbrank.common.checks import Function, Single, Vector, check_choice, warn_user
from gbrank.common.collective import BoosterError, all_max
from gbrank.common.runtime import interrupts_held
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features, dense_blocks, stacked
from gbrank.data.schema import Schema

from . import XGBOOST
from .library import check_threads, translated, xgb
from .trained_model import NOT_HELD, XGBoostModel, as_matrix

# Parameters that draw features, besides colsample.
DRAWING = ("colsample_bylevel", "colsample_bynode")
# Parameters in units of the gradient, or of its square.
OF_GRADIENTS = ("alpha", "gamma", "max_delta_step")
# https://xgboost.readthedocs.io/en/stable/parameter.html
REFUSED = "XGBoost refuses the parameters or data"
# The coarsest rounding of initial scores, in units of their standard deviation.
COARSEST = 1e-3
# Gradients below this are scaled up, where the mean curvature is 1.
SMALL = 1.0
# By at most 2 to this power: learning rate and leaves must be numbers in single precision.
LARGEST_POWER = 100


def tree_params(settings: TreeSettings, schema: Schema) -> Params:
    """Translate settings into XGBoost's parameters, checked by a booster of placeholder data."""
    check_threads(settings.n_jobs)
    kind = settings.params.get("booster") or "gbtree"
    check_choice(kind, "booster in booster_params", ["gbtree", "dart"])  # which grow trees
    drawn = settings.colsample < 1 or not settings.params.keys().isdisjoint(DRAWING)
    params = {
        "booster": kind,
        # With mean curvature 1 this counts documents, as LightGBM's min_data_in_leaf does.
        "min_child_weight": settings.min_child_samples,
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
        "seed_per_iteration": drawn and kind != "dart",  # draws depend on seed and round only
        "disable_default_eval_metric": True,
    }
    # A number that XGBoost refuses would stay set in the process.
    verbosity = whole_number(settings.params, "verbosity", 0, 0, 3)
    with translated(REFUSED), xgb.config_context(verbosity=verbosity):
        placeholder = xgb.DMatrix(np.zeros((1, schema.n_features)), nthread=1)
        booster = xgb.Booster(params, [placeholder])
        # In its nested configuration, values of parameters are texts, and else only names of parts.
        known = {*re.findall(r'"(\w+)":"', booster.save_config()), "verbosity"} - {"name"}
        params |= XGBOOST.options.check(settings.params, params, known, schema)
        params.pop("verbosity", None)
        booster.set_param(params)
        booster.save_config()
    return params | {"verbosity": verbosity}


class XGBoostTrainer:
    """An XGBoost booster in training."""

    @interrupts_held()
    def __init__(
        self, rows: Sequence[Documents], schema: Schema, settings: TreeSettings, state: State | None
    ) -> None:
        params = tree_params(settings, schema)
        XGBOOST.options.check_state(settings, params)
        dart = params["booster"] == "dart"
        self._seed_each_round = params["seed_per_iteration"]
        # As a parameter of the booster, it would stay set for the whole process.
        self._verbosity = params.pop("verbosity")
        for part in rows:
            check_margin(part.init_score)
        self._train = training_matrix(rows[0], schema, settings)
        self._sets: list[xgb.DMatrix | SparseScores] = [self._train]
        self._sets += [
            SparseScores(part)
            if sp.issparse(part.X) and not dart
            else as_matrix(part.X, settings.n_jobs, part.init_score)
            for part in rows[1:]
        ]
        model = None if state is None else bytearray(state["model"])
        with xgb.config_context(verbosity=self._verbosity), translated(REFUSED):
            self._booster = xgb.Booster(None, [self._train], model)
            self._booster.set_param(params)  # the constructor reads constraints by name only
            used = json.loads(self._booster.save_config())["learner"]["generic_param"]["device"]
        device = settings.params.get("device") or "cpu"
        if not used.startswith(device.replace("gpu", "cuda")):  # XGBoost itself would warn of it
            warn_user(f"XGBoost finds no GPU for device={device!r}, and trains on {used!r}.")
        self._rate = settings.learning_rate
        self._power = 0
        self._fixed_scale = dart or not params.keys().isdisjoint(OF_GRADIENTS)

    def step(self, derivatives: GradientFunction) -> None:
        """Grow one tree; a power of two scales tiny gradients up and the learning rate down.

        XGBoost takes no split that gains less than 1e-6, and a gain has the scale of the gradient
        squared: it would grow stumps where sigma is narrow.
        """

        def obj(scores: Vector, _: xgb.DMatrix) -> tuple[Single, Single]:
            gradient, curvature = derivatives(scores)
            size = float(all_max(np.abs(gradient).max()))
            small = 0 < size < SMALL and not self._fixed_scale
            power = min(-int(np.frexp(size)[1]), LARGEST_POWER) if small else 0
            if power != self._power:
                self._power = power
                self._booster.set_param({"eta": float(np.ldexp(self._rate, -power))})
            return single_precision((np.ldexp(gradient, power), curvature))

        failed = translated("XGBoost could not grow a tree", BoosterError)
        with xgb.config_context(verbosity=self._verbosity), failed:
            if self._seed_each_round:
                # The sampler of features has a state, which loading the configuration resets.
                self._booster.load_config(self._booster.save_config())
            self._booster.update(self._train, self._booster.num_boosted_rounds(), obj)

    def scores(self, place: int) -> Vector:
        """Compute the current scores of the training rows, or of a validation set."""
        rows = self._sets[place]
        if isinstance(rows, SparseScores):
            return rows.by(self._booster)
        scores = self._booster.predict(rows, output_margin=True, validate_features=False)
        return np.asarray(scores, dtype=np.float64)

    def state(self) -> State:
        """Serialize the trees, from which XGBoost computes the same scores again."""
        return {"model": XGBoostModel(self._booster).dump()}

    @interrupts_held()
    def finish(self, rounds: int) -> XGBoostModel:
        """Cut the model after some rounds."""
        return XGBoostModel(self._booster[:rounds])

    @interrupts_held()
    def close(self) -> None:
        """Release the data; `meeting` connects and disconnects workers."""
        del self._booster, self._train, self._sets


def check_margin(init_score: Vector | None) -> None:
    """Check initial scores: single precision must tell them apart."""
    if init_score is None:
        return
    largest = init_score[np.abs(init_score).argmax()]
    step = np.spacing(np.float32(abs(largest)))
    if step > COARSEST * max(1.0, init_score.std()):
        raise ValueError(
            "init_score must be closer to 0 with XGBoost, whose single-precision numbers are "
            f"{step:.3g} apart at {largest}: subtract the mean."
        )


def training_matrix(rows: Documents, schema: Schema, settings: TreeSettings) -> xgb.DMatrix:
    """Bin data in a way that, unlike XGBoost's own, does not depend on the order of rows."""
    types = ["c" if place in schema.categorical else "q" for place in range(schema.n_features)]
    columns = {"feature_names": safe_names(schema), "feature_types": types}
    user = settings.params
    n_jobs = settings.n_jobs
    if user.get("tree_method", "hist") != "hist":
        return as_matrix(rows.X, n_jobs, rows.init_score, **columns)
    options = {"nthread": n_jobs, "enable_categorical": True, "max_bin": user.get("max_bin")}
    with translated(NOT_HELD, BoosterError):
        bins = xgb.QuantileDMatrix(_Blocks(_sample(rows.X), columns), **options)
        data = xgb.QuantileDMatrix(_Blocks(rows.X, columns), ref=bins, **options)
        data.set_info(base_margin=rows.init_score)
    return data


def _sample(X: Features) -> Features:
    """Take rows whose bins are those of all, the largest numbers among them."""
    sample = bin_sample(X)
    if sample.shape[0] == X.shape[0]:
        return sample
    # Beyond the last bin, a value would go another way in prediction than in training.
    sparse = sp.issparse(X)
    largest = X.tocsc().nanmax(axis=0) if sparse else np.fmax.reduce(X, axis=0, keepdims=True)
    return stacked([sample, largest])


class _Blocks(xgb.DataIter):
    """Gives XGBoost features as arrays: it takes what is not in a sparse matrix as missing."""

    def __init__(self, X: Features, columns: dict[str, Any]) -> None:
        super().__init__()
        self._X = X
        self._columns = columns
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._blocks = dense_blocks(self._X)

    def next(self, input_data: Function) -> bool:
        """Give the next rows, if there are any."""
        if (block := next(self._blocks, None)) is not None:
            input_data(data=block, **self._columns)
        return block is not None


class SparseScores:
    """Scores of sparse rows, to which new trees are added: XGBoost would keep an array of rows."""

    def __init__(self, rows: Documents) -> None:
        self._X = rows.X
        self._n_rounds = 0
        start = 0.0 if rows.init_score is None else rows.init_score
        self._scores = np.full(len(rows.y), start, np.float32)

    def by(self, booster: xgb.Booster) -> Vector:
        """Add the scores of a booster's new trees."""
        rounds = (self._n_rounds, booster.num_boosted_rounds())
        row = 0
        for block in dense_blocks(self._X):
            part = self._scores[row : row + len(block)]
            part[:] = booster.inplace_predict(
                block.astype(np.float32),
                iteration_range=rounds,
                predict_type="margin",
                base_margin=part,
                validate_features=False,
            )
            row += len(block)
        self._n_rounds = rounds[1]
        return self._scores.astype(np.float64)
