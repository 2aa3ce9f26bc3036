"""What a ranker boosts from: the scores of another model, which becomes part of it."""

from collections.abc import Sequence
from copy import copy
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from gbrank.boosters.interface import TreeSettings
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_finite, check_vector, quoted
from gbrank.data.columns import Data, fit_arguments
from gbrank.data.queries import Queries
from gbrank.data.rows import Rows
from gbrank.fit.arguments import TableLike
from gbrank.fit.boosted_ranker import START_NAMES, BoostedRanker, is_start_name
from gbrank.fit.estimator import BaseRanker, scores_of
from gbrank.fit.loop import as_part
from gbrank.fit.pretrained import as_pretrained
from gbrank.objectives.objective_registry import get_objective

# "regression" is trained for this share of the rounds.
SHARE_OF_ROUNDS = 0.1


def fit_start(ranker: BoostedRanker, settings: TreeSettings, parts: Sequence[Data]) -> Any:
    """Return the fitted model that a ranker's `init` stands for, or None."""
    init = as_pretrained(ranker.init)
    if not (isinstance(init, BaseEstimator) or is_start_name(init)):
        demand = f"must be one of {START_NAMES}, an estimator, or a booster of LightGBM or XGBoost"
        raise ArgumentError("init", demand, quoted(init))
    if init is None and settings.built_in is None and "init_score" not in parts[0]:
        facts = get_objective(ranker.objective).facts
        init = "regression" if facts.needs_start and facts.start == "none" else None
    if init is None or (isinstance(init, str) and init == "zero"):
        return None
    if any("init_score" in part for part in parts):
        raise ArgumentError("init", "must be None where init_score is given", repr(init))
    if isinstance(init, str):
        init = _regression(ranker)
    # A copy, so that another fit of a start that is fitted leaves this model as it is.
    return copy(init) if is_fitted(init) else _fit(clone(init), *parts)


def _regression(ranker: BoostedRanker) -> BoostedRanker:
    """Return a ranker with the same trees that learns the gains, at the rate for its rounds."""
    return clone(ranker).set_params(
        objective="regression",
        init=None,
        sigma=None,
        n_estimators=max(1, int(SHARE_OF_ROUNDS * ranker.n_estimators)),
        learning_rate=None,
        curvature="own",
        constraints=None,
        validation_fraction=None,
        early_stopping_rounds=None,
        verbose=0,
    )


def is_fitted(estimator: BaseEstimator) -> bool:
    """Say whether an estimator is fitted."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def _fit(estimator: BaseEstimator, training: Data, *validation: Data) -> Any:
    taken = signature(estimator.fit).parameters
    if not isinstance(estimator, BaseRanker) or "eval_qid" not in taken:
        raise ArgumentError(
            "init",
            "must be fitted, unless it is a GBRanker or a LinearRanker",
            repr(estimator),
            " (Cloning, as in cross-validation, undoes a fit: wrap it in "
            "sklearn.frozen.FrozenEstimator, or pass the booster that LightGBM or XGBoost "
            "trained.)",
        )
    valid = [{**data, "qid": _validation_ids(data["qid"])} for data in validation]
    arguments = fit_arguments(training, valid)
    if "labels" not in taken:  # of no use to it, as it has no objective that names one
        arguments = {name: v for name, v in arguments.items() if not name.endswith("labels")}
    if unknown := sorted(arguments.keys() - taken.keys()):
        demand = f"must be fitted, or a GBRanker, where {unknown[0]} is given"
        raise ArgumentError("init", demand, repr(estimator))
    return as_part(lambda: estimator.fit(**arguments))


def _validation_ids(qid: NDArray[Any]) -> NDArray[Any]:
    """Return ids that no query to train on has: sizes of queries give both the same numbers."""
    index = Queries.from_qid(qid).index
    return np.array([f"validation query {number}" for number in index], dtype=object)


def rounds_of(start: object) -> int:
    """Return how many rounds a ranker of trees has, with those of what it was boosted from."""
    rounds = 0
    while isinstance(start, BoostedRanker):
        rounds += start._fitted.best_iteration
        start = start._fitted.init
    return rounds


def from_start(start: Any, table: TableLike, rows: Rows) -> Rows:
    """Return rows with the start's scores as their initial scores."""
    scores = check_vector(
        scores_of(start, table, rows.queries.index), "init's predictions", len(rows.y)
    )
    return rows.replace(init_score=np.array(check_finite(scores, "init's predictions")))
