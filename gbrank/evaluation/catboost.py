"""CatBoost's rankers, under the same conditions as GBRanker."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gbrank.boosters.interface import Steps
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_jobs
from gbrank.common.extras import needed
from gbrank.common.threads import usable_threads
from gbrank.data.schema import Schema
from gbrank.fit.arguments import FitData
from gbrank.fit.loop import Evaluation, Loop
from gbrank.fit.rounds import EvalsResult, Stopping
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure


@dataclass(repr=False, eq=False)
class CatBoostPeer(BaseEstimator):
    """A CatBoost ranker that stops early as `GBRanker` does.

    CatBoost stops by its own NDCG on the validation data; then trees are cut off by gbrank's
    measure and patience. Parameters and attributes are those of `GBRanker`, except that
    `loss_function` is CatBoost's ("YetiRank:mode=NDCG"), that the symmetric trees get the depth
    nearest to the logarithm of `num_leaves`, and that `colsample` is by split.
    """

    loss_function: str = "YetiRank"
    _: KW_ONLY
    n_estimators: int = 300
    learning_rate: float = 0.1
    num_leaves: int = 31
    subsample: float = 1.0
    colsample: float = 1.0
    eval_metric: str | Measure = "ndcg@10"
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
    ) -> "CatBoostPeer":
        """Train the ranker; arguments are those of `GBRanker.fit`."""
        catboost = needed("catboost", "catboost")
        threads = usable_threads(check_jobs(self.n_jobs))
        measure = get_measure(self.eval_metric)
        schema = Schema.learn(X)
        if schema.categorical:
            names = schema.names or range(schema.n_features)
            columns = [names[place] for place in schema.categorical]
            raise ValueError(
                f"X must hold numbers only for CatBoost here, got categories in columns {columns}: "
                "drop them, or leave CatBoost out."
            )
        data = FitData(X, y, qid=qid, eval_set=eval_set, eval_qid=eval_qid)
        rows, valid = data.checked(schema)
        on_valid = [
            Evaluation(f"valid_{i}", part, schema, [measure], threads)
            for i, part in enumerate(valid)
        ]
        model = catboost.CatBoost(self._params(threads))
        try:
            train_pool, *pools = (
                catboost.Pool(part.X, part.y, group_id=part.queries.index)
                for part in (rows.grouped(), *(part.grouped() for part in valid[:1]))
            )
            model.fit(train_pool, eval_set=pools or None)
        except catboost.CatBoostError as error:
            raise ValueError(f"CatBoost refuses the parameters or data: {error}") from None
        patience = self.early_stopping_rounds
        # Replay the rounds, as a model in training that has only what early stopping needs.
        stages = [model.staged_predict(part.X, thread_count=threads) for part in valid]
        replay = SimpleNamespace(
            step=lambda _: None, valid_scores=lambda: [next(scores) for scores in stages]
        )
        history = Loop(
            cast(Steps, replay),
            lambda _: None,
            model.tree_count_,
            on_valid=on_valid,
            stopping=None if patience is None else Stopping(patience),
        ).run()
        model.shrink(history.best_round)
        self.model_, self._schema = model, schema
        self.best_iteration_ = history.best_round
        self.best_score_ = history.best_value
        self.evals_result_ = EvalsResult(history.results)
        return self

    def predict(self, X: object) -> Vector:
        """Return the score of each row; higher ranks earlier within its query."""
        check_is_fitted(self)
        threads = usable_threads(self.n_jobs)
        return np.asarray(self.model_.predict(self._schema.transform(X), thread_count=threads))

    def _params(self, threads: int) -> dict[str, Any]:
        params: dict[str, Any] = {
            "loss_function": self.loss_function,
            "iterations": self.n_estimators,
            "learning_rate": self.learning_rate,
            "depth": round(np.log2(self.num_leaves)),
            "rsm": self.colsample,
            "random_seed": self.random_state,
            "thread_count": threads,
            "allow_writing_files": False,
            "logging_level": "Silent",
            "eval_metric": "NDCG:top=10;type=Exp",
            "use_best_model": False,
            "bootstrap_type": "No",
        }
        if self.subsample < 1:
            params |= {"bootstrap_type": "Bernoulli", "subsample": self.subsample}
        if self.early_stopping_rounds is None:
            return params | {"metric_period": self.n_estimators}
        return params | {"od_type": "Iter", "od_wait": self.early_stopping_rounds}
