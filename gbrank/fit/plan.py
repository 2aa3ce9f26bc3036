"""The plan of a fit: what is to be trained, on what, from where; all of it checked."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gbrank.boosters import TRAINERS, Trainer, TreeSettings
from gbrank.clicks import PositionReport
from gbrank.common.argument_error import ArgumentError
from gbrank.common.collective import all_gather, all_sum, n_workers
from gbrank.common.threads import usable_threads
from gbrank.data.checking import split_rows
from gbrank.data.rows import Rows, take_rows
from gbrank.data.schema import Schema, column_places
from gbrank.fit.arguments import FitData, FitOptions, TableLike
from gbrank.fit.boosted_ranker import BoostedRanker, tree_settings
from gbrank.fit.checkpoints import Checkpoint, fit_hashes, hash_of
from gbrank.fit.defaults import chosen_trees
from gbrank.fit.gradients import Gradients
from gbrank.fit.loop import Evaluation, History, Loop, evaluations
from gbrank.fit.multiplier import own_multipliers
from gbrank.fit.position_bias import DebiasedTrainer, report_of_positions
from gbrank.fit.rounds import Callback, check_callbacks, stopping_of
from gbrank.fit.start import fit_start, from_start
from gbrank.objectives.objective_registry import get_objective


@dataclass(eq=False)
class BoostingPlan:
    """What a fit of a GBRanker does: `trainer`, then `loop`, then what it makes."""

    ranker: BoostedRanker  # with the objective and the rounds that are trained
    settings: TreeSettings
    schema: Schema  # of the columns of X
    rows: Rows
    valid: list[Rows]
    start: Any
    checkpoint: Checkpoint | None
    callbacks: Sequence[Callback]
    gradients: Gradients
    on_train: Evaluation | None
    on_valid: list[Evaluation]
    positions: PositionReport | None  # of clicks
    baseline: int | None  # the column that trees are to be ahead of

    @property
    def sigmas(self) -> dict[int, float]:
        """The sigma of each round that has one."""
        return self.gradients.hook.sigmas

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
        trainer = make(self.rows, self.valid, self.schema, self.settings, state)
        if self.rows.position is None or self.positions is None:
            return trainer
        free, told = self.ranker.position_model == "free", np.array(self.positions.told)
        told = np.ones_like(told) if free else told
        return DebiasedTrainer(
            trainer, self.rows.position, told, self.settings.learning_rate, state
        )

    def loop(self, trainer: Trainer) -> Loop:
        """Return the rounds to boost, or those that a checkpoint has left."""
        ranker, rate = self.ranker, self.settings.learning_rate
        history, keep, saved = History(), None, self.checkpoint
        if saved is not None:
            self.sigmas.update(saved.sigmas)
            history, keep = saved.history, partial(saved.keep, trainer, self.sigmas)
        return Loop(
            trainer,
            lambda round: trainer.step(self.gradients(round)),
            ranker.n_estimators,
            on_train=self.on_train,
            on_valid=self.on_valid,
            stopping=stopping_of(ranker.early_stopping_rounds, ranker.n_estimators, rate),
            sigmas=self.sigmas,
            hook=self.gradients.hook,
            callbacks=self.callbacks,
            history=history,
            keep=keep,
            progress=ranker._shows,
        )


def plan_boosting(ranker: BoostedRanker, data: FitData, options: FitOptions) -> BoostingPlan:
    """Return the plan of a fit, all of whose arguments are checked."""
    checked = tree_settings(ranker, resumable=options.checkpoint is not None)
    callbacks = check_callbacks(options.callbacks)
    measures = ranker._measures()
    schema = Schema.union(all_gather(Schema.learn(data.training["X"], data.categorical_feature)))
    given = data.checked(schema)
    _refuse_together(data)
    baseline = _baseline(ranker, schema)
    saved, hashes = None, dict[str, str]()
    if options.checkpoint is not None:
        saved = Checkpoint(options.checkpoint, options.checkpoint_rounds)
        hashes = fit_hashes(ranker, schema, *given)
    parts, tables = _set_aside(ranker, data, checked.seed, *given)
    trained = copy(ranker)  # with the objective that is trained
    trained.objective, multipliers = own_multipliers(get_objective(ranker.objective))
    gradients = Gradients(trained, parts[0], checked.seed)  # before a start is fitted: may refuse
    TRAINERS[ranker.booster].check(checked, schema)
    training = parts[0].as_given(tables[0])
    training["categorical_feature"] = data.categorical_feature
    start = fit_start(ranker, parts, training)
    gradients.go_on_from(start)
    rows, *valid = from_start(start, schema, tables, parts)
    n_jobs = usable_threads(ranker.n_jobs, float(np.prod(rows.X.shape)))
    settings = replace(checked, n_jobs=n_jobs, **chosen_trees(ranker, rows.queries, start))
    records = ranker._shows
    if saved is not None:
        scores = [part.init_score for part in (rows, *valid)] if start is not None else None
        saved.expect(hashes | {"init": hash_of(scores)})
        if saved.history.done:
            records = "train" in saved.history.results
    on_train, on_valid = evaluations(measures, rows, valid, schema, ranker.n_jobs, training=records)
    return BoostingPlan(
        ranker=trained,
        settings=settings,
        schema=schema,
        rows=rows,
        valid=valid,
        start=start,
        checkpoint=saved,
        callbacks=[*multipliers, *callbacks],
        gradients=gradients,
        on_train=on_train,
        on_valid=on_valid,
        positions=report_of_positions(rows, ranker.position_model == "free"),
        baseline=baseline,
    )


def _refuse_together(data: FitData) -> None:
    """Refuse arguments that are right by themselves, and not together."""
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


def _baseline(ranker: BoostedRanker, schema: Schema) -> int | None:
    """Return the column that the ranker is to be ahead of, if one is named."""
    if ranker.baseline is None:
        return None
    (column,) = column_places([ranker.baseline], "baseline", schema.names, schema.n_features)
    if column in schema.categorical:
        raise ArgumentError("baseline", "must be a column of numbers", repr(ranker.baseline))
    if n_workers() > 1:
        raise ArgumentError("baseline", "must be None on several workers")
    return column
