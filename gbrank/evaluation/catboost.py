"""CatBoost's rankers, under the same conditions as GBRanker."""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gbrank.common.arrays import Vector
from gbrank.common.extras import needed
from gbrank.common.threads import usable_threads
from gbrank.data.rows import Rows
from gbrank.data.schema import Features, Schema
from gbrank.fit.arguments import FitData

FIXED = {
    "eval_metric": "NDCG:top=10;type=Exp",
    "bootstrap_type": "No",
    "allow_writing_files": False,
    "logging_level": "Silent",
}


@dataclass(repr=False, eq=False)
class CatBoostPeer(BaseEstimator):
    """A CatBoost ranker whose `fit` is that of `GBRanker`.

    `loss_function` ("YetiRank:mode=NDCG") and `params` are CatBoost's. It stops early by CatBoost's
    own NDCG@10.
    """

    loss_function: str = "YetiRank"
    _: KW_ONLY
    n_estimators: int = 300
    early_stopping_rounds: int | None = None
    random_state: int = 0
    n_jobs: int | None = None
    params: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        needed("catboost", "catboost")

    def fit(
        self,
        X: object,
        y: ArrayLike,
        *,
        qid: ArrayLike,
        eval_set: Sequence[tuple[Any, ArrayLike]] | None = None,
        eval_qid: Sequence[ArrayLike] | None = None,
        categorical_feature: Sequence[int | str] | None = None,
    ) -> "CatBoostPeer":
        """Train the ranker; arguments are those of `GBRanker.fit`."""
        catboost = needed("catboost", "catboost")
        self._schema = Schema.learn(X, categorical_feature)
        rows, valid = FitData(X, y, qid=qid, eval_set=eval_set, eval_qid=eval_qid).checked(
            self._schema
        )
        patience = self.early_stopping_rounds if valid else None
        params = {
            **FIXED,
            **(self.params or {}),
            "loss_function": self.loss_function,
            "iterations": self.n_estimators,
            "random_seed": self.random_state,
            "thread_count": usable_threads(self.n_jobs),
            "od_wait": patience,
        }
        try:
            train, *others = (
                catboost.Pool(
                    self._table(part.X),
                    part.y,
                    group_id=part.queries.index,
                    cat_features=self._schema.categorical,
                )
                for part in map(Rows.grouped, (rows, *valid[:1]))
            )
            self.model_ = catboost.CatBoost(params)
            self.model_.fit(train, eval_set=others or None, use_best_model=patience is not None)
        except catboost.CatBoostError as error:
            raise ValueError(f"CatBoost refuses the parameters or data: {error}") from None
        self.best_iteration_ = self.model_.tree_count_
        return self

    def predict(self, X: object) -> Vector:
        """Return the score of each row; higher ranks earlier within its query."""
        check_is_fitted(self)
        table = self._table(self._schema.transform(X))
        return np.asarray(self.model_.predict(table, thread_count=usable_threads(self.n_jobs)))

    def _table(self, features: Features) -> Any:
        """Return the features as CatBoost takes them: codes of categories are integers."""
        if not (codes := self._schema.categorical):
            return features
        table = needed("pandas").DataFrame(features)
        return table.fillna(dict.fromkeys(codes, -1)).astype(dict.fromkeys(codes, int))
