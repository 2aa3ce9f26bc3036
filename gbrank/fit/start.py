"""What a ranker boosts from: the scores of another model, which becomes part of it."""

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_finite, check_vector, quoted
from gbrank.data.columns import Data
from gbrank.data.rows import Rows
from gbrank.data.schema import Schema
from gbrank.fit.arguments import TableLike
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.loop import as_part
from gbrank.objectives.objective_registry import get_objective

# "regression" is trained for this share of the rounds.
SHARE_OF_ROUNDS = 0.1


def fit_start(
    ranker: BoostedRanker, parts: Sequence[Rows], training: Data
) -> BaseRanker[Any] | None:
    """Return the model that a ranker boosts from, or None; a regression is fitted for it."""
    init: Any = ranker.init
    if init is None and parts[0].init_score is None:
        facts = get_objective(ranker.objective).facts
        init = "regression" if facts.needs_start and facts.start == "none" else None
    if init is None or init == "zero":
        return None
    if any(part.init_score is not None for part in parts):
        raise ArgumentError("init", "must be None where init_score is given", quoted(init))
    if init == "regression":
        return as_part(lambda: _regression(ranker).fit(**training))
    start: BaseRanker[Any] = copy(init)  # which another fit of `init` leaves as it is
    return start


def _regression(ranker: BoostedRanker) -> BoostedRanker:
    """Return a ranker with the same trees that learns the gains, at the rate for its rounds."""
    return clone(ranker).set_params(
        objective="regression",
        init=None,
        sigma=None,
        n_estimators=max(1, int(SHARE_OF_ROUNDS * ranker.n_estimators)),
        learning_rate=None,
        curvature="own",
        validation_fraction=None,
        early_stopping_rounds=None,
        baseline=None,
        verbose=0,
    )


def rounds_of(start: object) -> int:
    """Return how many rounds a ranker of trees has, with those of what it was boosted from."""
    rounds = 0
    while isinstance(start, BoostedRanker):
        rounds += start._fitted.best_iteration
        start = start._fitted.init
    return rounds


def from_start(
    start: BaseRanker[Any] | None, schema: Schema, tables: Sequence[TableLike], parts: list[Rows]
) -> list[Rows]:
    """Return rows with the start's scores of their tables, if there is one, as initial scores."""
    if start is None:
        return parts
    result = []
    for table, rows in zip(tables, parts, strict=True):
        given = start.predict(schema.in_order(table))
        scores = check_vector(given, "init's predictions", len(rows.y))
        result.append(rows.replace(init_score=np.array(check_finite(scores, "init's predictions"))))
    return result
