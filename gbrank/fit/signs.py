"""Which features only raise the score, or only lower it, as few training queries teach it."""

import math
from contextlib import closing, suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Mask, Matrix, Vector
from gbrank.common.words import WORDS
from gbrank.data.batches import each_batch
from gbrank.data.checking import select_queries
from gbrank.data.sampling import row_keys
from gbrank.fit.best_feature import JUDGE, best_feature
from gbrank.fit.boosted_ranker import BoostedRanker, is_start_name
from gbrank.fit.loop import as_part
from gbrank.fit.plan import BoostingPlan
from gbrank.fit.rank_correlations import WIDE, dense, rank_correlations
from gbrank.measures.measure import bind_to_rows
from gbrank.objectives.objective_registry import get_objective
from gbrank.parallel.collective import n_workers

# Chosen on validation queries: docs/defaults.md.
FEW = range(10, 101)  # training queries from which signs are learned
FOLDS, ROUNDS = 3, 30
TOLERANCE = 0.5  # standard errors by which trees with signs may be behind
# Options of boosters with which signs are not learned, under all of their names.
OBSTACLES = {
    name
    for main in ("monotone_constraints", "linear_tree")
    for name in (main, *WORDS["lightgbm"]["aliases"][main])
}


def with_signs(plan: BoostingPlan) -> tuple[BoostingPlan, Matrix | None]:
    """Return a plan whose trees keep the signs that its queries teach, unless these do harm.

    And what such trees, and the best feature alone, are worth on queries that did not teach them,
    if that was found: a row for each, a column for each query.
    """
    if not _is_open(plan):
        return plan, None
    held_out = None
    if isinstance(plan.start, BoostedRanker):  # which has learned them from the same rows
        signs = plan.start._fitted.signs
    else:
        correlations, telling = rank_correlations(plan.rows)
        signs = clear_signs(correlations)
        if any(signs):
            signed, free, alone = _held_out(plan, correlations, telling)
            harmful = _do_harm(signed - free)
            signs = [] if harmful else signs
            held_out = np.array([free if harmful else signed, alone])
    settings = replace(plan.settings, signs=signs if any(signs) else [])
    return replace(plan, settings=settings), held_out


def _is_open(plan: BoostingPlan) -> bool:
    """Say whether a few queries alone teach y, and nobody has said what the signs are."""
    ranker, rows = plan.ranker, plan.rows
    return (
        ranker.monotone == "auto"
        and rows.queries.n_queries in FEW
        and rows.X.shape[1] < WIDE
        and not plan.schema.categorical
        and n_workers() == 1
        and plan.settings.built_in is None
        and get_objective(ranker.objective).facts.shift_invariant
        and is_start_name(ranker.init)
        and not rows.columns.keys() & {"position", "labels"}
        and (plan.start is not None or rows.init_score is None)
        and not plan.settings.params.keys() & OBSTACLES
    )


def _held_out(plan: BoostingPlan, correlations: Matrix, telling: NDArray[np.int64]) -> Matrix:
    """Return NDCG@10 of trees with signs, of others, and of a feature alone on held-out queries.

    Folds follow from the correlations in queries, and where these are equal from their documents,
    not from ids or the order of rows. A query that does not tell is in none, and has NaN.
    """
    keys, queries = row_keys(np.column_stack([dense(plan.rows), plan.rows.y])), plan.rows.queries
    content = [keys[queries.rows(query)].sum() for query in telling]
    fold = np.full(queries.n_queries, -1)
    fold[telling[np.lexsort((content, *correlations.T))]] = np.arange(len(telling)) % FOLDS
    values = np.full((3, queries.n_queries), np.nan)
    for number in range(min(FOLDS, len(telling))):
        taught = correlations[fold[telling] != number]
        with suppress(ValueError):  # the others alone may have nothing to learn
            values[:, fold == number] = _judged(plan, fold != number, taught)
    return values


def _do_harm(gains: Vector) -> bool:
    """Say whether signs cost more than chance explains; also if too few queries say."""
    known = gains[~np.isnan(gains)]
    if len(known) < 2:
        return True
    mean = math.fsum(known) / len(known)
    error = math.sqrt(math.fsum((known - mean) ** 2) / (len(known) - 1) / len(known))
    return mean < -TOLERANCE * error


def _judged(plan: BoostingPlan, trained: Mask, correlations: Matrix) -> Matrix:
    """Return the same on each of the queries that are not trained on."""
    (rows, _), (others, _) = (select_queries(plan.rows, keep) for keep in (trained, ~trained))
    judge = bind_to_rows(JUDGE, others)
    rounds = min(ROUNDS, plan.ranker.n_estimators)
    part = replace(
        plan, rows=rows, valid=[], on_train=None, on_valid=[], checkpoint=None, callbacks=(),
        shown=False,
    ).changed(n_estimators=rounds, learning_rate=None)  # fmt: skip

    def values(signs: list[int]) -> Vector:
        probe = replace(part, settings=replace(part.settings, signs=signs))
        with closing(probe.trainer()) as trainer:
            model = trainer.finish(probe.loop(trainer).run().best_round)
        threads = plan.settings.n_jobs
        return judge.per_query(
            each_batch(lambda X: model.predict(X, plan.wide_schema, threads), others.X)
        )

    best = best_feature(plan.schema, correlations, rows, JUDGE)
    alone = np.zeros(len(others.y)) if best is None else best.scores(others.X)
    trees = as_part(lambda: [values(clear_signs(correlations)), values([])])
    return np.array([*trees, judge.per_query(alone)])


def clear_signs(correlations: Matrix) -> list[int]:
    """Return the sign of each feature whose correlation with y is clear, 0 of the others.

    It is clear where the mean of Spearman's rank correlations in queries is more than a standard
    error from 0.
    """
    n = max(2, len(correlations))
    sums = np.array([math.fsum(column) for column in correlations.T])  # in no order of queries
    squares = np.array([math.fsum(column) for column in (correlations - sums / n).T ** 2])
    clear = sums**2 / n > squares / (n - 1)
    return np.where(clear, np.sign(sums), 0).astype(int).tolist()
