"""Rankers by name, all with the same budget."""

from __future__ import annotations

import math
from typing import Any

from gbrank.common.extras import needed
from gbrank.evaluation.catboost import CatBoostPeer
from gbrank.measures.measure_registry import Metric
from gbrank.objectives.objective_registry import get_objective
from gbrank.ranker import GBRanker


def ranker_from_name(
    name: str,
    *,
    eval_metric: Metric = "ndcg@10",
    n_estimators: int = 5000,
    learning_rate: float = 0.05,
    num_leaves: int = 15,
    min_child_samples: int = 20,
    subsample: float = 0.8,
    colsample: float = 0.7,
    early_stopping_rounds: int = 100,
) -> Any:
    """Return an unfitted ranker; those of gbrank and CatBoost have the same budget.

    Parameters
    ----------
    name : str
        An objective of gbrank's, such as "lambda:ndcg+pointwise"; "lightgbm" or "xgboost", whose
        rankers come with their own defaults; or an objective of CatBoost's, such as
        "catboost:YetiRank" or "catboost:StochasticRank:metric=NDCG".
    eval_metric : str, Measure or callable
        What decides early stopping; of CatBoost's, their own NDCG@10 does.
    n_estimators : int
        Largest number of rounds (trees); early stopping is expected to end before it.
    learning_rate : float
        Factor on each tree.
    num_leaves : int
        Largest number of leaves of a tree. CatBoost's own trees are symmetric; they get the depth
        nearest to its logarithm.
    min_child_samples : int
        Smallest number of documents in a leaf. CatBoost's symmetric trees have no such limit.
    subsample : float in ]0, 1]
        Share of the documents that each tree is grown on.
    colsample : float in ]0, 1]
        Share of the features that each tree (in CatBoost: each split) is grown on.
    early_stopping_rounds : int
        Stop after this many rounds without a better value.

    Returns
    -------
    GBRanker, LGBMRanker, XGBRanker or CatBoostPeer

    Raises
    ------
    ValueError
        If there is no such objective.
    ImportError
        If it is CatBoost's, and CatBoost is not installed.

    Examples
    --------
    >>> from gbrank.evaluation import ranker_from_name
    >>> ranker_from_name("lambdarank", n_estimators=50).num_leaves
    15
    """
    if not isinstance(name, str):
        raise TypeError(f"ranker must be a name such as 'lambda:ndcg@10', got {name!r}.")
    if name == "lightgbm":
        return needed("lightgbm").LGBMRanker(verbosity=-1)
    if name == "xgboost":
        return needed("xgboost").XGBRanker()
    budget: dict[str, Any] = {
        "eval_metric": eval_metric,
        "n_estimators": n_estimators,
        "learning_rate": learning_rate,
        "num_leaves": num_leaves,
        "subsample": subsample,
        "colsample": colsample,
        "early_stopping_rounds": early_stopping_rounds,
    }
    library, colon, loss = name.partition(":")
    if library == "catboost" and colon:
        params: dict[str, Any] = {"learning_rate": learning_rate, "rsm": colsample}
        params["depth"] = round(math.log2(num_leaves))
        if subsample < 1:
            params |= {"bootstrap_type": "Bernoulli", "subsample": subsample}
        kept = {name: budget[name] for name in ("n_estimators", "early_stopping_rounds")}
        return CatBoostPeer(loss, **kept, params=params)
    budget |= {"min_child_samples": min_child_samples, "extra_trees": False}
    # An object, not its name: other processes may not have registered it.
    return GBRanker(get_objective(name), **budget)
