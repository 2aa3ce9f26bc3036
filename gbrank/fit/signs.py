"""Which features only raise the score, or only lower it, as few training queries teach it."""

import math
from contextlib import closing
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from gbrank.common.arrays import Mask, Matrix, Vector
from gbrank.common.words import WORDS
from gbrank.data.batches import FeatureBatches, each_batch
from gbrank.data.checking import select_queries
from gbrank.data.rows import Rows
from gbrank.data.sampling import row_keys
from gbrank.data.schema import as_dense
from gbrank.fit.boosted_ranker import BoostedRanker, is_start_name
from gbrank.fit.defaults import learning_rate_of
from gbrank.fit.gradients import Gradients
from gbrank.fit.loop import as_part
from gbrank.fit.plan import BoostingPlan
from gbrank.measures.discounted import NDCG
from gbrank.measures.measure import bind_to_rows
from gbrank.objectives.objective_registry import get_objective
from gbrank.parallel.collective import n_workers

# Chosen on validation queries: docs/defaults.md.
FEW = range(10, 101)  # training queries from which signs are learned
WIDE = 10_000  # features from which they are not
FOLDS, ROUNDS = 3, 30
TOLERANCE = 0.5  # standard errors by which trees with signs may be behind
JUDGE = NDCG(k=10)  # whatever the fit is measured by, which changes no model
# Options of boosters with which signs are not learned, under all of their names.
OBSTACLES = {
    name
    for main in ("monotone_constraints", "linear_tree")
    for name in (main, *WORDS["lightgbm"]["aliases"][main])
}


def with_signs(plan: BoostingPlan) -> BoostingPlan:
    """Return a plan whose trees keep the signs that its queries teach, unless these do harm."""
    if not _is_open(plan):
        return plan
    if isinstance(plan.start, BoostedRanker):  # which has learned them from the same rows
        signs = plan.start._fitted.signs
    else:
        signs = learned_signs(plan.rows)
        if any(signs) and _do_harm(plan):
            return plan
    return replace(plan, settings=replace(plan.settings, signs=signs if any(signs) else []))


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


def _do_harm(plan: BoostingPlan) -> bool:
    """Say whether trees with signs are behind on queries that they were not trained on.

    Folds follow from the correlations in queries, and where these are equal from their documents,
    not from ids or the order of rows.
    """
    found, telling = rank_correlations(plan.rows)
    keys, queries = row_keys(np.column_stack([_dense(plan.rows), plan.rows.y])), plan.rows.queries
    content = [keys[queries.rows(query)].sum() for query in telling]
    held = np.full(queries.n_queries, -1)
    held[telling[np.lexsort((content, *found.T))]] = np.arange(len(found)) % FOLDS
    gains = [_gains(plan, held != number) for number in range(min(FOLDS, len(found)))]
    known = np.concatenate([values[~np.isnan(values)] for values in gains])
    if len(known) < 2:
        return True
    mean = math.fsum(known) / len(known)
    error = math.sqrt(math.fsum((known - mean) ** 2) / (len(known) - 1) / len(known))
    return mean < -TOLERANCE * error


def _gains(plan: BoostingPlan, trained: Mask) -> Vector:
    """Return what signs bring on each of the other queries, by NDCG@10."""
    (rows, _), (others, _) = (select_queries(plan.rows, keep) for keep in (trained, ~trained))
    signs = learned_signs(rows)
    ranker = replace(plan.ranker, n_estimators=ROUNDS, learning_rate=None)
    settings = replace(plan.settings, learning_rate=learning_rate_of(ranker, rows.queries))
    judge = bind_to_rows(JUDGE, others)

    def values(signs: list[int]) -> Vector:
        probe = replace(
            plan,
            ranker=ranker,
            settings=replace(settings, signs=signs),
            rows=rows,
            valid=[],
            checkpoint=None,
            callbacks=(),
            gradients=Gradients(ranker, rows, settings.seed),
            shown=False,
            on_train=None,
            on_valid=[],
            multipliers=None,
        )
        with closing(probe.trainer()) as trainer:
            model = trainer.finish(probe.loop(trainer).run().best_round)
        scores = each_batch(lambda X: model.predict(X, plan.wide_schema, settings.n_jobs), others.X)
        return judge.per_query(scores)

    return as_part(lambda: values(signs) - values([]))


def learned_signs(rows: Rows) -> list[int]:
    """Return the sign of each feature whose correlation with y is clear, 0 of the others.

    It is clear where the mean of Spearman's rank correlations in queries is more than a standard
    error from 0.
    """
    found, _ = rank_correlations(rows)
    n = max(2, len(found))
    sums = np.array([math.fsum(column) for column in found.T])  # in no order of queries
    squares = np.array([math.fsum(column) for column in (found - sums / n).T ** 2])
    clear = sums**2 / n > squares / (n - 1)
    return np.where(clear, np.sign(sums), 0).astype(int).tolist()


def rank_correlations(rows: Rows) -> tuple[Matrix, NDArray[np.int64]]:
    """Return Spearman's correlations of features with y in queries that tell, and these queries.

    A query tells if its labels differ. A feature that is missing in it, or does not vary, has 0
    there. Documents of weight 0 do not count.
    """
    X = _dense(rows)
    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    found, telling = [np.zeros((0, X.shape[1]))], []
    for query in range(rows.queries.n_queries):
        chosen = rows.queries.rows(query)
        chosen = chosen[weights[chosen] > 0]
        labels, features = _centred_ranks(rows.y[chosen, None]), _centred_ranks(X[chosen])
        if labels.any():
            scale = np.sqrt((labels**2).sum() * (features**2).sum(axis=0))
            products = (labels * features).sum(axis=0)
            found.append(np.divide(products, scale, np.zeros_like(scale), where=scale > 0)[None])
            telling.append(query)
    return np.vstack(found), np.array(telling, np.int64)


def _dense(rows: Rows) -> Matrix:
    X = rows.X
    return np.vstack([*map(as_dense, X)]) if isinstance(X, FeatureBatches) else as_dense(X)


def _centred_ranks(values: Matrix) -> Matrix:
    """Return the ranks of each column's values, less their mean; 0 for those that are missing."""
    ranks = rankdata(values, axis=0, nan_policy="omit")
    n_known = (~np.isnan(ranks)).sum(axis=0)
    return np.nan_to_num(ranks - (n_known + 1) / 2)
