"""CatBoost's rankers, under the same conditions as GBRanker."""

import importlib
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gbrank.boosters import Trainer
from gbrank.boosters.interface import Derivatives, Vector
from gbrank.common.checks import check_jobs
from gbrank.data.checking import check_rows
from gbrank.data.rows import Rows
from gbrank.data.schema import Schema
from gbrank.fit.loop import Evaluation, train
from gbrank.kernels.driver import usable_threads
from gbrank.measures.measure import Measure
from gbrank.measures.registry import get_measure

__all__ = ["CatBoostPeer"]


class CatBoostPeer(BaseEstimator):
    """A CatBoost ranker that stops early as `GBRanker` does.

    CatBoost trains all rounds by itself. Then the scores after each round are judged on the
    validation data by gbrank's measure and patience, and later trees are cut off.

    Parameters
    ----------
    loss_function : str
        CatBoost's name of what to train: "YetiRank", "YetiRank:mode=NDCG",
        "StochasticRank:metric=NDCG", ...
    n_estimators, learning_rate, subsample, eval_metric, early_stopping_rounds, random_state, \
n_jobs
        As for `GBRanker`.
    num_leaves : int
        The symmetric trees get the depth nearest to its logarithm.
    colsample : float in ]0, 1]
        Share of the features that each split is chosen from.

    Attributes
    ----------
    model_ : catboost.CatBoost
        The trees, cut to the best round.
    best_iteration_, best_score_, evals_result_
        As for `GBRanker`.

    Raises
    ------
    ImportError
        If CatBoost is not installed.
    """

    def __init__(
        self,
        loss_function: str = "YetiRank",
        *,
        n_estimators: int = 300,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        subsample: float = 1.0,
        colsample: float = 1.0,
        eval_metric: str | Measure = "ndcg@10",
        early_stopping_rounds: int | None = None,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        _catboost()
        self.loss_function = loss_function
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.subsample = subsample
        self.colsample = colsample
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        qid: ArrayLike,
        eval_set: Sequence[tuple[Any, ArrayLike]] = (),
        eval_qid: Sequence[ArrayLike] = (),
    ) -> "CatBoostPeer":
        """Train the ranker.

        Parameters
        ----------
        X, y, qid, eval_set, eval_qid
            As for `GBRanker.fit`.

        Returns
        -------
        CatBoostPeer
            Itself.

        Raises
        ------
        ValueError
            If CatBoost refuses parameters or data.
        """
        catboost = _catboost()
        threads = usable_threads(check_jobs(self.n_jobs))
        measure = get_measure(self.eval_metric)
        schema = Schema.learn(X)
        if schema.categorical:
            raise ValueError(f"X must hold numbers only, got categories in {schema.categorical}.")
        rows = check_rows(schema, X, y, qid, None, "").grouped()
        valid = [
            check_rows(schema, X, y, qid, None, f"eval_set[{i}]: ")
            for i, ((X, y), qid) in enumerate(zip(eval_set, eval_qid, strict=True))
        ]
        on_valid = [
            Evaluation(f"valid_{i}", item, [measure], threads) for i, item in enumerate(valid)
        ]
        model = catboost.CatBoost(self._params(threads))
        try:
            model.fit(catboost.Pool(rows.X, rows.labels, group_id=rows.queries.index))
        except catboost.CatBoostError as error:
            raise ValueError(f"CatBoost refuses the parameters or data: {error}") from None
        history = train(
            cast(Trainer, _Replay(model, valid, threads)),
            lambda round: None,
            model.tree_count_,
            on_train=None,
            on_valid=on_valid,
            patience=self.early_stopping_rounds,
            progress=False,
            sigmas={},
        )
        model.shrink(history.best_round)
        self.model_ = model
        self._schema = schema
        self.best_iteration_ = history.best_round
        self.best_score_ = history.best_value
        self.evals_result_ = history.results
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)

        Returns
        -------
        ndarray, shape (n_documents,)
        """
        check_is_fitted(self)
        threads = usable_threads(self.n_jobs)
        return np.asarray(self.model_.predict(self._schema.transform(X), thread_count=threads))

    def _params(self, threads: int) -> dict[str, Any]:
        sampling: dict[str, Any] = {"bootstrap_type": "No"}
        if self.subsample < 1:
            sampling = {"bootstrap_type": "Bernoulli", "subsample": self.subsample}
        return {
            "loss_function": self.loss_function,
            "iterations": self.n_estimators,
            "learning_rate": self.learning_rate,
            "depth": round(np.log2(self.num_leaves)),
            "rsm": self.colsample,
            "random_seed": self.random_state,
            "thread_count": threads,
            "allow_writing_files": False,
            "logging_level": "Silent",
            "metric_period": self.n_estimators,
            **sampling,
        }


class _Replay:
    """The rounds of a trained model once more: of a `Trainer`, what early stopping needs."""

    def __init__(self, model: Any, valid: list[Rows], n_jobs: int) -> None:
        self._stages = [model.staged_predict(rows.X, thread_count=n_jobs) for rows in valid]

    def step(self, derivatives: Derivatives | None) -> None:
        """Do nothing: the tree is there."""

    def valid_scores(self) -> list[Vector]:
        """Return the scores of each validation set after one more round."""
        return [next(stages) for stages in self._stages]


def _catboost() -> Any:
    try:
        return importlib.import_module("catboost")
    except ImportError as error:
        raise ImportError(
            "CatBoost is needed for 'catboost:...' rankers: pip install 'gbrank[catboost]'."
        ) from error
