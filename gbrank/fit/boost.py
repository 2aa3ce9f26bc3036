"""A fit of trees, from its documents to what it makes."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gbrank.boosters import TRAINERS, Model, Trainer, TreeSettings
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import GradientFunction, State
from gbrank.clicks import PositionReport
from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.arrays import Vector
from gbrank.common.collective import all_gather, all_sum
from gbrank.common.interrupts import interrupts_held
from gbrank.common.threads import usable_threads
from gbrank.common.warnings import warn_user
from gbrank.data.documents import Documents
from gbrank.data.sampling import query_keys, query_noise
from gbrank.data.schema import Schema
from gbrank.fit.arguments import refuse_zero_weights
from gbrank.fit.best_feature import baseline_column, warn_if_behind
from gbrank.fit.boosted_ranker import BoostedRanker, is_start_name, tree_settings
from gbrank.fit.checkpoints import Checkpoint, fit_hashes
from gbrank.fit.defaults import chosen_trees
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.gradients import derivatives_by_round
from gbrank.fit.interrupted import as_part, is_part, kept
from gbrank.fit.loop import Judges, judges_of, run_rounds, warn_of_equal_rows
from gbrank.fit.multiplier import Multiplier, own_multipliers, refuse_training_data
from gbrank.fit.position_bias import DebiasedTrainer, report_of_positions
from gbrank.fit.rounds import Callback, History, check_callbacks, stopping_of
from gbrank.fit.start import needs_regression, regression_of, with_features, with_scores
from gbrank.objectives.objective_registry import get_objective

FOLDS = 3  # of the training queries, where no others judge the baseline


def boost(
    ranker: BoostedRanker,
    tables: Sequence[Documents],
    categorical_feature: Sequence[int | str] | None,
    saved: Checkpoint,
    callbacks: Sequence[Callback] | None,
) -> FittedTrees:
    """Train a ranker on the documents of tables, the first to train on, the others to validate."""
    settings = tree_settings(ranker, resumable=saved.file is not None)
    called = check_callbacks(callbacks)
    ranker._measures()  # which must be known
    schema = Schema.union(all_gather(Schema.learn(tables[0].X, categorical_feature)))
    documents = [with_features(ranker, schema, part, i) for i, part in enumerate(tables)]
    refuse_zero_weights(documents[0])
    _refuse_together(ranker, schema, *documents)
    warn_of_equal_rows(documents[0])
    if saved.file is not None:
        saved.expect(fit_hashes(ranker, schema, documents))
    train, *valid = _set_aside(ranker, documents, settings.seed)
    if ranker.baseline is not None and not valid and not is_part():
        scores = _scores_in_folds(ranker, settings, schema, train)
        warn_if_behind(ranker, schema, train, train, scores)
    return grow(ranker, settings, schema, train, valid, saved, called)


def grow(
    ranker: BoostedRanker,
    settings: TreeSettings,
    schema: Schema,
    train: Documents,
    valid: Sequence[Documents],
    saved: Checkpoint,
    callbacks: Sequence[Callback] = (),
) -> FittedTrees:
    """Train a ranker's trees on features, and return all that the fit makes."""
    hook, multipliers = hook_of(ranker, train)
    derivatives = derivatives_by_round(hook, ranker, train, settings.seed)
    TRAINERS[ranker.booster].check(settings, schema)
    start, (train, *valid) = _started(ranker, schema, [train, *valid])
    threads = usable_threads(ranker.n_jobs, float(np.prod(train.X.shape)))
    chosen = chosen_trees(ranker, train.queries, start)
    judges = _judges(ranker, schema, train, valid, chosen["learning_rate"], saved.history)
    refuse_training_data(multipliers, judges.place)
    positions = report_of_positions(train, ranker.position_model == "free")
    settings = replace(settings, n_jobs=threads, **chosen)
    trainer = _trainer(ranker, train, valid, schema, settings, positions, saved.state)
    with closing(trainer):
        called: list[Callback] = [*multipliers, *callbacks]
        history = _rounds(ranker, trainer, derivatives, judges, hook, saved, called)
        model = kept(trainer.finish, history.best_round)
        judged = valid[judges.place : judges.place + 1]
        scores = kept(_final_scores, model, trainer, judged, schema, threads)
    biases = trainer.bias(history.best_round) if isinstance(trainer, DebiasedTrainer) else None
    with interrupts_held():  # the booster's destructor would lose a Ctrl-C
        del trainer
    _warn_without_splits(ranker, model, train)
    hook.warn_of_start_alone(history.done, history.best_round)
    if valid:
        warn_if_behind(ranker, schema, train, judged[0], scores)
    return FittedTrees(
        schema=schema,
        model=model,
        booster=ranker.booster,
        init=start,
        position_bias=biases,
        position_report=positions,
        progress=hook.stages[-1].progress(history.best_round),
        data=sizes_of(train, valid),
        **chosen,
        **history.published(hook.sigma_of_round),
    )


def hook_of(ranker: BoostedRanker, train: Documents) -> tuple[GradientHook, list[Multiplier]]:
    """Return the hook of the objective, and the multipliers in it, which are this fit's alone."""
    objective, multipliers = own_multipliers(get_objective(ranker.objective))
    hook = GradientHook(
        objective,
        ranker.sigma,
        start=ranker.init is None and train.init_score is None,
        rounds=ranker.n_estimators,
        curvature=ranker.curvature,
        n_jobs=ranker.n_jobs,
    )
    if isinstance(ranker.init, BoostedRanker):
        hook.go_on_from(ranker.init._fitted.progress)
    return hook, multipliers


def _judges(
    ranker: BoostedRanker,
    schema: Schema,
    train: Documents,
    valid: Sequence[Documents],
    rate: float,
    history: History,
) -> Judges:
    """Return the measures of the rounds, and when they end them."""
    measures, patience = ranker._measures(), ranker.early_stopping_rounds
    stopping = stopping_of(patience, ranker.n_estimators, rate)
    training = "train" in history.results if history.done else ranker._shows
    return judges_of(measures, train, valid, schema, ranker.n_jobs, stopping, training=training)


def _rounds(
    ranker: BoostedRanker,
    trainer: Trainer,
    derivatives: Callable[[int], GradientFunction],
    judges: Judges,
    hook: GradientHook,
    saved: Checkpoint,
    callbacks: Sequence[Callback],
) -> History:
    """Train the rounds that a checkpoint leaves, or all."""
    hook.sigma_of_round.update(saved.sigmas)
    if callbacks:
        hook.watch = partial(setattr, hook, "gradients")
    return run_rounds(
        trainer,
        lambda round: trainer.step(derivatives(round)),
        ranker.n_estimators,
        judges,
        hook,
        saved.history,
        callbacks=callbacks,
        keep=partial(saved.keep, trainer, hook.sigma_of_round),
        progress=ranker._shows,
    )


def _trainer(
    ranker: BoostedRanker,
    train: Documents,
    valid: list[Documents],
    schema: Schema,
    settings: TreeSettings,
    positions: PositionReport | None,
    state: State | None,
) -> Trainer:
    """Return the booster, ready to grow its next tree, which learns biases of positions, too."""
    trainer: Trainer = TRAINERS[ranker.booster](train, valid, schema, settings, state)
    if positions is None or train.position is None:
        return trainer
    trust = np.where(ranker.position_model == "free", 1.0, positions.told)
    return DebiasedTrainer(trainer, train.position, trust, settings.learning_rate, state)


def _warn_without_splits(ranker: BoostedRanker, model: Model, train: Documents) -> None:
    """Warn of trees that tell no document from another."""
    if not model.importances().any():
        warn_user(
            "no tree has a split, and all documents the same score: are "
            f"{len(train.y)} documents too few for "
            f"min_child_samples={ranker.min_child_samples}, features without variation, or "
            "gradients too small (a narrow sigma)?"
        )


def _refuse_together(
    ranker: BoostedRanker, schema: Schema, train: Documents, *valid: Documents
) -> None:
    """Refuse arguments that are right by themselves, and not together."""
    baseline_column(ranker, schema)  # which must be there
    if train.init_score is not None and any(part.init_score is None for part in valid):
        raise ArgumentError(
            "eval_init_score",
            "must be given where init_score is: validation documents would be judged by the trees "
            "alone",
        )


def _set_aside(
    ranker: BoostedRanker, documents: Sequence[Documents], seed: int
) -> Sequence[Documents]:
    """Return documents to train on, then those to validate on."""
    if len(documents) > 1:
        return documents
    if ranker.validation_fraction is not None:
        return documents[0].split(ranker.validation_fraction, seed)
    if ranker.early_stopping_rounds is not None:
        demand = "needs validation data: pass eval_set=, or set validation_fraction"
        raise ArgumentError("early_stopping_rounds", demand)
    return documents


def _scores_in_folds(
    ranker: BoostedRanker, settings: TreeSettings, schema: Schema, train: Documents
) -> Vector:
    """Return the scores of each third of the queries by a ranker of the other two."""
    fold = query_noise(query_keys(train.queries.ids), settings.seed, 0).argsort().argsort() % FOLDS
    if len(fold) < FOLDS:
        demand = f"needs validation data, or {FOLDS} training queries, which take their place"
        raise ArgumentError("baseline", demand, f"{len(fold)}")
    scores, threads = np.empty(len(train.y)), usable_threads(ranker.n_jobs)
    for mask in [fold == number for number in range(FOLDS)]:
        rest, judged = train.take_queries(~mask), train.take_queries(mask)
        with found_in("baseline, in a fold of the training queries: "), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the whole fit says, too
            fitted = as_part(partial(grow, ranker, settings, schema, rest, [], Checkpoint()))
            models = [fitted.model]
            if needs_regression(ranker, train):
                models.append(fitted.init._fitted.model)
            parts = [model.predict(judged.X, schema, threads) for model in models]
            start = 0.0 if judged.init_score is None else judged.init_score
            scores[mask[train.queries.index]] = start + sum(parts)
    return scores


def _started(
    ranker: BoostedRanker, schema: Schema, documents: Sequence[Documents]
) -> tuple[BaseRanker[Any] | None, Sequence[Documents]]:
    """Return the model that a ranker boosts from, if any, and documents with its scores."""
    if not needs_regression(ranker, documents[0]):
        init: Any = ranker.init
        # A copy, which another fit of `init` leaves as it is.
        return None if is_start_name(init) else copy(init), documents
    start = regression_of(ranker)
    fitted = as_part(
        lambda: grow(start, tree_settings(start), schema, documents[0], [], Checkpoint())
    )
    start._publish(fitted)
    threads = usable_threads(ranker.n_jobs)
    scores = [fitted.model.predict(part.X, schema, threads) for part in documents]
    return start, [with_scores(*pair) for pair in zip(documents, scores, strict=True)]


def _final_scores(
    model: Model, trainer: Trainer, valid: Sequence[Documents], schema: Schema, n_jobs: int
) -> Vector:
    """Return the last scores of the validation rows or, without any, of the training rows."""
    if not valid:
        scores = trainer.train_scores()
    else:
        with interrupts_held():
            scores = model.predict(valid[0].X, schema, n_jobs)
        if valid[0].init_score is not None:
            scores = valid[0].init_score + scores
    if not np.isfinite(scores).all():
        raise ArgumentError(
            "learning_rate", "must be smaller: the scores that the trees came to are not finite"
        )
    return scores


def sizes_of(train: Documents, valid: Sequence[Documents]) -> dict[str, dict[str, int]]:
    """Return how many documents and queries there are in each set, of all workers."""
    parts = {"train": train, **{f"valid_{i}": part for i, part in enumerate(valid)}}
    return {
        name: {
            "documents": int(all_sum(part.queries.n_documents)),
            "queries": int(all_sum(part.queries.n_queries)),
        }
        for name, part in parts.items()
    }
