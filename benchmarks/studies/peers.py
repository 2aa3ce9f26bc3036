"""What LightGBM, XGBoost and CatBoost have for ranking, by name, on the trees of the studies."""

from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from gbrank import Queries, lightgbm_feval, xgboost_feval
from gbrank.common.grammar import parse_options
from gbrank.evaluation import ranker_from_name

__all__ = ["ALL_PAIRS", "PEERS", "Peer", "ranker_of_name"]

ALL_PAIRS = "lightgbm:lambdarank:lambdarank_truncation_level=10000"
PEERS = (
    "lightgbm:lambdarank",
    ALL_PAIRS,
    "lightgbm:rank_xendcg",
    "xgboost:rank:ndcg",
    "catboost:YetiRank",
    "catboost:YetiRank:mode=NDCG",
    "catboost:StochasticRank:metric=NDCG",
)
MEASURE = "ndcg@10"


def ranker_of_name(name: str, **budget: Any) -> Any:
    """Return an unfitted ranker of gbrank or CatBoost, or an objective of LightGBM or XGBoost."""
    if name.startswith(("lightgbm:", "xgboost:")):
        return Peer(name, **budget)
    return ranker_from_name(name, **budget)


class Peer(BaseEstimator):
    """An objective of LightGBM or XGBoost, with the parameters of `ranker_from_name`.

    Options stand after the name, as in `ALL_PAIRS`. It stops early by NDCG@10.
    """

    def __init__(
        self,
        name: str,
        n_estimators: int = 5000,
        learning_rate: float = 0.05,
        num_leaves: int = 15,
        min_child_samples: int = 20,
        subsample: float = 0.8,
        colsample: float = 0.7,
        early_stopping_rounds: int | None = 100,
        random_state: int = 0,
        n_jobs: int = 1,
    ) -> None:
        self.name, self.n_estimators, self.learning_rate = name, n_estimators, learning_rate
        self.num_leaves, self.min_child_samples = num_leaves, min_child_samples
        self.subsample, self.colsample = subsample, colsample
        self.early_stopping_rounds = early_stopping_rounds
        self.random_state, self.n_jobs = random_state, n_jobs

    def fit(
        self, X: Any, y: ArrayLike, *, qid: ArrayLike, eval_set: Any = (), eval_qid: Any = ()
    ) -> "Peer":
        """Train it; the rows of a query must be neighbours."""
        booster, _, objective = self.name.partition(":")
        head, _, last = objective.rpartition(":")
        own = parse_options(last, self.name) if "=" in last else {}
        own["objective"] = head if own else objective
        parts = [(X, y, qid), *((*part, ids) for part, ids in zip(eval_set, eval_qid, strict=True))]
        parts = [(X, y, Queries.from_qid(ids).sizes) for X, y, ids in parts]
        self.evals_result_: dict[str, Any] = {}
        (self._train_lightgbm if booster == "lightgbm" else self._train_xgboost)(own, *parts)
        curve = self.evals_result_.get("valid_0", {}).get(MEASURE, [np.nan] * self.n_estimators)
        patience = self.early_stopping_rounds
        self.best_iteration_ = 1 + int(np.argmax(curve)) if patience else len(curve)
        self.best_score_ = curve[self.best_iteration_ - 1]
        return self

    def _train_lightgbm(self, own: dict[str, Any], *parts: Any) -> None:
        params = {
            "learning_rate": self.learning_rate, "num_leaves": self.num_leaves, "metric": "none",
            "min_data_in_leaf": self.min_child_samples, "bagging_fraction": self.subsample,
            "bagging_freq": 1, "feature_fraction": self.colsample, "seed": self.random_state,
            "num_threads": self.n_jobs, "deterministic": True, "force_col_wise": True,
            "verbosity": -1, **own,
        }  # fmt: skip
        train, *valid = (lgb.Dataset(X, y, group=sizes) for X, y, sizes in parts)
        callbacks = [lgb.record_evaluation(self.evals_result_)]
        if valid and self.early_stopping_rounds:
            callbacks.append(lgb.early_stopping(self.early_stopping_rounds, verbose=False))
        self.booster_ = lgb.train(
            params, train, self.n_estimators, valid, feval=lightgbm_feval(MEASURE),
            callbacks=callbacks,
        )  # fmt: skip

    def _train_xgboost(self, own: dict[str, Any], *parts: Any) -> None:
        params = {
            "eta": self.learning_rate, "max_leaves": self.num_leaves, "max_depth": 0,
            "grow_policy": "lossguide", "lambda": 0, "base_score": 0, "subsample": self.subsample,
            "colsample_bytree": self.colsample, "seed": self.random_state, "nthread": self.n_jobs,
            "disable_default_eval_metric": True, **own,
        }  # fmt: skip
        data = [xgb.DMatrix(X, y, group=sizes, nthread=self.n_jobs) for X, y, sizes in parts]
        valid = [(part, f"valid_{i}") for i, part in enumerate(data[1:])]
        self.booster_ = xgb.train(
            params, data[0], self.n_estimators, evals=valid, custom_metric=xgboost_feval(MEASURE),
            maximize=True, evals_result=self.evals_result_, verbose_eval=False,
            early_stopping_rounds=self.early_stopping_rounds if valid else None,
        )  # fmt: skip

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the scores of the best round."""
        if isinstance(self.booster_, lgb.Booster):
            return np.asarray(self.booster_.predict(X, num_iteration=self.best_iteration_))
        return self.booster_.predict(xgb.DMatrix(X), iteration_range=(0, self.best_iteration_))
