"""The plan of a fit: what is to be trained, on what, from where; all of it checked."""

from collections.abc import Callable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.boosters import TRAINERS, Model, Trainer, TreeSettings
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import Derivatives
from gbrank.boosters.stages import Progress
from gbrank.common.arrays import Vector
from gbrank.common.checks import listed
from gbrank.common.interrupts import interrupts_held
from gbrank.common.threads import usable_threads
from gbrank.common.warnings import warn_user
from gbrank.data.batches import each_batch, learn_schema
from gbrank.data.checking import split_rows
from gbrank.data.columns import Data
from gbrank.data.rows import Rows, take_rows
from gbrank.data.sampling import document_keys, query_keys, sampled
from gbrank.data.schema import Schema
from gbrank.fit.arguments import FitData, FitOptions, Table
from gbrank.fit.boosted_ranker import BoostedRanker, learning_rate_of, tree_settings
from gbrank.fit.calibration import Calibration, fit_calibration
from gbrank.fit.callbacks import Callback, check_callbacks
from gbrank.fit.checkpoints import Checkpoint, argument_hash, fit_hashes, in_use
from gbrank.fit.constraints import Constraint, ConstraintOutcome, Multipliers, get_constraints
from gbrank.fit.context import Context
from gbrank.fit.estimator import check_verbose
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.loop import Evaluation, History, Loop, part_of_more
from gbrank.fit.position_bias import DebiasedTrainer
from gbrank.fit.start import fit_start, from_start
from gbrank.fit.stopping import stopping_of, warn_of_short_patience
from gbrank.fit.time_limit import boost_in_time
from gbrank.measures.measure import Measure
from gbrank.objectives.objective import Objective
from gbrank.objectives.objective_registry import get_objective
from gbrank.parallel.collective import all_gather, all_max, all_sum

Mask = NDArray[np.bool_]
LARGEST_LABEL = float(np.finfo(np.float32).max)
InRound: TypeAlias = Callable[[int], Derivatives | None]


def evaluations(
    measures: list[Measure],
    rows: Rows,
    valid: Sequence[Rows],
    schema: Schema,
    n_jobs: int | None,
    *,
    training: bool,
) -> tuple[Evaluation | None, list[Evaluation]]:
    """Bind measures to the training rows, if asked to, and to each validation set."""
    for i, part in enumerate(valid):
        for measure in measures:
            if measure.label in rows.labels and measure.label not in part.labels:
                raise ValueError(
                    f"eval_labels must have {measure.label!r} for eval_set[{i}], which measure "
                    f"{measure} is of, got {listed(part.labels)}."
                )
    on_train = Evaluation("train", rows, schema, measures, n_jobs) if training else None
    return on_train, [
        Evaluation(f"valid_{i}", part, schema, measures, n_jobs) for i, part in enumerate(valid)
    ]


@dataclass(eq=False)
class BoostingPlan:
    """What a fit of a GBRanker does: `trainer`, then `loop`, then what it makes."""

    ranker: BoostedRanker
    settings: TreeSettings
    schema: Schema  # of the columns of X
    context: Context  # what the rows have besides
    rows: Rows
    valid: list[Rows]
    start: Any
    checkpoint: Checkpoint | None
    callbacks: Sequence[Callback]
    in_round: InRound
    hook: GradientHook | None  # none with a booster's own objective
    on_train: Evaluation | None
    on_valid: list[Evaluation]
    multipliers: Multipliers | None = None  # of constraints

    @property
    def wide_schema(self) -> Schema:
        """The schema of what the trees see."""
        return self.context.widened(self.schema)

    def progress(self, rounds: int) -> Progress | None:
        """Return how far the objective's schedule is after some rounds."""
        return None if self.hook is None else self.hook.stages[-1].progress(rounds)

    @property
    def sigmas(self) -> dict[int, float]:
        """The sigma of each round that has one."""
        return {} if self.hook is None else self.hook.sigmas

    @property
    def sizes(self) -> dict[str, dict[str, int]]:
        """How many documents and queries there are in each set, of all workers."""
        parts = {"train": self.rows, **{f"valid_{i}": part for i, part in enumerate(self.valid)}}
        return {
            name: {
                "documents": int(all_sum(part.queries.n_documents)),
                "queries": int(all_sum(part.queries.n_queries)),
            }
            for name, part in parts.items()
        }

    def trainer(self) -> Trainer:
        """Return the booster, ready to grow the first tree, or the next one of a checkpoint."""
        state = None if self.checkpoint is None else self.checkpoint.state
        make = TRAINERS[self.ranker.booster]
        trainer = make(self.rows, self.valid, self.wide_schema, self.settings, state)
        if self.rows.position is None:
            return trainer
        return DebiasedTrainer(trainer, self.rows.position, self.settings.learning_rate, state)

    def loop(self, trainer: Trainer) -> Loop:
        """Return the rounds to boost, or those that a checkpoint has left."""
        ranker, rate = self.ranker, self.settings.learning_rate
        history, keep = History(), None
        if self.checkpoint is not None:
            history, keep = self.checkpoint.resume(trainer, self.sigmas)
            if self.multipliers is not None:
                self.multipliers.resume(history.results)
        return Loop(
            trainer,
            self.in_round,
            ranker.n_estimators,
            on_train=self.on_train,
            on_valid=self.on_valid,
            stopping=stopping_of(ranker.early_stopping_rounds, ranker.n_estimators, rate),
            sigmas=self.sigmas,
            hook=self.hook,
            multipliers=self.multipliers,
            callbacks=self.callbacks,
            history=history,
            keep=keep,
            progress=check_verbose(ranker.verbose),
        )

    @property
    def watched(self) -> str:
        """The set on which constraints are measured."""
        return "valid_0" if self.valid else "train"

    def outcomes(self, history: History) -> list[ConstraintOutcome]:
        """Return how each constraint ended."""
        if self.multipliers is None:
            return []
        return self.multipliers.outcomes(history.results, history.best_round)

    @property
    def calibration_rows(self) -> Rows:
        """The rows on which probabilities are calibrated."""
        return self.valid[0] if self.valid else self.rows

    def calibration_scores(self, trainer: Trainer, model: Model) -> Vector:
        """Return the model's scores of `calibration_rows`."""
        rows = self.calibration_rows
        initial = 0.0 if rows.init_score is None else rows.init_score
        if self.valid:
            scores = initial + each_batch(
                lambda X: model.predict(X, self.wide_schema, self.settings.n_jobs), rows.X
            )
        else:
            scores = trainer.train_scores()
        if not np.isfinite(scores).all():
            raise ValueError(
                "learning_rate must be smaller: the scores that the trees came to are not finite."
            )
        return scores if self.start is not None else scores - initial  # not part of the model

    def calibration(self, scores: Vector) -> Calibration:
        """Fit the map from `calibration_scores` to probabilities."""
        rows = self.calibration_rows
        top = all_max(max(float(part.y.max()) for part in (self.rows, *self.valid)))
        return fit_calibration(scores, rows.y, rows.weights, top)


def boost(ranker: BoostedRanker, data: FitData, options: FitOptions) -> FittedTrees:
    """Train a ranker's trees, and return all that the fit makes."""
    if options.time_limit is not None:
        return boost_in_time(lambda ranker, options: boost(ranker, data, options), ranker, options)
    with in_use(options.checkpoint):
        plan = plan_boosting(ranker, data, options)
        trainer = plan.trainer()
        with closing(trainer):
            history = plan.loop(trainer).run()
            model = trainer.finish(history.best_round)
            scores = plan.calibration_scores(trainer, model)
    biases = trainer.bias(history.best_round) if isinstance(trainer, DebiasedTrainer) else None
    with interrupts_held():  # the booster's destructor would lose a Ctrl-C
        del plan.in_round, trainer  # frees memory for the calibration
    if not model.importances().any():
        warn_user(
            "no tree has a split, and all documents the same score: are "
            f"{len(plan.rows.y)} documents too few for "
            f"min_child_samples={ranker.min_child_samples}, features without variation, or "
            "gradients too small (a narrow sigma)?"
        )
    return FittedTrees(
        schema=plan.schema,
        context=plan.context,
        trained_on=data.trained_on(plan.rows),
        model=model,
        booster=ranker.booster,
        init=plan.start,
        learning_rate=plan.settings.learning_rate,
        position_bias=biases,
        calibration=plan.calibration(scores),
        progress=plan.progress(history.best_round),
        data=plan.sizes,
        constraints=plan.outcomes(history),
        **history.published(plan.sigmas),
    )


def plan_boosting(ranker: BoostedRanker, data: FitData, options: FitOptions) -> BoostingPlan:
    """Return the plan of a fit, all of whose arguments are checked."""
    settings = tree_settings(ranker, resumable=options.checkpoint is not None)
    callbacks = check_callbacks(options.callbacks)
    measures, constraints = ranker._measures(), get_constraints(ranker.constraints)
    schema = Schema.union(all_gather(learn_schema(data.training["X"], data.categorical_feature)))
    context = Context.of(ranker.context, schema)
    rows, valid = data.checked(schema)
    rows, *valid = [part.replace(X=context.widen(part.X, part.queries)) for part in (rows, *valid)]
    _refuse_together(ranker, settings, data, rows, valid, constraints)
    saved = _checkpoint(ranker, options, schema, rows, valid)
    rows, valid, tables = _set_aside(ranker, data, settings.seed, rows, valid)
    settings = replace(
        settings,
        learning_rate=learning_rate_of(ranker, all_sum(rows.queries.n_documents)),
        n_jobs=usable_threads(ranker.n_jobs, float(np.prod(rows.X.shape))),
    )
    patience, rate = ranker.early_stopping_rounds, settings.learning_rate
    warn_of_short_patience(patience, ranker.n_estimators, rate)
    if ranker.init is not None:  # it may take long: what is wrong shows before
        _derivatives(ranker, rows, settings, None)
        TRAINERS[ranker.booster].check(settings, context.widened(schema))
    parts = list(zip(tables, [rows, *valid], strict=True))
    given: list[Data] = [part.as_given(table) for table, part in parts]
    given[0] = {**given[0], "categorical_feature": data.categorical_feature}
    start = fit_start(ranker, settings, given)
    if start is not None:
        rows, *valid = [from_start(start, table, part) for table, part in parts]
    if saved is not None:
        scores = [part.init_score for part in (rows, *valid)]
        saved.expect({"init": argument_hash("init", scores)})
    in_round, hook = _derivatives(ranker, rows, settings, start)
    on_train, on_valid = evaluations(
        measures, rows, valid, schema, ranker.n_jobs, training=check_verbose(ranker.verbose)
    )
    plan = BoostingPlan(
        ranker=ranker,
        settings=settings,
        schema=schema,
        context=context,
        rows=rows,
        valid=valid,
        start=start,
        checkpoint=saved,
        callbacks=callbacks,
        in_round=in_round,
        hook=hook,
        on_train=on_train,
        on_valid=on_valid,
    )
    return _constrained(plan, constraints, measures) if constraints else plan


def _constrained(
    plan: BoostingPlan, constraints: list[Constraint], measures: list[Measure]
) -> BoostingPlan:
    """Return the plan of a fit under constraints, which are measured in every round."""
    objective = get_objective(plan.ranker.objective)
    curves = [_alone(plan, item.objective(objective), item) for item in constraints]
    multipliers = Multipliers(constraints, curves, plan.watched, plan.ranker.n_estimators)
    if not (plan.valid or check_verbose(plan.ranker.verbose)):
        measures = []  # of the training queries, only what the constraints need is measured
    known = {str(measure) for measure in measures}
    others = [item.of for item in constraints if str(item.measure) not in known]
    return _retrained(plan, multipliers.mixture(objective), [*measures, *others], multipliers)


def _alone(plan: BoostingPlan, objective: Objective, constraint: Constraint) -> list[float]:
    """Return what the measure of a constraint is in each round of a fit for it alone."""
    alone = replace(_retrained(plan, objective, [constraint.of]), checkpoint=None, callbacks=())
    with part_of_more(), closing(alone.trainer()) as trainer:
        history = alone.loop(trainer).run()
    curve = history.results[plan.watched][str(constraint.measure)]
    return curve[: history.best_round]


def _retrained(
    plan: BoostingPlan,
    objective: Objective,
    measures: list[Measure],
    multipliers: Multipliers | None = None,
) -> BoostingPlan:
    """Return the plan of the same fit with another objective and other measures."""
    ranker = copy(plan.ranker)
    ranker.objective = objective
    in_round, hook = _derivatives(ranker, plan.rows, plan.settings, plan.start)
    on_train, on_valid = evaluations(
        measures,
        plan.rows,
        plan.valid,
        plan.schema,
        ranker.n_jobs,
        training=check_verbose(ranker.verbose) or not plan.valid,
    )
    return replace(
        plan,
        ranker=ranker,
        in_round=in_round,
        hook=hook,
        on_train=on_train,
        on_valid=on_valid,
        multipliers=multipliers,
    )


def _refuse_together(
    ranker: BoostedRanker,
    settings: TreeSettings,
    data: FitData,
    rows: Rows,
    valid: list[Rows],
    constraints: list[Constraint],
) -> None:
    """Refuse arguments that are right by themselves, and not together."""
    if constraints and settings.built_in is not None:
        raise ValueError(
            "constraints must be None with a booster's own objective, got objective="
            f"{ranker.objective!r}: use one of gbrank, such as 'lambdarank'."
        )
    if settings.built_in is not None and rows.y.max() > LARGEST_LABEL:
        raise ValueError(
            f"y must be at most {LARGEST_LABEL} with a booster's own objective, which computes in "
            f"single precision, got {rows.y.max()}."
        )
    if "position" in data.training and settings.built_in is not None:
        raise ValueError(
            "position must be None with a booster's own objective, got objective="
            f"{ranker.objective!r}: use one of gbrank, such as 'lambdarank'."
        )
    given = data.validation.values()
    if "init_score" in data.training and any("init_score" not in part for part in given):
        raise ValueError(
            "eval_init_score must be given where init_score is: validation documents would be "
            "judged by the trees alone."
        )


def _checkpoint(
    ranker: BoostedRanker, options: FitOptions, schema: Schema, rows: Rows, valid: list[Rows]
) -> Checkpoint | None:
    """Return the checkpoint to write, if there is to be one, which must be of the same fit."""
    if options.checkpoint is None:
        return None
    if not isinstance(ranker.random_state, int):
        raise ValueError(
            "random_state must be an integer with a checkpoint, so that the same fit can be "
            f"called again, got {ranker.random_state!r}."
        )
    saved = Checkpoint(options.checkpoint, options.checkpoint_rounds)
    saved.expect(fit_hashes(ranker.get_params(deep=False), schema, rows, valid))
    return saved


def _set_aside(
    ranker: BoostedRanker, data: FitData, seed: int, rows: Rows, valid: list[Rows]
) -> tuple[Rows, list[Rows], list[Table]]:
    """Return rows to train on and to validate on, with their tables."""
    tables = [part["X"] for part in data.sets.values()]
    if ranker.validation_fraction is not None and not valid:
        split = split_rows(rows, ranker.validation_fraction, seed)
        rows, *valid = [part for part, _ in split]
        tables = [take_rows(data.training["X"], chosen) for _, chosen in split]
    if ranker.early_stopping_rounds is not None and not valid:
        raise ValueError(
            "early_stopping_rounds needs validation data: pass eval_set=, or set "
            "validation_fraction."
        )
    return rows, valid, tables


def _derivatives(
    ranker: BoostedRanker, rows: Rows, settings: TreeSettings, start: Any
) -> tuple[InRound, GradientHook | None]:
    """Return the function from a round to its derivatives, and the hook that computes them."""
    if settings.built_in is not None:
        return (lambda round: None), None
    hook = GradientHook(
        ranker.objective,
        ranker.sigma,
        start=ranker.init is None and rows.init_score is None,
        rounds=ranker.n_estimators,
        curvature=ranker.curvature,
        n_jobs=ranker.n_jobs,
        before=start._fitted.progress if isinstance(start, BoostedRanker) else None,
    )
    bound = hook.bind(rows.y, rows.queries, rows.sample_weight, rows.query_weight, rows.labels)
    left_out = _sampling(ranker, rows, settings.seed)

    def in_round(round: int) -> Derivatives:
        return partial(hook.derivatives, bound, round=round, left_out=left_out(round))

    return in_round, hook


def _sampling(ranker: BoostedRanker, rows: Rows, seed: int) -> Callable[[int], Mask | None]:
    """Return the function from a round to the mask of the documents that it leaves out."""
    share, queries = ranker.subsample, rows.queries
    if share == 1:
        return lambda round: None
    if ranker.subsample_by == "document":
        documents = document_keys(queries)
        return lambda round: ~sampled(documents, share, seed, round)
    keys = query_keys(queries.ids)
    return lambda round: ~sampled(keys, share, seed, round)[queries.index]
