"""Rankers by name, all with the same budget: gbrank's, LightGBM's, XGBoost's and CatBoost's."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn.base import BaseEstimator

from gbrank import GBRanker, Queries, get_objective
from gbrank.common.grammar import parse_options

__all__ = ["ALL_PAIRS", "PEERS", "ranker_from_name"]

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
CATBOOST = {
    "eval_metric": "NDCG:top=10;type=Exp",
    "bootstrap_type": "No",
    "allow_writing_files": False,
    "logging_level": "Silent",
}


@dataclass(repr=False, eq=False)
class Peer(BaseEstimator):
    """Another library's ranker with the parameters and the `fit` of `GBRanker`.

    `loss` is the library's own objective and `params` its parameters. It stops early by the
    library's own NDCG@10. CatBoost's trees are symmetric, and have no smallest leaf; they get the
    depth nearest to the logarithm of `num_leaves`.
    """

    library: str
    loss: str
    n_estimators: int = 5000
    learning_rate: float = 0.05
    num_leaves: int = 15
    min_child_samples: int = 20
    subsample: float = 0.8
    colsample: float = 0.7
    early_stopping_rounds: int | None = 100
    random_state: int = 0
    n_jobs: int = 1
    params: Mapping[str, Any] | None = None

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any,
        eval_set: Sequence[tuple[Any, Any]] = (),
        eval_qid: Sequence[Any] = (),
    ) -> "Peer":
        """Train on features in an array; a validation set is needed to stop early."""
        parts = []
        for (features, labels), ids in zip([(X, y), *eval_set], [qid, *eval_qid], strict=True):
            queries = Queries.from_qid(ids)
            rows = queries.order
            parts.append((np.asarray(features)[rows], np.asarray(labels)[rows], queries))
        patience = self.early_stopping_rounds if eval_set else None
        train = {"lightgbm": self._lightgbm, "xgboost": self._xgboost, "catboost": self._catboost}
        self.model_ = train[self.library](parts, patience)
        return self

    def predict(self, X: Any) -> Any:
        """Return the scores of rows."""
        return self.model_.predict(X)

    def _shared(self) -> dict[str, Any]:
        names = "n_estimators", "learning_rate", "subsample", "random_state"
        return {name: getattr(self, name) for name in names}

    def _lightgbm(self, parts: Sequence[Any], patience: int | None) -> Any:
        (X, y, queries), *valid = parts
        ranker = lgb.LGBMRanker(
            objective=self.loss, num_leaves=self.num_leaves, subsample_freq=1, verbosity=-1,
            min_child_samples=self.min_child_samples, colsample_bytree=self.colsample,
            n_jobs=self.n_jobs, **self._shared(), **(self.params or {}),
        )  # fmt: skip
        ranker.fit(
            X, y, group=queries.sizes, eval_at=[10], eval_X=tuple(part[0] for part in valid),
            eval_y=tuple(part[1] for part in valid), eval_group=[own.sizes for *_, own in valid],
            callbacks=[lgb.early_stopping(patience, verbose=False)] if patience else [],
        )  # fmt: skip
        values = ranker.evals_result_.get("valid_0", {})
        self.booster_, self.evals_result_ = ranker.booster_, {"valid_0": values}
        self.best_iteration_ = ranker.best_iteration_ or self.n_estimators
        return ranker

    def _xgboost(self, parts: Sequence[Any], patience: int | None) -> Any:
        (X, y, queries), *valid = parts
        ranker = xgb.XGBRanker(
            objective=self.loss, grow_policy="lossguide", max_depth=0, max_leaves=self.num_leaves,
            colsample_bytree=self.colsample, eval_metric="ndcg@10", n_jobs=self.n_jobs,
            early_stopping_rounds=patience, **self._shared(), **(self.params or {}),
        )  # fmt: skip
        ranker.fit(
            X, y, group=queries.sizes, eval_set=[part[:2] for part in valid],
            eval_group=[own.sizes for *_, own in valid], verbose=False,
        )  # fmt: skip
        self.best_iteration_ = ranker.best_iteration + 1 if patience else self.n_estimators
        return ranker

    def _catboost(self, parts: Sequence[Any], patience: int | None) -> Any:
        train, *valid = (
            catboost.Pool(X, y, group_id=queries.index[queries.order]) for X, y, queries in parts
        )
        params = CATBOOST | {"rsm": self.colsample, "depth": round(math.log2(self.num_leaves))}
        if self.subsample < 1:
            params |= {"bootstrap_type": "Bernoulli", "subsample": self.subsample}
        params |= {"n_estimators": self.n_estimators, "random_seed": self.random_state}
        params |= {"learning_rate": self.learning_rate, "thread_count": self.n_jobs}
        params |= {"loss_function": self.loss, "od_wait": patience, **(self.params or {})}
        ranker = catboost.CatBoost(params)
        ranker.fit(train, eval_set=valid[:1] or None, use_best_model=patience is not None)
        self.best_iteration_ = ranker.tree_count_
        return ranker


def ranker_from_name(name: str, *, eval_metric: Any = "ndcg@10", **budget: Any) -> Any:
    """Return an unfitted ranker, which has the same budget whatever its name.

    The name is an objective of gbrank's ("lambda:ndcg+listmle"), or LightGBM's, XGBoost's or
    CatBoost's own after a colon ("lightgbm:rank_xendcg", "xgboost:rank:map",
    "catboost:StochasticRank:metric=NDCG"); parameters of LightGBM's and XGBoost's follow after one
    more colon ("lightgbm:lambdarank:lambdarank_truncation_level=10000").
    """
    library, _, loss = name.partition(":")
    if library in ("lightgbm", "xgboost", "catboost"):
        before, _, last = loss.rpartition(":")
        if library != "catboost" and "=" in last:
            return Peer(library, before, **budget, params=parse_options(last, name))
        return Peer(library, loss, **budget)
    same = Peer("", "").get_params()
    for other in ("library", "loss", "params", "random_state", "n_jobs"):
        del same[other]
    given = same | budget | {"extra_trees": False, "eval_metric": eval_metric}
    # An object, not its name: other processes may not have registered it.
    return GBRanker(get_objective(name), **given)
