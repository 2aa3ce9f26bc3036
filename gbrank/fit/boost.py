"""Fits of trees, from documents to what is made; and new values for the leaves of a fit's trees."""

import warnings
from collections.abc import Sequence
from contextlib import closing
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from gbrank.boosters import BOOSTERS, Model, Trainer, TreeSettings
from gbrank.boosters.booster import options_in_use
from gbrank.boosters.interface import GradientPair, Plan, RoundRecord
from gbrank.boosters.staged_objective import StagedObjective
from gbrank.clicks import find_slots
from gbrank.common.checks import (
    ArgumentError,
    Positions,
    Vector,
    check_finite,
    error_context,
    quoted,
    warn_user,
)
from gbrank.common.collective import all_gather, all_sum
from gbrank.common.files import StrPath
from gbrank.common.runtime import interrupts_held, usable_threads
from gbrank.data.documents import EVERY, Chosen, Documents
from gbrank.data.sampling import document_keys, query_noise, sampled
from gbrank.data.schema import Schema
from gbrank.objectives.objective_registry import get_objective
from gbrank.schedules import Progress

from .best_feature import baseline_column, warn_if_behind
from .boosted_ranker import BoostedRanker, chosen_trees, is_start_name, tree_settings
from .chain import scores_by
from .checkpoints import Checkpoint, fit_hashes
from .estimator import BaseRanker, check_verbose
from .fitted import FittedTrees
from .interrupted import as_part, is_part, kept
from .loop import documents_key, judges_of, run_rounds, warn_of_data
from .multiplier import check_held_out, own_multipliers
from .position_bias import PositionBiases, report_of_positions
from .rounds import Callbacks, EvalsResult, History, check_callbacks, stopping_of

FOLDS = 3  # of the training queries, where no others judge the baseline
START = 0.1  # the share of the rounds for which "regression" is trained
TOGETHER = 0.3  # largest sum of learning rates of trees that take their steps from one gradient


class Gradients:
    """The gradients of a fit by round, of the documents that the round draws.

    `record` is that of the last round; it keeps the gradients of rounds that are `watched`.
    """

    record: RoundRecord
    biases: PositionBiases | None = None

    def __init__(
        self, ranker: BoostedRanker, train: Documents, seed: int, watched: bool = False
    ) -> None:
        objective, self.multipliers = own_multipliers(get_objective(ranker.objective))
        start: bool | Progress = ranker.init is None and train.init_score is None
        self.data_key = documents_key(train)
        if isinstance(ranker.init, BoostedRanker):
            fitted = ranker.init._fitted
            other_data = fitted.data_key != self.data_key  # which are to be learned anew
            start = other_data or fitted.progress or False
        self.staged = StagedObjective(
            objective,
            ranker.sigma,
            start=start,
            rounds=ranker.n_estimators,
            curvature=ranker.curvature,
            n_jobs=ranker.n_jobs,
        )
        self._bound = self.staged.bind(train)
        self._fraction = ranker.subsample
        self._seed = seed
        self._watched = watched
        queries = train.queries
        by_query = ranker.subsample_by == "query"
        self._index: Chosen = queries.index if by_query else EVERY
        if self._fraction < 1:
            self._keys = queries.id_keys if by_query else document_keys(queries)

    def at(self, scores: Vector, round: int, plan: Plan) -> GradientPair:
        """Return gradient and curvature at some scores, to which biases are added."""
        if self.biases is not None:
            scores = self.biases.add_to(scores)
        left_out = None
        if self._fraction < 1:
            left_out = ~sampled(self._keys, self._fraction, self._seed, round)[self._index]
        gradient, curvature, self.record = self.staged.derivatives(
            self._bound, scores, round, plan=plan, left_out=left_out, watched=self._watched
        )
        if self.biases is not None:
            self.biases.improve(gradient, curvature)
        return gradient, curvature

    def step(self, trainer: Trainer, round: int, plan: Plan) -> RoundRecord:
        """Grow one tree on the gradients at the current scores."""
        trainer.step(partial(self.at, round=round, plan=plan))
        return self.record


def boost(
    ranker: BoostedRanker,
    tables: Sequence[Documents],
    categorical_feature: Sequence[int | str] | None,
    callbacks: Callbacks | None,
    folder: StrPath | None,
    every: int,
) -> FittedTrees:
    """Train a ranker on the documents of tables, the first to train on, the others to validate.

    Every so many rounds it writes a checkpoint into a folder, if there is one.
    """
    settings = tree_settings(ranker, resumable=folder is not None)
    called = check_callbacks(callbacks)
    ranker._measures()  # which must be known
    schema = Schema.union(all_gather(Schema.learn(tables[0].X, categorical_feature)))
    if isinstance(ranker.init, BaseRanker):
        schema = schema.including(ranker.init._schema)
    documents = [with_features(ranker.init, schema, part, i) for i, part in enumerate(tables)]
    baseline_column(ranker, schema)  # which must be there
    if tables[0].init_score is not None and any(part.init_score is None for part in tables):
        raise ArgumentError(
            "eval_init_score",
            "is required with init_score: trees alone would score the validation documents",
        )
    BOOSTERS[ranker.booster].params(settings, schema)  # which must be known
    warn_of_data(documents[0], schema)
    checkpoint = None
    if folder is not None:
        checkpoint = Checkpoint(folder, every, fit_hashes(ranker, schema, documents))
    if len(documents) == 1 and ranker.validation_fraction is not None:
        documents = [*documents[0].split(ranker.validation_fraction, settings.seed)]
    elif len(documents) == 1 and ranker.early_stopping_rounds is not None:
        raise ArgumentError(
            "early_stopping_rounds",
            "needs validation data: pass eval_set=, or set validation_fraction",
        )
    if ranker.baseline is not None and len(documents) == 1 and not is_part():
        (train,) = documents
        scores = _scores_in_folds(ranker, settings, schema, train)
        warn_if_behind(ranker, schema, train, train, scores)
    return grow(ranker, settings, schema, documents, checkpoint, called)


def grow(
    ranker: BoostedRanker,
    settings: TreeSettings,
    schema: Schema,
    documents: Sequence[Documents],
    checkpoint: Checkpoint | None = None,
    callbacks: Callbacks = (),
) -> FittedTrees:
    """Train a ranker's trees on features, and return all that the fit makes."""
    gradients = Gradients(ranker, documents[0], settings.seed, watched=bool(callbacks))
    start, (train, *valid) = _started(ranker, settings, schema, documents)
    chosen = chosen_trees(ranker, train.queries, start)
    threads = usable_threads(ranker.n_jobs, float(np.prod(train.X.shape)))
    settings = settings._replace(n_jobs=threads, **chosen)
    earlier = None if checkpoint is None else checkpoint.read()
    history, state = earlier or (History(gradients.staged.plan), None)
    rate = settings.learning_rate
    stopping = stopping_of(ranker.early_stopping_rounds, ranker.n_estimators, rate)
    shows = check_verbose(ranker.verbose)
    training = "train" in history.results if history.done else shows
    judges = judges_of(ranker, train, valid, schema, stopping, training=training)
    check_held_out(gradients.multipliers, judges.deciding)
    positions = report_of_positions(train, ranker.position_regularization)
    trainer = BOOSTERS[ranker.booster].trainer([train, *valid], schema, settings, state)
    if positions is not None and train.position is not None:
        trust = np.array(positions.identified)
        if ranker.position_regularization is None:
            trust = np.ones(len(trust))
        gradients.biases = PositionBiases(find_slots(train.position), trust, rate, history.biases)
    with closing(trainer):
        keep = bool if checkpoint is None else partial(checkpoint.write, history, trainer)
        called: Callbacks = [*gradients.multipliers, *callbacks]
        run_rounds(
            partial(gradients.step, trainer),
            trainer.scores,
            judges,
            history,
            callbacks=called,
            keep=keep,
            progress=shows,
        )
        model = kept(trainer.finish, history.best_round)
        scores = kept(_final_scores, model, trainer, valid[judges.deciding :], threads)
    with interrupts_held():  # the booster's destructor would lose a Ctrl-C
        del trainer
    _warn_without_splits(ranker, model, train)
    gradients.staged.warn_of_start_alone(history.done, history.best_round, history.plan)
    if valid:
        warn_if_behind(ranker, schema, train, valid[judges.deciding], scores)
    biases = gradients.biases
    return FittedTrees(
        schema=schema,
        model=model,
        init=start,
        position_bias=None if biases is None else biases.after(history.best_round),
        position_report=positions,
        progress=gradients.staged.progress(history.plan, history.best_round),
        data=sizes_of([train, *valid]),
        data_key=gradients.data_key,
        **chosen,
        **history.published(judges.decisive),
    )


def _warn_without_splits(ranker: BoostedRanker, model: Model, train: Documents) -> None:
    """Warn of trees that tell no document from another."""
    if not model.importances().any():
        warn_user(
            "no tree has a split; all scores are equal. Possible causes: too few documents "
            f"({len(train.y)}) for min_child_samples={ranker.min_child_samples}; features without "
            "variation; gradients that are too small (a narrow sigma)."
        )


def _scores_in_folds(
    ranker: BoostedRanker, settings: TreeSettings, schema: Schema, train: Documents
) -> Vector:
    """Return the scores of each third of the queries by a ranker of the other two."""
    fold = query_noise(train.queries.id_keys, settings.seed).argsort().argsort() % FOLDS
    if len(fold) < FOLDS:
        raise ArgumentError(
            "baseline",
            f"needs validation data, or at least {FOLDS} training queries",
            f"{len(fold)}",
        )
    scores = np.empty(len(train.y))
    for number in range(FOLDS):
        mask = fold == number
        rest = train.take_queries(~mask)
        judged = train.take_queries(mask)
        with (
            error_context("baseline, in a fold of the training queries: "),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # what the whole fit says, too
            fitted = as_part(grow, ranker, settings, schema, [rest])
            rows = mask[train.queries.index]
            scores[rows] = fitted.model.predict(judged.X, settings.n_jobs)
            if judged.init_score is not None:
                scores[rows] += judged.init_score
            elif fitted.init is not None:
                scores[rows] += fitted.init._fitted.model.predict(judged.X, settings.n_jobs)
    return scores


def with_features(init: Any, schema: Schema, documents: Documents, place: int) -> Documents:
    """Return documents with features in place of their table, and with the scores of a model.

    That is `init`, unless it is to be trained. In place 0 are the documents to train on.
    """
    with error_context(f"eval_set[{place - 1}]: " if place else ""):
        features = replace(documents, X=schema.transform(documents.X))
        if init in (None, "zero"):
            return features
        if documents.init_score is not None:
            raise ArgumentError("init", "must be None where init_score is given", quoted(init))
        if is_start_name(init):
            return features
        return with_scores(features, scores_by(init._links(), schema, features.X, documents.X))


def with_scores(documents: Documents, predicted: Vector) -> Documents:
    """Return documents with the scores that a model predicts as initial scores."""
    scores = check_finite(predicted, "init's predictions", len(documents.y))
    return replace(documents, init_score=scores)


def _started(
    ranker: BoostedRanker, settings: TreeSettings, schema: Schema, documents: Sequence[Documents]
) -> tuple[BaseRanker[Any] | None, Sequence[Documents]]:
    """Return the model that a ranker boosts from, if any, and documents with its scores."""
    init: Any = ranker.init
    if not is_start_name(init):
        return copy(init), documents  # which another fit of `init` leaves as it is
    facts = get_objective(ranker.objective).facts
    by_itself = init is None and documents[0].init_score is None
    if init != "regression" and not (by_itself and facts.needs_start and facts.start == "none"):
        return None, documents
    start: BoostedRanker = clone(ranker).set_params(
        objective="regression",
        init=None,
        sigma=None,
        n_estimators=max(1, int(START * ranker.n_estimators)),
        learning_rate=None,
        curvature="own",
        validation_fraction=None,
        early_stopping_rounds=None,
        baseline=None,
        verbose=0,
    )
    settings = settings._replace(early_stopping=False, resumable=False)
    fitted = as_part(grow, start, settings, schema, documents[:1])
    start._publish(fitted)
    return start, [
        with_scores(part, fitted.model.predict(part.X, settings.n_jobs)) for part in documents
    ]


def _final_scores(
    model: Model, trainer: Trainer, valid: Sequence[Documents], n_jobs: int
) -> Vector:
    """Return the last scores of the first validation set or, without any, of the training rows."""
    if not valid:
        scores = trainer.scores(0)
    else:
        with interrupts_held():
            scores = model.predict(valid[0].X, n_jobs)
        if valid[0].init_score is not None:
            scores = valid[0].init_score + scores
    if not np.isfinite(scores).all():
        raise ArgumentError(
            "learning_rate", "must be smaller: the scores that the trees came to are not finite"
        )
    return scores


def sizes_of(documents: Sequence[Documents]) -> dict[str, dict[str, int]]:
    """Return how many documents and queries there are in each set, of all workers."""
    return {
        f"valid_{place - 1}" if place else "train": {
            "documents": int(all_sum(part.queries.n_documents)),
            "queries": int(all_sum(part.queries.n_queries)),
        }
        for place, part in enumerate(documents)
    }


def refit(ranker: BoostedRanker, table: Documents) -> FittedTrees:
    """Return what a ranker's fit made, with steps from its scores in the leaves of its trees."""
    fitted = ranker._fitted
    continued = ranker._frozen()
    settings = tree_settings(continued)
    train = with_features(fitted.init, fitted.schema, table, 0)
    continued.init = ranker  # whose schedule begins anew, unless these are the data of its fit
    gradients = Gradients(continued, train, settings.seed)
    booster = BOOSTERS[fitted.model.booster]
    options = options_in_use(booster.options.of_leaves, booster.params(settings, fitted.schema))
    obstacles = [*options, *map(repr, gradients.multipliers)]
    if obstacles or table.position is not None:
        raise ValueError(
            f"refit does not support {', '.join(obstacles) or 'positions'}: leaves could not "
            "follow the gradient of the objective. Train a new ranker."
        )
    rate = chosen_trees(continued, train.queries)["learning_rate"]
    start = train.init_score

    def steps(leaves: Positions, values: list[Vector]) -> list[Vector]:
        """Return the leaf values of all trees, each of which continues from the scores so far."""
        scores: Any = sum(map(np.take, values, leaves), start=0.0 if start is None else start)
        for number, (leaf, old) in enumerate(zip(leaves, values, strict=True)):
            if number % max(1, round(TOGETHER / rate)) == 0:
                gradient, curvature = gradients.at(scores, number, gradients.staged.plan)
            slope, width = (np.bincount(leaf, part, len(old)) for part in (gradient, curvature))
            step = -rate * slope / np.where(width > 0, width + continued.reg_lambda, 1.0)
            scores = scores + step[leaf]
            old += step
        return values

    model = fitted.model.refit(train.X, settings.n_jobs, steps)
    return replace(
        fitted,
        model=model,
        best_score=np.nan,
        evals_result=EvalsResult(),
        data=sizes_of([train]),
        data_key=gradients.data_key,
    )
