"""A fit of trees, from its arguments to what it makes."""

from contextlib import closing

import numpy as np

from gbrank.boosters import Model, Trainer
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.interrupts import interrupts_held
from gbrank.common.warnings import warn_user
from gbrank.fit.arguments import FitData, FitOptions
from gbrank.fit.best_feature import warn_if_behind
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.loop import kept
from gbrank.fit.plan import BoostingPlan, plan_boosting
from gbrank.fit.position_bias import DebiasedTrainer
from gbrank.fit.rounds import warn_of_short_patience


def boost(ranker: BoostedRanker, data: FitData, options: FitOptions) -> FittedTrees:
    """Train a ranker's trees, and return all that the fit makes."""
    plan = plan_boosting(ranker, data, options)
    settings = plan.settings
    warn_of_short_patience(
        ranker.early_stopping_rounds, ranker.n_estimators, settings.learning_rate
    )
    trainer = plan.trainer()
    with closing(trainer):
        history = plan.loop(trainer).run()
        model = kept(trainer.finish, history.best_round)
        scores = kept(_final_scores, plan, model, trainer)
    biases = trainer.bias(history.best_round) if isinstance(trainer, DebiasedTrainer) else None
    with interrupts_held():  # the booster's destructor would lose a Ctrl-C
        progress = plan.gradients.hook.stages[-1].progress(history.best_round)
        del trainer
    if not model.importances().any():
        warn_user(
            "no tree has a split, and all documents the same score: are "
            f"{len(plan.rows.y)} documents too few for "
            f"min_child_samples={ranker.min_child_samples}, features without variation, or "
            "gradients too small (a narrow sigma)?"
        )
    warn_if_behind(plan, scores)
    return FittedTrees(
        schema=plan.schema,
        model=model,
        booster=ranker.booster,
        init=plan.start,
        learning_rate=settings.learning_rate,
        colsample=settings.colsample,
        extra_trees=settings.extra_trees,
        position_bias=biases,
        position_report=plan.positions,
        progress=progress,
        data=plan.sizes,
        **history.published(plan.sigmas),
    )


def _final_scores(plan: BoostingPlan, model: Model, trainer: Trainer) -> Vector:
    """Return the last scores of the first validation set or, without one, of training."""
    if plan.valid:
        rows = plan.valid[0]
        with interrupts_held():
            scores = model.predict(rows.X, plan.schema, plan.settings.n_jobs)
        if rows.init_score is not None:
            scores = rows.init_score + scores
    else:
        scores = trainer.train_scores()
    if not np.isfinite(scores).all():
        raise ArgumentError(
            "learning_rate", "must be smaller: the scores that the trees came to are not finite"
        )
    return scores
