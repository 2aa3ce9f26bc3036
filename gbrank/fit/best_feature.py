"""The single feature that ranks best, which trees should be ahead of."""

from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from gbrank.common.checks import ArgumentError, Vector, unknown_name, warn_user
from gbrank.common.collective import n_workers
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features, as_dense, dense_column
from gbrank.data.sampling import sampled
from gbrank.data.schema import Schema, find_columns
from gbrank.measures.measure import BoundMeasure, Measure, bind_to_rows

from .boosted_ranker import BoostedRanker
from .interrupted import is_part

QUERIES = 100  # that choose the features to try
FEATURES = 5  # that are tried
WIDE = 10_000  # features from which none is tried
WIDTH = 1.96  # standard errors on each side of a 95% interval


class SingleFeature(NamedTuple):
    """A column by which the largest (`sign` 1) or the smallest (-1) values rank first.

    `values` are what it is worth on each judged query.
    """

    name: str
    sign: int
    values: Vector


def best_feature(
    schema: Schema, rows: Documents, judged: Documents, measure: Measure
) -> SingleFeature | None:
    """Return the column that ranks the judged queries best alone, of those that agree with y."""
    agreement = _agreement(rows)
    agreement[schema.categorical] = 0
    judge = bind_to_rows(measure, judged)
    features = [
        _single_feature(schema, column, int(np.sign(agreement[column])), judged.X, judge)
        for column in np.argsort(-np.abs(agreement), kind="stable")[:FEATURES].tolist()
        if agreement[column] != 0
    ]
    return max(features, key=lambda feature: np.nansum(feature.values), default=None)


def _agreement(rows: Documents) -> Vector:
    """Return the sum of each column's rank correlations (Spearman) with y in some queries."""
    total = np.zeros(rows.X.shape[1])
    if len(total) >= WIDE:
        return total
    keys = rows.queries.id_keys
    chosen = sampled(keys, min(1.0, QUERIES / len(keys)), 0)
    for query in rows.take_queries(chosen).each_query():
        values = np.column_stack([query.y, as_dense(query.X)])
        ranks = rankdata(values, axis=0, nan_policy="omit")
        centred = np.nan_to_num(ranks - (1 + (~np.isnan(ranks)).sum(axis=0)) / 2)
        length = np.linalg.norm(centred, axis=0)
        unit = centred / np.where(length > 0, length, 1)
        total += unit[:, 0] @ unit[:, 1:]
    return total


def _single_feature(
    schema: Schema, column: int, sign: int, X: Features, judge: BoundMeasure
) -> SingleFeature:
    """Return a column with its values on the judged queries, where what is missing ranks last."""
    scores = dense_column(X, column) * float(sign)
    scores[np.isnan(scores)] = np.nextafter(np.nanmin(scores, initial=0.0), -np.inf)
    return SingleFeature(schema.feature_names[column], sign, judge.per_query(scores))


def difference_of(
    first: Vector, second: Vector, weights: Vector | None = None
) -> tuple[float, float, float]:
    """Return the mean difference of values by query, and the ends of its 95% interval."""
    weights = np.ones(len(first)) if weights is None else weights
    known = ~np.isnan(first - second) & (weights > 0)
    if known.sum() < 2:
        return np.nan, np.nan, np.nan
    gains = (first - second)[known]
    shares = weights[known] / weights[known].sum()
    mean = shares @ gains
    variance = ((shares * (gains - mean)) ** 2).sum() * len(gains) / (len(gains) - 1)
    return mean, mean - WIDTH * np.sqrt(variance), mean + WIDTH * np.sqrt(variance)


def baseline_column(ranker: BoostedRanker, schema: Schema) -> int | None:
    """Return the column that a ranker is to be ahead of, if one is named."""
    if ranker.baseline is None:
        return None
    names = schema.feature_names
    if schema.names is None and ranker.baseline == f"f{schema.counted_from + len(names)}":
        meant = f"{names[-1]!r}, as the first column is {names[0]!r}"
        raise unknown_name("name in baseline", ranker.baseline, names, meant)
    (column,) = find_columns([ranker.baseline], "baseline", names, schema.n_features)
    if column in schema.categorical:
        raise ArgumentError("baseline", "must be a column of numbers", repr(ranker.baseline))
    if n_workers() > 1:
        raise ArgumentError("baseline", "must be None on several workers")
    return column


def warn_if_behind(
    ranker: BoostedRanker, schema: Schema, rows: Documents, judged: Documents, scores: Vector
) -> None:
    """Warn where a feature, or the baseline, ranks judged queries no worse than scores do.

    Of the training queries themselves, by scores in folds, the baseline only.
    """
    if is_part() or n_workers() > 1:
        return
    measure = ranker._measures()[0].with_positions(schema)
    judge = bind_to_rows(measure, judged, ranker.n_jobs)
    values = judge.per_query(scores)[judge.queries]
    several_goals = bool(rows.labels)  # the ranker may give up some of this measure for another
    features = {}
    if judged is not rows and not several_goals:
        best = best_feature(schema, rows, judged, measure)
        features = {} if best is None else {(best.name, best.sign): best}
    if (baseline := baseline_column(ranker, schema)) is not None:
        named = _single_feature(schema, baseline, 1, judged.X, judge)
        features[named.name, 1] = named
    for feature in features.values():
        ends = difference_of(feature.values[judge.queries], values, judge.weights)
        mean, low, high = (round(end, 4) + 0.0 for end in ends)  # no −0
        if mean >= 0:
            end = "largest" if feature.sign > 0 else "smallest"
            where = "training queries, in folds," if judged is rows else "validation queries"
            warn_user(
                f"{feature.name!r} alone, {end} first, ranks the {where} no worse than the "
                f"ranker: its {measure} minus the ranker's is {mean:+.4f}, with a 95% interval "
                f"from {low:+.4f} to {high:+.4f}. Rank by this column until more labels or other "
                "features make the ranker better."
            )
