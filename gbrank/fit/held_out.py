"""Short fits on some training queries, judged on others: what a fit learns for itself."""

import math
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from gbrank.boosters import Model
from gbrank.common.arrays import Vector
from gbrank.common.interrupts import interrupts_held
from gbrank.data.rows import Rows
from gbrank.fit.loop import as_part
from gbrank.fit.plan import BoostingPlan
from gbrank.measures.discounted import NDCG
from gbrank.measures.gains import LARGEST_EXPONENT
from gbrank.measures.measure import Measure, bind_to_rows


def judge_of(rows: Rows) -> Measure:
    """Return NDCG@10, with linear gains where labels are amounts, not grades."""
    return NDCG(k=10, gain="exp2" if rows.y.max() <= LARGEST_EXPONENT else "linear")


def probe(plan: BoostingPlan, rows: Rows, **params: Any) -> BoostingPlan:
    """Return the plan of a fit on these rows, with other parameters, that nobody watches."""
    return replace(
        plan, rows=rows, valid=[], on_train=None, on_valid=[], checkpoint=None, callbacks=(),
        shown=False,
    ).changed(early_stopping_rounds=None, **params)  # fmt: skip


def held_out_values(
    plan: BoostingPlan, judge: Measure, others: Rows, *n_trees: int | None
) -> list[Vector]:
    """Train, and return what the first trees, or all (None), are worth on each of other queries."""

    def train() -> Model:
        with closing(plan.trainer()) as trainer:
            return trainer.finish(plan.loop(trainer).run().best_round)

    model, bound, threads = as_part(train), bind_to_rows(judge, others), plan.settings.n_jobs

    def worth(n: int | None) -> Vector:
        with interrupts_held():
            scores = model.predict(others.X, plan.wide_schema, threads, n)
        return bound.per_query(scores)

    return [worth(n) for n in n_trees]


def mean_and_error(gains: Vector) -> tuple[float, float]:
    """Return the mean of what queries gain, and its standard error; NaN of fewer than two.

    The order of queries does not count.
    """
    known = gains[~np.isnan(gains)]
    if len(known) < 2:
        return math.nan, math.nan
    mean = math.fsum(known) / len(known)
    return mean, math.sqrt(math.fsum((known - mean) ** 2) / (len(known) - 1) / len(known))
