"""The base class of rankers: ranks, the score, saving, and attributes after a fit."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number, queries_needed
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema
from gbrank.data.torn_queries import TrainedQueries, warn_of_torn_queries
from gbrank.fit.evals_result import EvalsResult
from gbrank.fit.loading import load_as
from gbrank.fit.storage import Saved, write_saved
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure

T = TypeVar("T", bound="BaseRanker")

WEIGHTS = {"sample_weight": True, "query_weight": True}  # requested by metadata routing


class BaseRanker(ABC, BaseEstimator):
    """Base class of rankers: estimators that give every document of a query a score.

    A subclass has the methods `fit` and `predict`, and the parameter `eval_metric`, unless it
    overrides `_measures`.

    Queries and weights are requested by default: where scikit-learn's metadata routing is enabled,
    pipelines, searches and cross-validation pass them on to `fit` and `score`.
    """

    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True, **WEIGHTS}

    _allows_missing: ClassVar[bool] = False  # NaN in X
    _schema: Schema
    _trained_on: TrainedQueries | None = None  # None where qid was not given

    @abstractmethod
    def predict(self, X: Any) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)

        Returns
        -------
        ndarray, shape (n_documents,)
        """

    @abstractmethod
    def _to_saved(self) -> Saved:
        """Return what `save` writes."""

    @classmethod
    @abstractmethod
    def _from_saved(cls: type[T], saved: Saved) -> T:
        """Return the ranker that `_to_saved` gave."""

    def rank(
        self, X: Any, qid: ArrayLike | None = None, *, group: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Return the position of each row within its query, from 1.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
        qid : array-like, shape (n_documents,), optional
            The query of each row.
        group : array-like of int, shape (n_queries,), optional
            Sizes of consecutive queries; with neither, all rows are one query.

        Returns
        -------
        ndarray of int64, shape (n_documents,)
            Equal scores take the order of the rows.
        """
        scores = self.predict(X)
        queries = Queries.resolve(len(scores), qid, group)
        best_first = np.lexsort((-scores, queries.index))
        ranks = np.empty(len(scores), dtype=np.int64)
        ranks[best_first] = np.arange(len(scores)) - np.repeat(queries.offsets[:-1], queries.sizes)
        return ranks + 1

    def score(
        self,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean over queries of the first measure that the ranker is judged by.

        Parameters
        ----------
        X, y, qid, group
            As for `fit`.
        sample_weight : array-like, shape (n_documents,), optional
            Document weights; a query weighs their mean.
        query_weight : array-like, shape (n_queries,), or mapping of query to weight, optional
            As for `fit`; splits of cross-validation need a mapping.

        Returns
        -------
        float
        """
        scores = self.predict(X)
        if qid is None and group is None:
            raise queries_needed("score", "qid= (one query id per row) or group= (query sizes)")
        if qid is not None and self._trained_on is not None:
            warn_of_torn_queries(self._trained_on, Queries.from_qid(qid), "score")
        return self._measures()[0](
            y, scores, qid=qid, group=group, sample_weight=sample_weight,
            query_weight=query_weight, X=X,
        )  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a folder: a JSON file, and the booster's own files if there are any.

        At any time the folder holds a whole model, the one before or this one, even if the saving
        process is killed or several processes save.

        Parameters
        ----------
        path : path
            The folder; made if it does not exist. A model that it holds is replaced.

        Raises
        ------
        TypeError
            If `init` gave an estimator of another library than gbrank, LightGBM and XGBoost.

        Examples
        --------
        >>> import tempfile
        >>> from gbrank import GBRanker, make_cubic
        >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
        >>> ranker = GBRanker(n_estimators=5).fit(X, y, qid=qid)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ranker.save(folder)
        ...     same = GBRanker.load(folder)
        >>> bool((same.predict(X) == ranker.predict(X)).all())
        True
        """
        check_is_fitted(self)
        write_saved(path, self._to_saved())

    @classmethod
    def load(cls: type[T], path: str | os.PathLike[str]) -> T:
        """Read a model that `save` wrote; it predicts even if its objective is not registered.

        Parameters
        ----------
        path : path
            The folder.

        Returns
        -------
        BaseRanker
            An instance of this class.

        Raises
        ------
        FileNotFoundError, ValueError
            As `load_ranker`; also if the model is of another class.
        """
        return load_as(cls, path)

    def _measures(self) -> list[Measure]:
        metrics: Any = self.eval_metric
        if isinstance(metrics, str) or callable(metrics):
            metrics = [metrics]
        if not isinstance(metrics, Sequence) or len(metrics) == 0:
            raise ValueError(f"eval_metric must name at least one measure, got {metrics!r}.")
        return [get_measure(metric) for metric in metrics]

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what data the ranker takes."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_missing
        tags._skip_test = True  # scikit-learn's checks call fit without queries
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """Tell scikit-learn before 1.6 the same."""
        return {"requires_y": True, "allow_nan": self._allows_missing, "_skip_test": True}

    def _publish_fit(self, schema: Schema, history: Any, sigmas: dict[int, float]) -> None:
        """Set the public attributes after a fit of several rounds."""
        self._schema = schema
        self.best_iteration_ = history.best_round
        self.best_score_ = history.best_value
        self.evals_result_ = EvalsResult(history.results)
        self.sigmas_ = np.array([sigmas[round] for round in sorted(sigmas)])
        self._publish()

    def _remember_queries(self, qid: ArrayLike | None, queries: Queries) -> None:
        """Remember the queries of a fit, if their ids are the user's."""
        self._trained_on = None if qid is None else TrainedQueries.of(queries)

    def _publish(self) -> None:
        """Set the attributes about columns that scikit-learn expects."""
        self.n_features_in_ = self._schema.n_features
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        if self._schema.names is not None:
            self.feature_names_in_ = np.array(self._schema.names, dtype=object)


def check_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return the seed that a random state stands for; an integer stands for itself."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(check_number(random_state, "random_state", 0, 2**31 - 1, integer=True))
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise ValueError(
            f"random_state must be an integer, a RandomState or None, got {random_state!r}."
        ) from None


def as_json(value: Any) -> Any:
    """Return a value as JSON can hold it: objectives, measures and schedules as their strings."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.random.RandomState):
        return None  # its state is not saved: a loaded ranker draws anew
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return str(value)
