"""Training, prediction and storage with LightGBM."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import c_char_p, c_int
from dataclasses import replace
from typing import Any

import lightgbm as lgb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gbrank.boosters.bins import BINNED_ROWS, binned_rows
from gbrank.boosters.interface import (
    Derivatives,
    Matrix,
    Settings,
    State,
    own_params,
    refuse_cutting,
    refuse_resuming,
    safe_names,
    single_precision,
)
from gbrank.boosters.lightgbm.trees import lightgbm_trees
from gbrank.boosters.tree import Tree
from gbrank.common.checks import check_number
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_noise
from gbrank.data.schema import Features, Schema
from gbrank.parallel.collective import gather, n_workers

__all__ = ["LightGBMModel", "LightGBMTrainer", "lightgbm_network"]

Vector = NDArray[np.float64]

TAKEN = {
    "objective": "the argument objective",
    "metric": "the argument eval_metric",
    "num_iterations": "the argument n_estimators",
    "early_stopping_round": "the argument early_stopping_rounds",
    "learning_rate": "the argument learning_rate",
    "num_leaves": "the argument num_leaves",
    "max_depth": "the argument max_depth",
    "min_data_in_leaf": "the argument min_child_samples",
    "bagging_fraction": "the argument subsample",
    "bagging_by_query": "the argument subsample_by",
    "feature_fraction": "the argument colsample",
    "lambda_l2": "the argument reg_lambda",
    "seed": "the argument random_state",
    "num_threads": "the argument n_jobs",
    "machines": "gbrank.distributed",
    "num_machines": "gbrank.distributed",
}
SEEDS = ("bagging_seed", "feature_fraction_seed", "extra_seed")
# What is drawn by these seeds, besides by subsample and colsample.
SAMPLING = ("extra_trees", "feature_fraction_bynode")
# What keeps a state between rounds, or grows splits where there is nothing to gain.
STATEFUL = (
    "cegb_penalty_feature_coupled",
    "cegb_penalty_feature_lazy",
    "cegb_penalty_split",
    "cegb_tradeoff",
    "data_sample_strategy",
    "forcedsplits_filename",
    "neg_bagging_fraction",
    "pos_bagging_fraction",
    "use_quantized_grad",
)


class LightGBMModel:
    """A trained LightGBM booster."""

    suffix = ".txt"

    def __init__(self, native: lgb.Booster) -> None:
        self.native = native

    @classmethod
    def load(cls, content: bytes) -> "LightGBMModel":
        """Read a model from LightGBM's text format."""
        try:
            return cls(lgb.Booster(model_str=content.decode()))
        except (lgb.basic.LightGBMError, UnicodeDecodeError) as error:
            raise ValueError(f"not a LightGBM model: {error}") from None

    def dump(self) -> bytes:
        """Return the model in LightGBM's text format."""
        return bytes(self.native.model_to_string().encode())

    def predict(self, X: Features, schema: Schema, n_jobs: int) -> Vector:
        """Return the score of each row."""
        scores = self.native.predict(X, raw_score=True, num_threads=n_jobs, validate_features=False)
        return np.asarray(scores, dtype=np.float64)

    def contributions(self, X: Features, schema: Schema, n_jobs: int) -> Matrix:
        """Return what each feature adds to each row's score, and the mean score last."""
        shares: Any = self.native.predict(
            X, pred_contrib=True, num_threads=n_jobs, validate_features=False
        )
        return np.asarray(shares.toarray() if sp.issparse(shares) else shares, dtype=np.float64)

    def importances(self) -> Vector:
        """Return each feature's total gain."""
        return np.asarray(self.native.feature_importance("gain"), dtype=np.float64)

    def trees(self) -> list[Tree]:
        """Return the trees, whose sum is the score."""
        return lightgbm_trees(self.native)


class LightGBMTrainer:
    """A LightGBM booster in training."""

    def __init__(
        self,
        train: Rows,
        valid: list[Rows],
        schema: Schema,
        settings: Settings,
        state: State | None = None,
    ) -> None:
        params = _params(settings)
        if params["boosting"] == "rf":
            raise ValueError(
                "booster_params must not set boosting='rf': a random forest does not boost, "
                "and takes no objective of gbrank. Use 'gbdt' or 'dart'."
            )
        refuse_cutting(params["boosting"], settings.early_stopping)
        self._seeds = {name: params.get(name, settings.seed) for name in SEEDS}
        self._given = {name: params[name] for name in ("seed", *SEEDS) if name in params}
        stateful = _stateful(params, settings)
        refuse_resuming(settings, stateful)
        self._keyed = _samples(params) and settings.built_in is None and not stateful
        if state is not None:
            train, *valid = [
                replace(rows, init_score=np.frombuffer(state[f"scores_{i}"]))
                for i, rows in enumerate([train, *valid])
            ]
        self._order = None
        if settings.built_in is not None and not train.queries.contiguous:
            self._order = train.queries.order
            train = train.grouped()
        try:
            data = _dataset(train, schema, settings, _bins(train, schema, settings))
            if settings.built_in is not None:
                data.set_group(train.queries.sizes)
                data.set_weight(train.weights)
            self._booster = lgb.Booster(params, data)
        except lgb.basic.LightGBMError as error:
            raise ValueError(f"LightGBM refuses the parameters or data: {error}") from None
        _refuse_constant(data, schema.n_features)
        for i, rows in enumerate(valid):
            self._booster.add_valid(_dataset(rows, schema, settings, data), f"valid_{i}")
        self._trees = [0]  # after each round: one that finds no split adds none
        if state is not None:
            self._trees = np.frombuffer(state["trees"], dtype=np.int64).tolist()
            self._go_on_from(state["model"], len(train.labels))

    def step(self, derivatives: Derivatives | None) -> None:
        """Grow one tree."""
        if self._keyed and self._round > 0:
            self._reseed()
        if derivatives is None:
            self._booster.update()
        else:
            self._booster.update(fobj=lambda scores, _: single_precision(derivatives(scores)))
        self._trees.append(self._booster.current_iteration())

    def train_scores(self) -> Vector:
        """Return the current scores of the training rows, in input order."""
        scores = _capture(self._booster.eval_train)[0]
        if self._order is not None:
            grouped, scores = scores, np.empty(len(scores))
            scores[self._order] = grouped
        return scores

    def valid_scores(self) -> list[Vector]:
        """Return the current scores of each validation set."""
        return _capture(self._booster.eval_valid)

    def state(self) -> State:
        """Return the trees and the scores, whose last bits the trees do not determine."""
        scores = [self.train_scores(), *self.valid_scores()]
        return {
            "trees": np.array(self._trees, dtype=np.int64).tobytes(),
            "model": self._booster.model_to_string(num_iteration=-1).encode(),
            **{f"scores_{i}": values.tobytes() for i, values in enumerate(scores)},
        }

    def finish(self, rounds: int) -> LightGBMModel:
        """Return the model of the first rounds."""
        if self._keyed:
            self._booster.reset_parameter({**self._given, "pos_bagging_fraction": 1.0})
        text = self._booster.model_to_string(num_iteration=self._trees[rounds])
        return LightGBMModel.load(text.encode())

    @property
    def _round(self) -> int:
        return len(self._trees) - 1

    def _go_on_from(self, model: bytes, n_documents: int) -> None:
        """Take over trees whose scores are the data's initial scores."""
        trees = LightGBMModel.load(model).native
        merge = lgb.basic._LIB.LGBM_BoosterMerge
        lgb.basic._safe_call(merge(self._booster._handle, trees._handle))
        if self._keyed:
            # LightGBM's first round draws features another way, if it is not the round of its
            # seed. A round without gradients grows no tree.
            nothing = np.zeros(n_documents), np.ones(n_documents)
            self._booster.update(fobj=lambda *_: nothing)

    def _reseed(self) -> None:
        """Make what a round draws depend on the seed and the round only."""
        # LightGBM heeds a new bagging_seed only where one of the fractions changes; this one is
        # for binary classification.
        other = {"pos_bagging_fraction": 0.25 if self._round % 2 else 0.75}
        for i, (name, seed) in enumerate(self._seeds.items()):
            noise = query_noise(np.array([i], dtype=np.uint64), seed, self._round)
            other[name] = int(noise[0] >> np.uint64(34))
        self._booster.reset_parameter(other)


@contextmanager
def lightgbm_network(host: str) -> Iterator[None]:
    """Connect all workers of a distributed fit, for LightGBM to grow trees together.

    Parameters
    ----------
    host : str
        The address of this worker's machine.
    """
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
        machines = ",".join(gather(f"{host}:{port}"))
    library = lgb.basic._LIB
    minutes = c_int(120)
    names = c_char_p(machines.encode())
    lgb.basic._safe_call(library.LGBM_NetworkInit(names, c_int(port), minutes, c_int(n_workers())))
    try:
        yield
    finally:
        lgb.basic._safe_call(library.LGBM_NetworkFree())


def _samples(params: dict[str, Any]) -> bool:
    fractions = (params.get("bagging_fraction", 1), params["feature_fraction"])
    return min(fractions) < 1 or any(name in params for name in SAMPLING)


def _stateful(params: dict[str, Any], settings: Settings) -> list[str]:
    """Return what keeps training from going on to the same model."""
    found = [name for name in STATEFUL if name in params]
    if params.get("bagging_freq", 1) != 1:
        found.append(f"bagging_freq={params['bagging_freq']}")
    if params["boosting"] != "gbdt":
        found.append(f"boosting={params['boosting']!r}")
    if settings.built_in is not None:
        found += ["sampling by the booster's own objective"] if _samples(params) else []
        found += ["its rank_xendcg"] if "xendcg" in settings.built_in else []
    return found


def _refuse_constant(data: lgb.Dataset, n_features: int) -> None:
    if all(data.feature_num_bin(feature) <= 1 for feature in range(n_features)):
        raise ValueError("X must have a feature that varies: there is nothing to split on.")


def _capture(evaluate: Any) -> list[Vector]:
    """Let LightGBM hand its scores to a metric, which keeps them."""
    seen: list[Vector] = []

    def keep(scores: Any, _: lgb.Dataset) -> tuple[str, float, bool]:
        seen.append(np.array(scores, dtype=np.float64))
        return "kept", 0.0, True

    evaluate(feval=keep)
    return seen


def _params(settings: Settings) -> dict[str, Any]:
    names = lgb.basic._ConfigAliases._get_all_param_aliases()
    aliases = {alias: main for main, others in names.items() for alias in others}
    own = own_params(settings.params, aliases, names, TAKEN)
    layout = {} if "force_row_wise" in own else {"force_col_wise": True}
    together = {"tree_learner": "data", "num_machines": n_workers()} if n_workers() > 1 else {}
    bagging = {"bagging_fraction": settings.subsample, "bagging_freq": 1}
    return {
        "objective": settings.built_in or "none",
        "metric": "none",
        "boost_from_average": False,
        "learning_rate": settings.learning_rate,
        "num_leaves": settings.num_leaves,
        "max_depth": -1 if settings.max_depth is None else settings.max_depth,
        "min_data_in_leaf": settings.min_child_samples,
        "feature_fraction": settings.colsample,
        "lambda_l2": settings.reg_lambda,
        "seed": settings.seed,
        "num_threads": settings.n_jobs,
        "deterministic": True,
        **layout,
        "feature_pre_filter": False,
        "verbosity": -1,
        **(bagging if settings.subsample < 1 else {}),
        "boosting": "gbdt",
        **together,
        **own,
    }


def _bins(rows: Rows, schema: Schema, settings: Settings) -> lgb.Dataset | None:
    """Return what has the bins of a sample of all workers' rows, where LightGBM would take others.

    By itself, it would draw rows by their place, and take each feature's bins from one worker.
    """
    most = _params(settings).get("bin_construct_sample_cnt", BINNED_ROWS)
    check_number(most, "bin_construct_sample_cnt in booster_params", 1, integer=True)
    if n_workers() == 1 and (settings.built_in is not None or len(rows.labels) <= most):
        return None
    chosen = binned_rows(rows.X, most)
    parts = gather((rows.X[chosen], rows.labels[chosen]))
    X = [part for part, _ in parts]
    sample = Rows(
        sp.vstack(X, format="csr") if sp.issparse(X[0]) else np.concatenate(X),
        np.concatenate([labels for _, labels in parts]),
        rows.queries,
    )
    return _dataset(sample, schema, settings)


def _dataset(
    rows: Rows, schema: Schema, settings: Settings, reference: lgb.Dataset | None = None
) -> lgb.Dataset:
    return lgb.Dataset(
        rows.X,
        rows.labels,
        reference=reference,
        init_score=rows.init_score,
        feature_name=safe_names(schema) or "auto",
        categorical_feature=schema.categorical or "auto",
        params=_params(settings),
    ).construct()
