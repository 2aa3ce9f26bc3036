"""LightGBM: custom objective, custom metrics. The only file that knows its signatures."""

from collections.abc import Callable, Iterable
from typing import Any

import lightgbm as lgb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.hooks.base import GradientHook, PerObject, caller
from gbrank.measures import BoundMeasure, Measure, get_measure
from gbrank.measures.base import query_weights
from gbrank.objectives import BoundObjective, Objective
from gbrank.queries import Queries
from gbrank.schedules import Sigma

__all__ = ["LightGBMEvaluation", "LightGBMObjective", "lightgbm_feval", "lightgbm_fobj"]

Vector = NDArray[np.float64]


class LightGBMObjective(GradientHook):
    """A custom objective for LightGBM; made by `lightgbm_fobj`."""

    def __call__(
        self,
        first: Any,
        second: Any,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        *,
        round: int | None = None,
    ) -> tuple[Vector, Vector]:
        """Return gradient and curvature.

        Called as ``(scores, dataset)`` by `lgb.train` and `lgb.cv`, and as ``(labels, scores,
        weight, group)`` by `LGBMRanker`.

        Parameters
        ----------
        first, second : array-like and Dataset, or array-like and array-like
        weight : array-like, shape (n_documents,), optional
            Document weights.
        group : array-like, shape (n_queries,), optional
            Sizes of consecutive queries.
        round : int, optional
            The round; by default that of the booster that is calling.

        Returns
        -------
        gradient, curvature : ndarray, shape (n_documents,)
        """
        booster = caller(lgb.Booster)
        if round is None and booster is not None:
            round = booster.current_iteration()
        if isinstance(second, lgb.Dataset):
            scores, key = first, second
            bound = self._bound.get(key, lambda: self._bind(*_parts(second)))
        else:
            # The labels are one array per data set, so they can stand for it.
            scores, key = second, first
            bound = self._bound.get(key, lambda: self._bind(first, group, weight))
        return self.derivatives(bound, scores, round)

    def _bind(
        self, labels: ArrayLike, group: ArrayLike | None, weight: ArrayLike | None
    ) -> BoundObjective:
        return self.objective.bind(
            labels, _queries(group), sample_weight=weight, n_jobs=self.n_jobs
        )


class LightGBMEvaluation:
    """Custom metrics for LightGBM; made by `lightgbm_feval`."""

    def __init__(self, measures: Iterable[str | Measure]) -> None:
        self.measures = [get_measure(measure) for measure in measures]
        self._bound: PerObject[tuple[list[BoundMeasure], Vector | None]] = PerObject()

    def __call__(
        self,
        first: Any,
        second: Any,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> list[tuple[str, float, bool]]:
        """Return (name, value, True: higher is better) for each measure.

        Called as ``(scores, dataset)`` by `lgb.train` and `lgb.cv`, and as ``(labels, scores,
        weight, group)`` by `LGBMRanker`.

        Parameters
        ----------
        first, second : array-like and Dataset, or array-like and array-like
        weight : array-like, shape (n_documents,), optional
            Document weights; a query weighs their mean.
        group : array-like, shape (n_queries,), optional
            Sizes of consecutive queries.

        Returns
        -------
        list of (str, float, bool)
        """
        if isinstance(second, lgb.Dataset):
            scores, (bound, weights) = first, self._bound.get(second, lambda: self._bind(second))
        else:
            scores, (bound, weights) = second, self._make(first, group, weight)
        return [(str(item.measure), item.mean(scores, weights), True) for item in bound]

    def __deepcopy__(self, memo: dict[int, Any]) -> "LightGBMEvaluation":
        """Return itself; there is nothing to copy."""
        return self

    def _bind(self, dataset: lgb.Dataset) -> tuple[list[BoundMeasure], Vector | None]:
        return self._make(*_parts(dataset))

    def _make(
        self, labels: ArrayLike, group: ArrayLike | None, weight: ArrayLike | None
    ) -> tuple[list[BoundMeasure], Vector | None]:
        queries = _queries(group)
        bound = [measure.bind(labels, queries) for measure in self.measures]
        return bound, query_weights(queries, weight, None)


def _parts(dataset: lgb.Dataset) -> tuple[Any, Any, Any]:
    return dataset.get_label(), dataset.get_group(), dataset.get_weight()


def _queries(group: ArrayLike | None) -> Queries:
    if group is None:
        raise ValueError("group must be given: lgb.Dataset(X, y, group=sizes), got none.")
    return Queries.from_sizes(group)


def lightgbm_fobj(
    objective: str | Objective | Callable[..., Any] = "lambdarank",
    sigma: Sigma = 1.0,
    *,
    rounds: int | None = None,
    n_jobs: int | None = None,
) -> LightGBMObjective:
    """Return a custom objective for `lgb.train`, `lgb.cv` and `LGBMRanker`.

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
    LightGBMObjective
        Its attribute `sigmas` records the sigma of each round.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> from gbrank import geometric, lightgbm_fobj, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> fobj = lightgbm_fobj("lambda:ndcg@10", sigma=geometric(1.0, 0.1), rounds=3)
    >>> data = lgb.Dataset(X, y, group=[10] * 20)
    >>> booster = lgb.train({"objective": fobj, "verbose": -1}, data, num_boost_round=3)
    >>> [round(sigma, 3) for sigma in fobj.sigmas.values()]
    [1.0, 0.316, 0.1]
    """
    return LightGBMObjective(objective, sigma, rounds=rounds, n_jobs=n_jobs)


def lightgbm_feval(*measures: str | Measure) -> LightGBMEvaluation:
    """Return custom metrics for `lgb.train` (feval) and `LGBMRanker.fit` (eval_metric).

    Parameters
    ----------
    *measures : str or Measure
        Such as "ndcg@10". The first decides early stopping if first_metric_only is set.

    Returns
    -------
    LightGBMEvaluation

    Examples
    --------
    >>> from gbrank import lightgbm_feval
    >>> lightgbm_feval("ndcg@1", "map")([1, 0], [0.0, 1.0], None, [2])
    [('ndcg@1', 0.0, True), ('ap', 0.5, True)]
    """
    return LightGBMEvaluation(measures or ("ndcg",))
