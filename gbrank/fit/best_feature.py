"""Whether trees are ahead of the best single feature, on validation queries."""

from collections.abc import Iterator

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.common.warnings import warn_user
from gbrank.data.batches import FeatureBatches
from gbrank.data.checking import select_queries
from gbrank.data.sampling import query_keys, sampled
from gbrank.data.schema import as_dense
from gbrank.fit.context import column_names_of
from gbrank.fit.loop import is_part
from gbrank.fit.plan import BoostingPlan
from gbrank.fit.signs import WIDE, rank_correlations
from gbrank.measures.measure import bind_to_rows
from gbrank.parallel.collective import n_workers

QUERIES, FEATURES = 100, 5  # training queries that choose the features to try
WIDTH = 1.96  # standard errors on each side of a 95% interval


def warn_if_behind(plan: BoostingPlan, scores: Vector) -> None:
    """Warn where a feature alone ranks the first validation queries no worse than the scores."""
    X = plan.rows.X
    if not plan.valid or is_part() or n_workers() > 1:
        return
    if isinstance(X, FeatureBatches) or X.shape[1] > WIDE:
        return
    judged, names = plan.valid[0], column_names_of(plan.schema)
    measure = plan.ranker._measures()[0].with_positions(plan.schema)
    judge = bind_to_rows(measure, judged, plan.settings.n_jobs)
    own, gains = judge.per_query(scores), {}
    for column, sign in _candidates(plan):
        values = as_dense(judged.X[:, [column]])[:, 0] * float(sign)
        values[np.isnan(values)] = np.nanmin(values, initial=0.0) - 1  # what is missing is last
        gains[column, sign] = (own - judge.per_query(values))[~np.isnan(own)]
    (column, sign), gain = min(
        gains.items(), key=lambda item: item[1].mean(), default=((0, 0), np.zeros(0))
    )
    if len(gain) < 2 or gain.mean() > 0:
        return
    half = WIDTH * gain.std(ddof=1) / np.sqrt(len(gain))
    ends = (-gain.mean() + step for step in (0, -half, half))
    lead, low, high = (f"{round(end, 4) + 0.0:+.4f}" for end in ends)  # no −0
    warn_user(
        f"{names[column]!r} alone, {'largest' if sign > 0 else 'smallest'} first, ranks the "
        f"validation queries no worse than the ranker: its {measure} less the ranker's is {lead}, "
        f"with a 95% interval from {low} to {high}."
    )


def _candidates(plan: BoostingPlan) -> Iterator[tuple[int, int]]:
    """Yield the columns that agree with y best in some training queries, each with its sign."""
    ids = plan.rows.queries.ids
    chosen = sampled(query_keys(ids), min(1.0, QUERIES / len(ids)), 0, 0)
    found, _ = rank_correlations(select_queries(plan.rows, chosen)[0])
    means = found.sum(axis=0)[: plan.schema.n_features]
    means[plan.schema.categorical] = 0
    for column in np.argsort(-np.abs(means), kind="stable")[:FEATURES].tolist():
        if means[column] != 0:
            yield column, int(np.sign(means[column]))
