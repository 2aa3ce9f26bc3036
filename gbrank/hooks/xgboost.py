"""XGBoost: custom objective, custom metrics. The only file that knows its signatures."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from gbrank.hooks.base import GradientHook, PerObject, caller
from gbrank.measures import BoundMeasure, Measure, get_measure
from gbrank.measures.base import query_weights
from gbrank.objectives import BoundObjective, Objective
from gbrank.queries import Queries
from gbrank.schedules import Sigma

__all__ = ["XGBoostEvaluation", "XGBoostObjective", "xgboost_feval", "xgboost_obj"]

Vector = NDArray[np.float64]


class XGBoostObjective(GradientHook):
    """A custom objective for XGBoost; made by `xgboost_obj`."""

    def __call__(
        self, scores: Any, data: xgb.DMatrix, *, round: int | None = None
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature.

        Parameters
        ----------
        scores : ndarray, shape (n_documents,)
            Raw scores.
        data : DMatrix
            Training data with labels and qid or group. Its weights may be one per query, as
            XGBoost's own ranking objectives take them, or one per document.
        round : int, optional
            The round; by default that of the booster that is calling.

        Returns
        -------
        gradient, curvature : ndarray, shape (n_documents,)
        """
        booster = caller(xgb.Booster)
        if round is None and booster is not None:
            round = booster.num_boosted_rounds()
        bound = self._bound.get(data, lambda: self._bind(data))
        return self.derivatives(bound, scores, round)

    def _bind(self, data: xgb.DMatrix) -> BoundObjective:
        labels, queries, sample_weight, query_weight = _parts(data)
        return self.objective.bind(
            labels,
            queries,
            sample_weight=sample_weight,
            query_weight=query_weight,
            n_jobs=self.n_jobs,
        )


class XGBoostEvaluation:
    """Custom metrics for XGBoost; made by `xgboost_feval`."""

    def __init__(self, measures: Iterable[str | Measure]) -> None:
        self.measures = [get_measure(measure) for measure in measures]
        self._bound: PerObject[tuple[list[BoundMeasure], Vector | None]] = PerObject()

    def __call__(self, scores: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        """Return (name, value) for each measure.

        Parameters
        ----------
        scores : ndarray, shape (n_documents,)
        data : DMatrix
            With labels and qid or group.

        Returns
        -------
        list of (str, float)
        """
        bound, weights = self._bound.get(data, lambda: self._bind(data))
        return [(str(item.measure), item.mean(scores, weights)) for item in bound]

    def _bind(self, data: xgb.DMatrix) -> tuple[list[BoundMeasure], Vector | None]:
        labels, queries, sample_weight, query_weight = _parts(data)
        bound = [measure.bind(labels, queries) for measure in self.measures]
        return bound, query_weights(queries, sample_weight, query_weight)


def _parts(data: xgb.DMatrix) -> tuple[Any, Queries, Any, Any]:
    labels = data.get_label()
    pointers = data.get_uint_info("group_ptr")
    if len(pointers) == 0:
        raise ValueError("qid or group must be given: xgb.DMatrix(X, y, qid=qid), got neither.")
    queries = Queries.from_sizes(np.diff(pointers.astype(np.int64)))
    weights = data.get_weight()
    if len(weights) == 0:
        return labels, queries, None, None
    if len(weights) == queries.n_queries:
        return labels, queries, None, weights
    return labels, queries, weights, None


def xgboost_obj(
    objective: str | Objective | Callable[..., Any] = "lambdarank",
    sigma: Sigma = 1.0,
    *,
    rounds: int | None = None,
    n_jobs: int | None = None,
) -> XGBoostObjective:
    """Return a custom objective for `xgb.train` and `xgb.cv`.

    Pass ``base_score=0`` in the parameters to start at score 0 (XGBoost starts at 0.5, which no
    shift-invariant objective notices).

    Parameters
    ----------
    objective : str, Objective or callable
        What to train, such as "lambda:ndcg@10" or a function of one query.
    sigma : float, schedule, callable or str
        Width of the smoothing by round, such as ``geometric(1.0, 0.1)``. The round is that of the
        booster: it is right in every fold and on continuation from an existing model.
    rounds : int, optional
        Total number of rounds, for schedules that need it.
    n_jobs : int, optional
        Threads for the gradient; all by default.

    Returns
    -------
    XGBoostObjective
        Its attribute `sigmas` records the sigma of each round.

    Examples
    --------
    >>> import xgboost as xgb
    >>> from gbrank import make_cubic, xgboost_obj
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> data = xgb.DMatrix(X, y, qid=qid)
    >>> booster = xgb.train({"base_score": 0}, data, 3, obj=xgboost_obj("lambda:map"))
    >>> booster.num_boosted_rounds()
    3
    """
    return XGBoostObjective(objective, sigma, rounds=rounds, n_jobs=n_jobs)


def xgboost_feval(*measures: str | Measure) -> XGBoostEvaluation:
    """Return custom metrics for `xgb.train` and `xgb.cv` (custom_metric).

    For early stopping pass ``maximize=True``: XGBoost guesses the direction from the name.

    Parameters
    ----------
    *measures : str or Measure
        Such as "ndcg@10".

    Returns
    -------
    XGBoostEvaluation

    Examples
    --------
    >>> import numpy as np, xgboost as xgb
    >>> from gbrank import xgboost_feval
    >>> data = xgb.DMatrix(np.zeros((2, 1)), [1, 0], qid=[0, 0])
    >>> xgboost_feval("ndcg@1", "map")(np.array([0.0, 1.0]), data)
    [('ndcg@1', 0.0), ('ap', 0.5)]
    """
    return XGBoostEvaluation(measures or ("ndcg",))
