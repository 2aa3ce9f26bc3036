"""CatBoost's rankers, under the same conditions as GBRanker."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_jobs
from gbrank.common.extras import needed
from gbrank.common.threads import usable_threads
from gbrank.data.rows import Rows
from gbrank.data.schema import Features, Schema
from gbrank.fit.arguments import FitData


@dataclass(repr=False, eq=False)
class CatBoostPeer(BaseEstimator):
    """A CatBoost ranker with the parameters of `GBRanker`.

    `loss_function` is CatBoost's ("YetiRank:mode=NDCG"). It stops early by CatBoost's own NDCG@10;
    its symmetric trees get the depth nearest to the logarithm of `num_leaves`; `colsample` is by
    split.
    """

    loss_function: str = "YetiRank"
    _: KW_ONLY
    n_estimators: int = 300
    learning_rate: float = 0.1
    num_leaves: int = 31
    subsample: float = 1.0
    colsample: float = 1.0
    early_stopping_rounds: int | None = None
    random_state: int = 0
    n_jobs: int | None = None

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
        given = FitData(X, y, qid=qid, eval_set=eval_set, eval_qid=eval_qid)
        rows, valid = given.checked(self._schema)
        model = catboost.CatBoost(self._params(stops=bool(valid)))
        try:
            train, *others = (self._pool(part.grouped()) for part in (rows, *valid[:1]))
            model.fit(train, eval_set=others or None)
        except catboost.CatBoostError as error:
            raise ValueError(f"CatBoost refuses the parameters or data: {error}") from None
        self.model_, self.best_iteration_ = model, model.tree_count_
        return self

    def predict(self, X: object) -> Vector:
        """Return the score of each row; higher ranks earlier within its query."""
        check_is_fitted(self)
        table = self._table(self._schema.transform(X))
        return np.asarray(self.model_.predict(table, thread_count=usable_threads(self.n_jobs)))

    def _pool(self, rows: Rows) -> Any:
        return needed("catboost").Pool(
            self._table(rows.X),
            rows.y,
            group_id=rows.queries.index,
            cat_features=self._schema.categorical,
        )

    def _table(self, features: Features) -> Any:
        """Return the features as CatBoost takes them: codes of categories are integers."""
        if not self._schema.categorical:
            return features
        table = needed("pandas").DataFrame(features)
        codes = self._schema.categorical
        return table.fillna(dict.fromkeys(codes, -1)).astype(dict.fromkeys(codes, int))

    def _params(self, stops: bool) -> dict[str, Any]:
        params: dict[str, Any] = {
            "loss_function": self.loss_function,
            "iterations": self.n_estimators,
            "learning_rate": self.learning_rate,
            "depth": round(np.log2(self.num_leaves)),
            "rsm": self.colsample,
            "random_seed": self.random_state,
            "thread_count": usable_threads(check_jobs(self.n_jobs)),
            "allow_writing_files": False,
            "logging_level": "Silent",
            "eval_metric": "NDCG:top=10;type=Exp",
            "bootstrap_type": "No",
        }
        if self.subsample < 1:
            params |= {"bootstrap_type": "Bernoulli", "subsample": self.subsample}
        if self.early_stopping_rounds is None or not stops:
            return params | {"use_best_model": False}
        return params | {"od_type": "Iter", "od_wait": self.early_stopping_rounds}
