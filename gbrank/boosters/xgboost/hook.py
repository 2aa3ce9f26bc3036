"""XGBoost: custom objective, custom metrics. The only file that knows its signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import NDArray

from gbrank.boosters.gradient_hook import GradientHook, PerObject, caller
from gbrank.data.queries import Queries
from gbrank.measures.measure import BoundMeasure, query_weights
from gbrank.measures.measure_registry import Metric, get_measure
from gbrank.objectives.from_string import DEFAULT_OBJECTIVE
from gbrank.objectives.objective import BoundObjective, Objective
from gbrank.schedules import Sigma

__all__ = ["XGBoostEvaluation", "XGBoostObjective", "xgboost_feval", "xgboost_obj"]

Vector = NDArray[np.float64]


class XGBoostObjective(GradientHook):
    """A custom objective for XGBoost; made by `xgboost_obj`."""

    def __call__(self, scores: Any, data: xgb.DMatrix) -> tuple[Vector, Vector]:
        """Return gradient and curvature in the round of the booster that is calling.

        Parameters
        ----------
        scores : ndarray, shape (n_documents,)
            Raw scores.
        data : DMatrix
            Training data with labels and qid or group. XGBoost allows one weight per query.

        Returns
        -------
        gradient, curvature : ndarray, shape (n_documents,)
        """
        booster = caller(xgb.Booster)
        return self.at_round(
            None if booster is None else booster.num_boosted_rounds(), scores, data
        )

    def at_round(self, round: int | None, scores: Any, data: xgb.DMatrix) -> tuple[Vector, Vector]:
        """Return gradient and curvature in a given round, for training loops of one's own.

        Parameters
        ----------
        round : int or None
            The round, from 0; None if it is not known, which only a constant sigma allows.
        scores, data
            As for calling the hook.

        Returns
        -------
        gradient, curvature : ndarray, shape (n_documents,)
        """
        return self.derivatives(self._bound.get(data, _parts(data), self._bind), scores, round)

    def _bind(self, labels: Any, pointers: Any, weight: Any) -> list[BoundObjective]:
        return self.bind(labels, _queries(labels, pointers), query_weight=weight)


class XGBoostEvaluation:
    """Custom metrics for XGBoost; made by `xgboost_feval`."""

    def __init__(self, measures: Iterable[Metric]) -> None:
        self.measures = [get_measure(measure) for measure in measures]
        self._bound: PerObject[tuple[list[BoundMeasure], Vector | None]] = PerObject()

    def __call__(self, scores: Any, data: xgb.DMatrix) -> list[tuple[str, float]]:
        """Return (name, value) for each measure."""
        bound, weights = self._bound.get(data, _parts(data), self._bind)
        return [(str(item.measure), item.mean(scores, weights)) for item in bound]

    def _bind(
        self, labels: Any, pointers: Any, weight: Any
    ) -> tuple[list[BoundMeasure], Vector | None]:
        queries = _queries(labels, pointers)
        bound = [measure.bind(labels, queries) for measure in self.measures]
        return bound, query_weights(queries, None, weight)


def _parts(data: xgb.DMatrix) -> tuple[Any, Any, Any]:
    weight = data.get_weight()
    return data.get_label(), data.get_uint_info("group_ptr"), weight if len(weight) else None


def _queries(labels: Vector, pointers: NDArray[Any]) -> Queries:
    if len(pointers) == 0:
        raise ValueError("qid or group must be given: xgb.DMatrix(X, y, qid=qid), got neither.")
    return Queries.resolve(len(labels), group=np.diff(pointers.astype(np.int64)))


def xgboost_obj(
    objective: str | Objective | Callable[..., Any] = DEFAULT_OBJECTIVE,
    sigma: Sigma | None = None,
    *,
    start: bool = True,
    rounds: int | None = None,
    curvature: str = "own",
    n_jobs: int | None = None,
) -> XGBoostObjective:
    """Return a custom objective for `xgb.train` and `xgb.cv`.

    Pass ``base_score=0`` in the parameters to start at score 0 (XGBoost starts at 0.5, which no
    shift-invariant objective notices). XGBoost takes no split that gains less than 1e-6: a sigma
    below 0.001 may be too narrow for it, but not for `GBRanker`, which scales gradients.

    Parameters
    ----------
    objective : str, Objective or callable
        What to train, such as "lambda:ndcg@10" or a function of one query.
    sigma : float, schedule, callable or str, optional
        Width of the smoothing by round, such as ``geometric(1.0, 0.1)``; the objective's own by
        default. The round is that of the booster: it is right in every fold and on continuation
        from an existing model.
    start : bool
        Whether the first half of the rounds trains RankNet where the objective begins with it, as
        ApproxRank, SmoothRank, TieRank and SoftRank do; False where boosting goes on from the
        scores of a model.
    rounds : int, optional
        Total number of rounds, for schedules and starts, which need it.
    curvature : {"own", "unit"}
        "unit" hands over ones for second derivatives: plain gradient boosting, whose learning rate
        is in units of the gradient.
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
    return XGBoostObjective(
        objective, sigma, start=start, rounds=rounds, curvature=curvature, n_jobs=n_jobs
    )


def xgboost_feval(*measures: Metric) -> XGBoostEvaluation:
    """Return custom metrics for `xgb.train` and `xgb.cv` (custom_metric).

    For early stopping pass ``maximize=True``: XGBoost guesses the direction from the name.

    Parameters
    ----------
    *measures : str, Measure or callable
        Such as "ndcg@10", or a function that `custom_measure` takes.

    Returns
    -------
    XGBoostEvaluation

    Examples
    --------
    >>> import numpy as np, xgboost as xgb
    >>> from gbrank import xgboost_feval
    >>> data = xgb.DMatrix(np.zeros((2, 1)), [1, 0], qid=[0, 0])
    >>> xgboost_feval("ndcg@1", "map")(np.array([0.0, 1.0]), data)
    [('ndcg@1', 0.0), ('map', 0.5)]
    """
    return XGBoostEvaluation(measures or ("ndcg",))
