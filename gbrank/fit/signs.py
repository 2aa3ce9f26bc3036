"""Which features only raise the score, or only lower it, as few training queries teach it."""

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gbrank.common.arrays import Mask, Matrix, Vector
from gbrank.common.words import lightgbm_names
from gbrank.data.checking import select_queries
from gbrank.data.sampling import row_keys
from gbrank.data.schema import as_dense
from gbrank.fit.best_feature import best_feature
from gbrank.fit.boosted_ranker import BoostedRanker, is_start_name
from gbrank.fit.held_out import held_out_values, judge_of, mean_and_error, probe
from gbrank.fit.plan import BoostingPlan
from gbrank.fit.rank_correlations import WIDE, rank_correlations
from gbrank.measures.measure import bind_to_rows
from gbrank.objectives.objective_registry import get_objective
from gbrank.parallel.collective import n_workers

# Chosen on validation queries: docs/defaults.md.
FEW = range(10, 101)  # training queries from which signs are learned
FOLDS, ROUNDS = 3, 30
TOLERANCE = 0.5  # standard errors by which trees with signs may be behind
# Options of boosters with which signs are not learned, under all of their names.
OBSTACLES = lightgbm_names("monotone_constraints", "linear_tree")


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
    keys = row_keys(np.column_stack([as_dense(plan.rows.X), plan.rows.y]))
    queries = plan.rows.queries
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
    mean, error = mean_and_error(gains)
    return not mean >= -TOLERANCE * error


def _judged(plan: BoostingPlan, trained: Mask, correlations: Matrix) -> Matrix:
    """Return the same on each of the queries that are not trained on."""
    (rows, _), (others, _) = (select_queries(plan.rows, keep) for keep in (trained, ~trained))
    judge = judge_of(plan.rows)
    rounds = min(ROUNDS, plan.ranker.n_estimators)
    part = probe(plan, rows, n_estimators=rounds, learning_rate=None)

    def of_trees(signs: list[int]) -> Vector:
        (worth,) = held_out_values(
            replace(part, settings=replace(part.settings, signs=signs)), judge, others, None
        )
        return worth

    best = best_feature(plan.schema, correlations, rows, judge)
    alone = np.zeros(len(others.y)) if best is None else best.scores(others.X)
    trees = [of_trees(clear_signs(correlations)), of_trees([])]
    return np.array([*trees, bind_to_rows(judge, others).per_query(alone)])


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
