"""What tests of hooks do with LightGBM and with XGBoost, by the same names."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from gbrank import lightgbm_feval, lightgbm_fobj, make_cubic, xgboost_feval, xgboost_obj
from gbrank.schedules import geometric

Vector = NDArray[np.float64]
N_QUERIES, M = 40, 15
X, Y, QID = make_cubic(N_QUERIES, n_documents=M, n_features=6, random_state=0)
SIZES = np.full(N_QUERIES, M)
SCORES = np.random.default_rng(1).normal(size=len(Y))
WEIGHTS = np.random.default_rng(2).uniform(0.5, 2, N_QUERIES).astype(np.float32)
ROUNDS = 6
FALLING = geometric(2.0, 0.5, rounds=ROUNDS)


class LightGBM:
    """LightGBM's names for what the tests do."""

    options: ClassVar = {"verbose": -1, "num_threads": 1}
    hook = staticmethod(lightgbm_fobj)
    feval = staticmethod(lightgbm_feval)

    @classmethod
    def data(cls, y: Any = Y, weight: Any = None, X: Any = X, sizes: Any = SIZES) -> lgb.Dataset:
        """Return training data, with one weight per query."""
        weight = None if weight is None else np.repeat(weight, sizes)
        data = lgb.Dataset(X, y, group=sizes, weight=weight, params=cls.options)
        data.free_raw_data = False
        return data

    @classmethod
    def train(cls, hook: Any, data: Any, rounds: int = ROUNDS, start: Any = None,
              **more: Any) -> lgb.Booster:  # fmt: skip
        """Return a booster."""
        return lgb.train({**cls.options, "objective": hook, **more}, data, rounds, init_model=start)

    @classmethod
    def loop(cls, hook: Any) -> Iterator[lgb.Booster]:
        """Call `update`, round by round."""
        booster = lgb.Booster({**cls.options, "objective": "none"}, cls.data())
        while not booster.update(fobj=hook):
            yield booster

    @classmethod
    def cross_validate(cls, hook: Any, feval: Any) -> dict[str, Any]:
        """Return the history of three folds."""
        options: ClassVar = {**cls.options, "objective": hook, "metric": "none"}
        folds = GroupKFold(3).split(X, groups=QID)
        return lgb.cv(options, cls.data(), ROUNDS, folds=folds, feval=feval)

    @staticmethod
    def scores(booster: lgb.Booster, X: Any = X) -> Vector:
        """Return predictions."""
        return booster.predict(X, num_threads=1)


class XGBoost:
    """XGBoost's names for the same."""

    options: ClassVar = {"nthread": 1, "base_score": 0.0, "disable_default_eval_metric": True}
    hook = staticmethod(xgboost_obj)
    feval = staticmethod(xgboost_feval)

    @staticmethod
    def data(y: Any = Y, weight: Any = None, X: Any = X, sizes: Any = SIZES) -> xgb.DMatrix:
        """Return training data, with one weight per query."""
        return xgb.DMatrix(X, y, group=sizes, weight=weight, nthread=1)

    @classmethod
    def train(cls, hook: Any, data: Any, rounds: int = ROUNDS, start: Any = None,
              **more: Any) -> xgb.Booster:  # fmt: skip
        """Return a booster."""
        return xgb.train({**cls.options, **more}, data, rounds, obj=hook, xgb_model=start)

    @classmethod
    def loop(cls, hook: Any) -> Iterator[xgb.Booster]:
        """Call `update`, round by round."""
        data = cls.data()
        booster = xgb.Booster(cls.options, [data])
        for round in itertools.count():
            booster.update(data, round, fobj=hook)
            yield booster

    @classmethod
    def cross_validate(cls, hook: Any, feval: Any) -> dict[str, Any]:
        """Return the history of three folds."""
        return xgb.cv(cls.options, cls.data(), ROUNDS, nfold=3, obj=hook, custom_metric=feval,
                      as_pandas=False)  # fmt: skip

    @staticmethod
    def scores(booster: xgb.Booster, X: Any = X) -> Vector:
        """Return predictions."""
        return booster.predict(xgb.DMatrix(X, nthread=1), output_margin=True)


both = pytest.mark.parametrize("kit", [LightGBM, XGBoost], ids=["lightgbm", "xgboost"])


def constructed(data: Any) -> Any:
    """Return data that a hook can be called with by hand."""
    return data.construct() if isinstance(data, lgb.Dataset) else data


def schedule_of(rounds: range) -> Vector:
    """Return the sigmas that these rounds must have, and NaN for those before."""
    return np.array([np.nan] * rounds.start + [FALLING(round) for round in rounds])


def recording(into: list[float]) -> Callable[..., Any]:
    """Return a regression to the labels that writes down the sigma of each query."""

    def objective(scores: Vector, labels: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        into.append(sigma)
        return 0.0, scores - labels, np.ones_like(scores)

    return objective
