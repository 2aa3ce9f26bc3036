"""The start of a fit: the scores of another model, which becomes part of the ranker."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_finite, check_vector, quoted
from gbrank.data.documents import Documents
from gbrank.data.schema import Schema
from gbrank.fit.boosted_ranker import BoostedRanker, is_start_name
from gbrank.objectives.objective_registry import get_objective

# "regression" is trained for this share of the rounds.
SHARE_OF_ROUNDS = 0.1


def with_features(
    ranker: BoostedRanker, schema: Schema, documents: Documents, place: int
) -> Documents:
    """Return documents with features in place of their table, and with the scores of a model.

    That is the model that the ranker boosts from, unless it is to be trained. In place 0 are the
    documents to train on.
    """
    with found_in(f"eval_set[{place - 1}]: " if place else ""):
        features = replace(documents, X=schema.transform(documents.X))
        init: Any = ranker.init
        if init in (None, "zero"):
            return features
        if documents.init_score is not None:
            raise ArgumentError("init", "must be None where init_score is given", quoted(init))
        if is_start_name(init):
            return features
        return with_scores(features, init.predict(schema.in_order(documents.X)))


def with_scores(documents: Documents, predicted: Vector) -> Documents:
    """Return documents with the scores that a model predicts as initial scores."""
    scores = check_vector(predicted, "init's predictions", len(documents.y))
    return replace(documents, init_score=np.array(check_finite(scores, "init's predictions")))


def needs_regression(ranker: BoostedRanker, train: Documents) -> bool:
    """Return whether a regression on the gains is to be trained first."""
    if ranker.init is None and train.init_score is None:
        facts = get_objective(ranker.objective).facts
        return facts.needs_start and facts.start == "none"
    return isinstance(ranker.init, str) and ranker.init == "regression"


def regression_of(ranker: BoostedRanker) -> BoostedRanker:
    """Return a ranker with the same trees that learns the gains, at the rate for its rounds."""
    regression: BoostedRanker = clone(ranker).set_params(
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
    return regression


def rounds_of(start: Any) -> int:
    """Return how many rounds a ranker of trees has, with those of what it was boosted from."""
    rounds = 0
    while isinstance(start, BoostedRanker):
        rounds += start._fitted.best_iteration
        start = start._fitted.init
    return rounds
