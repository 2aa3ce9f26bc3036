"""The single feature that ranks best, which trees should be ahead of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gbrank.common.arrays import Matrix, Vector
from gbrank.common.warnings import warn_user
from gbrank.data.checking import select_queries
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys, sampled
from gbrank.data.schema import Features, Schema, as_dense
from gbrank.fit.context import column_names_of
from gbrank.fit.held_out import judge_of
from gbrank.fit.loop import is_part
from gbrank.fit.plan import BoostingPlan
from gbrank.fit.rank_correlations import WIDE, rank_correlations
from gbrank.measures.measure import Measure, MeasureOnRows, bind_to_rows
from gbrank.parallel.collective import n_workers

QUERIES, FEATURES = 100, 5  # that choose the features to try, and how many are tried
WIDTH = 1.96  # standard errors on each side of a 95% interval


@dataclass(frozen=True)
class SingleFeature:
    """A column by which the largest (`sign` 1) or the smallest (-1) values rank first.

    `values` are what it is worth on each judged query.
    """

    name: str
    column: int
    sign: int
    values: Vector

    def scores(self, X: Features) -> Vector:
        """Return the column as scores."""
        return _scores(X, self.column, self.sign)


def best_feature(
    schema: Schema, correlations: Matrix, judged: Rows, measure: Measure
) -> SingleFeature | None:
    """Return which of the columns that agree with the labels best ranks queries best alone.

    `correlations` has a row for each query that says how the columns agree.
    """
    means = correlations.sum(axis=0)[: schema.n_features]  # what follows is context
    means[schema.categorical] = 0
    judge = bind_to_rows(measure, judged)
    found = [
        _alone(schema, column, int(np.sign(means[column])), judged.X, judge)
        for column in np.argsort(-np.abs(means), kind="stable")[:FEATURES].tolist()
        if means[column] != 0
    ]
    return max(found, key=lambda each: np.nansum(each.values), default=None)


def some_correlations(rows: Rows) -> Matrix:
    """Return how the columns agree with y in some queries; in none of data that are too wide."""
    if rows.X.shape[1] >= WIDE:
        return np.zeros((0, rows.X.shape[1]))
    ids = rows.queries.ids
    chosen = sampled(query_keys(ids), min(1.0, QUERIES / len(ids)), 0, 0)
    return rank_correlations(select_queries(rows, chosen)[0])[0]


def _alone(
    schema: Schema, column: int, sign: int, X: Features, judge: MeasureOnRows
) -> SingleFeature:
    """Return a column with what it is worth alone."""
    values = judge.per_query(_scores(X, column, sign))
    return SingleFeature(column_names_of(schema)[column], column, sign, values)


def _scores(X: Features, column: int, sign: int) -> Vector:
    """Return a column as scores, in which what is missing ranks last."""
    values = as_dense(X[:, [column]])[:, 0] * float(sign)
    values[np.isnan(values)] = np.nextafter(np.nanmin(values, initial=0.0), -np.inf)
    return values


def lead(
    first: Vector, second: Vector, weights: Vector | None = None
) -> tuple[float, float, float]:
    """Return how far the first is ahead on the mean query, and the ends of its 95% interval."""
    weights = np.ones(len(first)) if weights is None else weights
    known = ~np.isnan(first - second) & (weights > 0)
    if known.sum() < 2:
        return np.nan, np.nan, np.nan
    gains, share = (first - second)[known], weights[known] / weights[known].sum()
    mean = share @ gains
    variance = ((share * (gains - mean)) ** 2).sum() * len(gains) / (len(gains) - 1)
    return mean, mean - WIDTH * np.sqrt(variance), mean + WIDTH * np.sqrt(variance)


def warn_if_behind(plan: BoostingPlan, scores: Vector, held_out: Matrix | None) -> None:
    """Warn where the best feature, or the baseline, ranks validation queries no worse than scores.

    Without validation queries, where a feature that was chosen on some training queries ranks the
    others no worse than trees of these do: `held_out` has what trees and such a feature are worth.
    """
    if is_part() or n_workers() > 1:
        return
    if plan.valid:
        measure, judged = plan.ranker._measures()[0].with_positions(plan.schema), plan.valid[0]
        judge = bind_to_rows(measure, judged, plan.settings.n_jobs)
        own = judge.per_query(scores)
        best = best_feature(plan.schema, some_correlations(plan.rows), judged, measure)
        found = {} if best is None else {(best.column, best.sign): best}
        if plan.baseline is not None:
            found[plan.baseline, 1] = _alone(plan.schema, plan.baseline, 1, judged.X, judge)
        for each in found.values():
            rival = "validation queries no worse than the ranker", "the ranker's"
            sides = each.values[judge.queries], own[judge.queries]
            _warn_if_ahead(each, measure, lead(*sides, judge.weights), *rival)
    elif held_out is not None:
        trees, alone = held_out
        measure = judge_of(plan.rows)
        best = best_feature(plan.schema, some_correlations(plan.rows), plan.rows, measure)
        if best is not None:
            rival = "training queries no worse than trees taught by others", "theirs"
            _warn_if_ahead(best, measure, lead(alone, trees), *rival)


def _warn_if_ahead(
    feature: SingleFeature,
    measure: Measure,
    gap: tuple[float, float, float],
    which: str,
    whose: str,
) -> None:
    """Warn where a feature's lead is not below 0."""
    mean, low, high = (round(end, 4) + 0.0 for end in gap)  # no −0
    if mean >= 0:
        end = "largest" if feature.sign > 0 else "smallest"
        warn_user(
            f"{feature.name!r} alone, {end} first, ranks the {which}: its {measure} less {whose} "
            f"is {mean:+.4f}, with a 95% interval from {low:+.4f} to {high:+.4f}."
        )
