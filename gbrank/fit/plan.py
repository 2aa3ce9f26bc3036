"""The plan of a fit: what is to be trained, on what, from where; all of it checked."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.boosters import TRAINERS, Model, Trainer, TreeSettings
from gbrank.boosters.gradient_hook import GradientHook
from gbrank.boosters.interface import Derivatives, State
from gbrank.boosters.stages import Progress
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_choice, check_jobs, check_number
from gbrank.common.threads import usable_threads
from gbrank.data.batches import each_batch, learn_schema
from gbrank.data.checking import check_training, check_valid, split_rows, take_rows
from gbrank.data.rows import Rows
from gbrank.data.sampling import document_keys, query_keys, sampled
from gbrank.data.schema import Schema
from gbrank.data.torn_queries import TrainedQueries, warn_of_torn_queries
from gbrank.fit.calibration import Calibration, fit_calibration
from gbrank.fit.callbacks import Callback, check_callbacks
from gbrank.fit.checkpoints import Checkpoint, argument_hash, fit_hashes
from gbrank.fit.estimator import check_seed
from gbrank.fit.loop import Evaluation, History, train
from gbrank.fit.position_bias import DebiasedTrainer
from gbrank.fit.start import fit_start, from_start
from gbrank.parallel.collective import all_any, all_gather, all_max, all_sum

Mask = NDArray[np.bool_]
LARGEST_LABEL = float(np.finfo(np.float32).max)
# Chosen on validation queries: docs/defaults.md.
SUM_OF_RATES, DOCUMENTS = 15.0, 70_000
LOWEST_RATE, HIGHEST_RATE = 0.01, 0.1
InRound: TypeAlias = Callable[[int], Derivatives | None]


def check_data(
    schema: Schema, X: Any, y: Any, *, qid: Any, group: Any, eval_set: Any, eval_qid: Any,
    eval_group: Any, eval_init_score: Any = None, **others: Any,
) -> tuple[Rows, list[Rows]]:  # fmt: skip
    """Check the data of a fit over all workers; return training rows and validation sets."""
    rows = check_training(schema, X, y, qid, group, **others)
    for name in ("sample_weight", "query_weight"):
        weights = getattr(rows, name)
        if weights is not None and not all_any(weights.any()):
            raise ValueError(f"{name} must have a positive entry, got only zeros.")
    valid = check_valid(schema, eval_set, eval_qid, eval_group, eval_init_score)
    if qid is not None and eval_qid is not None:
        trained = TrainedQueries.of(rows.queries)
        for i, part in enumerate(valid):
            warn_of_torn_queries(trained, part.queries, f"eval_qid[{i}]")
    return rows, valid


def evaluations(
    ranker: Any, rows: Rows, valid: Sequence[Rows], schema: Schema, n_jobs: int, *, training: bool
) -> tuple[Evaluation | None, list[Evaluation]]:
    """Bind a ranker's measures to the training rows, if asked to, and to each validation set."""
    measures = ranker._measures()
    on_train = Evaluation("train", rows, schema, measures, n_jobs) if training else None
    return on_train, [
        Evaluation(f"valid_{i}", part, schema, measures, n_jobs) for i, part in enumerate(valid)
    ]


@dataclass(eq=False)
class BoostingPlan:
    """What `GBRanker.fit` does: `trainer`, then `run`, then the results that it publishes."""

    ranker: Any
    settings: TreeSettings
    schema: Schema
    rows: Rows
    valid: list[Rows]
    start: Any
    checkpoint: Checkpoint | None
    callbacks: Sequence[Callback]
    in_round: InRound
    hook: GradientHook | None  # none with a booster's own objective
    on_train: Evaluation | None
    on_valid: list[Evaluation]

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
        return self._make(None) if self.checkpoint is None else self.checkpoint.restore(self._make)

    def _make(self, state: State | None) -> Trainer:
        make = TRAINERS[self.ranker.booster]
        trainer = make(self.rows, self.valid, self.schema, self.settings, state)
        if self.rows.positions is None:
            return trainer
        return DebiasedTrainer(trainer, self.rows.positions, self.settings.learning_rate, state)

    def run(self, trainer: Trainer) -> History:
        """Boost until the end."""
        history, keep = None, None
        if self.checkpoint is not None:
            history, keep = self.checkpoint.resume(trainer, self.sigmas)
        return train(
            trainer, self.in_round, self.ranker.n_estimators, on_train=self.on_train,
            on_valid=self.on_valid, patience=self.ranker.early_stopping_rounds,
            progress=bool(self.ranker.verbose), sigmas=self.sigmas, hook=self.hook,
            callbacks=self.callbacks, history=history, keep=keep,
        )  # fmt: skip

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
                lambda X: model.predict(X, self.schema, self.settings.n_jobs), rows.X
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
        top = all_max(max(float(part.labels.max()) for part in (self.rows, *self.valid)))
        return fit_calibration(scores, rows.labels, rows.weights, top)


def plan_boosting(
    ranker: Any, X: Any, y: Any, *, eval_set: Any, eval_init_score: Any, init_score: Any,
    position: Any, categorical_feature: Any, checkpoint: Any, checkpoint_rounds: int,
    callbacks: Any, **others: Any,
) -> BoostingPlan:  # fmt: skip
    """Return the plan of a fit of a GBRanker, for the arguments of `fit`."""
    settings = tree_settings(ranker, resumable=checkpoint is not None)
    checked_callbacks = check_callbacks(callbacks)
    ranker._measures()
    schema = Schema.union(all_gather(learn_schema(X, categorical_feature)))
    rows, valid = check_data(
        schema, X, y, eval_set=eval_set, eval_init_score=eval_init_score, init_score=init_score,
        position=position, **others,
    )  # fmt: skip
    if settings.built_in is not None and rows.labels.max() > LARGEST_LABEL:
        raise ValueError(
            f"y must be at most {LARGEST_LABEL} with a booster's own objective, which computes in "
            f"single precision, got {rows.labels.max()}."
        )
    if position is not None and settings.built_in is not None:
        raise ValueError(
            "position must be None with a booster's own objective, got objective="
            f"{ranker.objective!r}: use one of gbrank, such as 'lambdarank'."
        )
    if valid and init_score is not None and eval_init_score is None:
        raise ValueError(
            "eval_init_score must be given where init_score is: validation documents would be "
            "judged by the trees alone."
        )
    saved = None
    if checkpoint is not None:
        if not isinstance(ranker.random_state, int | np.integer):
            raise ValueError(
                "random_state must be an integer with a checkpoint, so that the same fit can be "
                f"called again, got {ranker.random_state!r}."
            )
        saved = Checkpoint(checkpoint, checkpoint_rounds)
        saved.expect(fit_hashes(ranker.get_params(deep=False), schema, rows, valid))
    tables = [X, *(table for table, _ in eval_set or [])]
    if ranker.validation_fraction is not None and not valid:
        split = split_rows(rows, ranker.validation_fraction, settings.seed)
        rows, *valid = [part for part, _ in split]
        tables = [take_rows(X, chosen) for _, chosen in split]
    if ranker.early_stopping_rounds is not None and not valid:
        raise ValueError(
            "early_stopping_rounds needs validation data: pass eval_set=, or set "
            "validation_fraction."
        )
    rate = learning_rate_of(ranker, all_sum(rows.queries.n_documents))
    settings = replace(settings, learning_rate=rate)
    start = fit_start(ranker, settings, tables, rows, valid)
    if start is not None:
        parts = zip(tables, [rows, *valid], strict=True)
        rows, *valid = [from_start(start, table, part) for table, part in parts]
    if saved is not None:
        scores = [part.init_score for part in (rows, *valid)]
        saved.expect({"init": argument_hash("init", scores)})
    return BoostingPlan(
        ranker, settings, schema, rows, valid, start, saved, checked_callbacks,
        *_derivatives(ranker, rows, settings, start),
        *evaluations(ranker, rows, valid, schema, settings.n_jobs, training=bool(ranker.verbose)),
    )  # fmt: skip


def tree_settings(ranker: Any, resumable: bool = False) -> TreeSettings:
    """Check the parameters of a GBRanker, and return those of its trees."""
    check_choice(ranker.booster, "booster", TRAINERS)
    check_choice(ranker.subsample_by, "subsample_by", ["document", "query"])
    check_number(ranker.n_estimators, "n_estimators", 1, integer=True)
    check_number(ranker.early_stopping_rounds, "early_stopping_rounds", 1, integer=True,
                 optional=True)  # fmt: skip
    subsample = check_number(ranker.subsample, "subsample", 0, 1, open_low=True)
    fraction = check_number(ranker.validation_fraction, "validation_fraction", 0, 1,
                            open_low=True, optional=True)  # fmt: skip
    if fraction == 1:
        raise ValueError("validation_fraction must be below 1, got 1.")
    check_choice(ranker.extra_trees, "extra_trees", [True, False, None])
    if ranker.extra_trees and ranker.booster != "lightgbm":
        raise ValueError(
            f"extra_trees must be False or None with booster={ranker.booster!r}, which has none."
        )
    params = ranker.booster_params
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"booster_params must be a dict, got {params!r}.")
    return TreeSettings(
        learning_rate=learning_rate_of(ranker, 0),  # replaced when the documents are counted
        num_leaves=check_number(ranker.num_leaves, "num_leaves", 2, integer=True),
        max_depth=check_number(ranker.max_depth, "max_depth", 1, integer=True, optional=True),
        min_child_samples=check_number(
            ranker.min_child_samples, "min_child_samples", 0, integer=True
        ),
        subsample=subsample if ranker.subsample_by == "document" else 1.0,
        colsample=check_number(ranker.colsample, "colsample", 0, 1, open_low=True),
        extra_trees=ranker.booster == "lightgbm" and ranker.extra_trees is not False,
        reg_lambda=check_number(ranker.reg_lambda, "reg_lambda", 0),
        seed=all_gather(check_seed(ranker.random_state))[0],
        n_jobs=usable_threads(check_jobs(ranker.n_jobs)),
        params=dict(params or {}),
        built_in=_built_in(ranker),
        early_stopping=ranker.early_stopping_rounds is not None,
        resumable=resumable,
    )


def learning_rate_of(ranker: Any, n_documents: float) -> float:
    """Return the given rate, else 15 √(N / 70,000) / n_estimators, from 0.01 to 0.1."""
    given = check_number(ranker.learning_rate, "learning_rate", 0, open_low=True, optional=True)
    if given is not None:
        return given
    rate = SUM_OF_RATES * math.sqrt(n_documents / DOCUMENTS) / ranker.n_estimators
    return min(max(rate, LOWEST_RATE), HIGHEST_RATE)


def _built_in(ranker: Any) -> str | None:
    """Return the booster's own objective that a ranker asks for, or None."""
    if not isinstance(ranker.objective, str):
        return None
    kind, colon, name = ranker.objective.partition(":")
    if kind not in TRAINERS or not colon:
        return None
    if kind != ranker.booster:
        raise ValueError(
            f"objective {ranker.objective!r} needs booster={kind!r}, got {ranker.booster!r}."
        )
    where = f"with the booster's own {ranker.objective!r}"
    if ranker.subsample_by == "query" and ranker.subsample < 1:
        raise ValueError(f"subsample_by must be 'document' {where}, got 'query'.")
    if ranker.curvature != "own":
        raise ValueError(f"curvature must be 'own' {where}, got {ranker.curvature!r}.")
    if ranker.sigma is not None:
        raise ValueError(f"sigma must be None {where}, which has none, got {ranker.sigma!r}.")
    return name


def _derivatives(
    ranker: Any, rows: Rows, settings: TreeSettings, start: Any
) -> tuple[InRound, GradientHook | None]:
    """Return the function from a round to its derivatives, and the hook that computes them."""
    if settings.built_in is not None:
        return (lambda round: None), None
    hook = GradientHook(
        ranker.objective, ranker.sigma, start=ranker.init is None and rows.init_score is None,
        rounds=ranker.n_estimators, curvature=ranker.curvature, n_jobs=settings.n_jobs,
        before=getattr(start, "_progress", None),
    )  # fmt: skip
    bound = hook.bind(rows.labels, rows.queries, rows.sample_weight, rows.query_weight)
    left_out = _sampling(ranker, rows, settings.seed)

    def in_round(round: int) -> Derivatives:
        return lambda scores: hook.derivatives(bound, scores, round, left_out(round))

    return in_round, hook


def _sampling(ranker: Any, rows: Rows, seed: int) -> Callable[[int], Mask | None]:
    """Return the function from a round to the mask of the documents that it leaves out."""
    share, queries = ranker.subsample, rows.queries
    if share == 1:
        return lambda round: None
    if ranker.subsample_by == "document":
        documents = document_keys(queries)
        return lambda round: ~sampled(documents, share, seed, round)
    keys = query_keys(queries.ids)
    return lambda round: ~sampled(keys, share, seed, round)[queries.index]
