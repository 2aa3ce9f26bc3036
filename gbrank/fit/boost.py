"""A fit of trees, from its arguments to what it makes."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gbrank.boosters import TRAINERS, Model, Trainer, TreeSettings
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import GradientFunction
from gbrank.clicks import PositionReport
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.collective import all_gather, all_sum
from gbrank.common.interrupts import interrupts_held
from gbrank.common.threads import usable_threads
from gbrank.common.warnings import warn_user
from gbrank.data.checking import split_rows
from gbrank.data.rows import Rows, take_rows
from gbrank.data.schema import Schema
from gbrank.fit.arguments import FitData, FitOptions, TableLike
from gbrank.fit.best_feature import baseline_column, warn_if_behind
from gbrank.fit.boosted_ranker import BoostedRanker, tree_settings
from gbrank.fit.checkpoints import Checkpoint, fit_hashes
from gbrank.fit.defaults import chosen_trees
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.gradients import derivatives_by_round
from gbrank.fit.loop import History, Loop, decided_by, evaluations, kept, warn_of_equal_rows
from gbrank.fit.multiplier import Multiplier, own_multipliers
from gbrank.fit.position_bias import DebiasedTrainer, report_of_positions
from gbrank.fit.rounds import check_callbacks, stopping_of, warn_of_short_patience
from gbrank.fit.start import fit_start, from_start
from gbrank.objectives.objective_registry import get_objective


def boost(ranker: BoostedRanker, data: FitData, options: FitOptions) -> FittedTrees:
    """Train a ranker's trees, and return all that the fit makes."""
    checked = tree_settings(ranker, resumable=options.checkpoint is not None)
    callbacks, measures = check_callbacks(options.callbacks), ranker._measures()
    schema = Schema.union(all_gather(Schema.learn(data.training["X"], data.categorical_feature)))
    checked_parts = data.checked(schema)
    warn_of_equal_rows(checked_parts[0])
    _refuse_together(ranker, data, schema)
    saved = _checkpoint(ranker, options, schema, *checked_parts)
    parts, tables = _set_aside(ranker, data, checked.seed, *checked_parts)
    hook, multipliers = _hook(ranker, parts[0])
    derivatives = derivatives_by_round(hook, ranker, parts[0], checked.seed)
    TRAINERS[ranker.booster].check(checked, schema)
    given = parts[0].as_given(tables[0]) | {"categorical_feature": data.categorical_feature}
    start = fit_start(ranker, parts, given)
    rows, *valid = from_start(start, schema, tables, parts)
    n_jobs = usable_threads(ranker.n_jobs, float(np.prod(rows.X.shape)))
    settings = replace(checked, n_jobs=n_jobs, **chosen_trees(ranker, rows.queries, start))
    rate, patience = settings.learning_rate, ranker.early_stopping_rounds
    warn_of_short_patience(patience, ranker.n_estimators, rate)
    began = None if start is None else [part.init_score for part in (rows, *valid)]
    history = _resumed(saved, began, hook)
    records = "train" in history.results if history.done else ranker._shows
    on_train, on_valid = evaluations(measures, rows, valid, schema, ranker.n_jobs, training=records)
    judge, stopping = decided_by(on_valid, stopping_of(patience, ranker.n_estimators, rate))
    judged = valid[judge : judge + 1]
    positions = report_of_positions(rows, ranker.position_model == "free")
    trainer = _trainer(ranker, rows, valid, schema, settings, positions, saved)
    with closing(trainer):
        Loop(
            trainer,
            partial(_grow, trainer, derivatives),
            ranker.n_estimators,
            on_train=on_train,
            on_valid=on_valid,
            judge=judge,
            stopping=stopping,
            sigmas=hook.sigmas,
            hook=hook,
            callbacks=[*multipliers, *callbacks],
            history=history,
            keep=None if saved is None else partial(saved.keep, trainer, hook.sigmas),
            progress=ranker._shows,
        ).run()
        model = kept(trainer.finish, history.best_round)
        scores = kept(_final_scores, model, trainer, judged, schema, n_jobs)
    biases = trainer.bias(history.best_round) if isinstance(trainer, DebiasedTrainer) else None
    with interrupts_held():  # the booster's destructor would lose a Ctrl-C
        del trainer
    _warn_without_splits(ranker, model, rows)
    hook.warn_of_start_alone(history.done, history.best_round)
    if valid:
        warn_if_behind(ranker, schema, rows, judged[0], scores)
    return FittedTrees(
        schema=schema,
        model=model,
        booster=ranker.booster,
        init=start,
        learning_rate=rate,
        colsample=settings.colsample,
        extra_trees=settings.extra_trees,
        position_bias=biases,
        position_report=positions,
        progress=hook.stages[-1].progress(history.best_round),
        data=_sizes(rows, valid),
        **history.published(hook.sigmas),
    )


def _checkpoint(
    ranker: BoostedRanker, options: FitOptions, schema: Schema, rows: Rows, valid: list[Rows]
) -> Checkpoint | None:
    """Return the checkpoint that the fit writes, and goes on from, if it is to."""
    if options.checkpoint is None:
        return None
    saved = Checkpoint(options.checkpoint, options.checkpoint_rounds)
    saved.hashes = fit_hashes(ranker, schema, rows, valid)
    return saved


def _resumed(
    saved: Checkpoint | None, init_scores: list[Any] | None, hook: GradientHook
) -> History:
    """Return what a checkpoint of the same fit has done, with its sigmas in the hook."""
    if saved is None:
        return History()
    saved.expect(init_scores)
    hook.sigmas.update(saved.sigmas)
    return saved.history


def _hook(ranker: BoostedRanker, rows: Rows) -> tuple[GradientHook, list[Multiplier]]:
    """Return the hook of the objective, and the multipliers in it, which are this fit's alone."""
    objective, multipliers = own_multipliers(get_objective(ranker.objective))
    hook = GradientHook(
        objective,
        ranker.sigma,
        start=ranker.init is None and rows.init_score is None,
        rounds=ranker.n_estimators,
        curvature=ranker.curvature,
        n_jobs=ranker.n_jobs,
    )
    if isinstance(ranker.init, BoostedRanker):
        hook.go_on_from(ranker.init._fitted.progress)
    return hook, multipliers


def _trainer(
    ranker: BoostedRanker,
    rows: Rows,
    valid: list[Rows],
    schema: Schema,
    settings: TreeSettings,
    positions: PositionReport | None,
    saved: Checkpoint | None,
) -> Trainer:
    """Return the booster, ready to grow its next tree, which learns biases of positions, too."""
    state = None if saved is None else saved.state
    trainer: Trainer = TRAINERS[ranker.booster](rows, valid, schema, settings, state)
    if positions is None or rows.position is None:
        return trainer
    told = np.where(ranker.position_model == "free", 1.0, positions.told)
    return DebiasedTrainer(trainer, rows.position, told, settings.learning_rate, state)


def _warn_without_splits(ranker: BoostedRanker, model: Model, rows: Rows) -> None:
    """Warn of trees that tell no document from another."""
    if not model.importances().any():
        warn_user(
            "no tree has a split, and all documents the same score: are "
            f"{len(rows.y)} documents too few for "
            f"min_child_samples={ranker.min_child_samples}, features without variation, or "
            "gradients too small (a narrow sigma)?"
        )


def _grow(trainer: Trainer, derivatives: Callable[[int], GradientFunction], round: int) -> None:
    """Grow the tree of a round."""
    trainer.step(derivatives(round))


def _refuse_together(ranker: BoostedRanker, data: FitData, schema: Schema) -> None:
    """Refuse arguments that are right by themselves, and not together."""
    baseline_column(ranker, schema)  # which must be there
    validation = data.validation.values()
    if "init_score" in data.training and any("init_score" not in part for part in validation):
        raise ArgumentError(
            "eval_init_score",
            "must be given where init_score is: validation documents would be judged by the trees "
            "alone",
        )


def _set_aside(
    ranker: BoostedRanker, data: FitData, seed: int, rows: Rows, valid: list[Rows]
) -> tuple[list[Rows], list[TableLike]]:
    """Return rows to train on, then those to validate on, and their tables."""
    if ranker.validation_fraction is not None and not valid:
        split = split_rows(rows, ranker.validation_fraction, seed)
        tables = [take_rows(data.training["X"], chosen) for _, chosen in split]
        return [part for part, _ in split], tables
    for name in ("early_stopping_rounds", "baseline"):
        if getattr(ranker, name) is not None and not valid:
            demand = "needs validation data: pass eval_set=, or set validation_fraction"
            raise ArgumentError(name, demand)
    return [rows, *valid], [part["X"] for part in data.sets.values()]


def _final_scores(
    model: Model, trainer: Trainer, valid: Sequence[Rows], schema: Schema, n_jobs: int
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


def _sizes(rows: Rows, valid: Sequence[Rows]) -> dict[str, dict[str, int]]:
    """Return how many documents and queries there are in each set, of all workers."""
    parts = {"train": rows, **{f"valid_{i}": part for i, part in enumerate(valid)}}
    return {
        name: {
            "documents": int(all_sum(part.queries.n_documents)),
            "queries": int(all_sum(part.queries.n_queries)),
        }
        for name, part in parts.items()
    }
