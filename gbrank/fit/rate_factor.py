"""How much larger the learning rate may be: as long as held-out queries gain by larger steps."""

from dataclasses import replace

from gbrank.common.words import WORDS
from gbrank.data.batches import FeatureBatches
from gbrank.data.checking import Part, select_queries
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys, sampled
from gbrank.fit.defaults import (
    HIGHEST_RATE,
    LARGE,
    counted_documents,
    learning_rate_of,
    sum_of_rates,
)
from gbrank.fit.held_out import held_out_values, judge_of, mean_and_error, probe
from gbrank.fit.plan import BoostingPlan
from gbrank.fit.signs import FEW
from gbrank.parallel.collective import n_workers

# Chosen on validation queries: docs/defaults.md.
LARGEST, ERRORS = 4, 3.0  # the largest factor; standard errors that tell a gain from chance
DOCUMENTS, HELD_OUT = 8_000, 0.25  # that are tried at most, and the share that judges
RATE = 0.2  # of what is tried
# Options of boosters with which the first trees of a fit are no smaller fit, under all names.
OBSTACLES = {"booster", "boosting", *WORDS["lightgbm"]["aliases"]["boosting"]}


def with_rate_factor(plan: BoostingPlan) -> BoostingPlan:
    """Return a plan whose learning rate is doubled, or doubled twice, if held-out queries gain."""
    if not _is_open(plan):
        return plan
    (train, _), (others, _) = _sides(plan.rows)
    factor = 1
    while factor < LARGEST and _gains(plan, train, others, factor):
        factor *= 2
    rate = learning_rate_of(plan.ranker, plan.rows.queries, rate_factor=factor)
    settings = replace(plan.settings, learning_rate=rate)
    return replace(plan, rate_factor=factor, settings=settings)


def _is_open(plan: BoostingPlan) -> bool:
    """Say whether queries alone teach y, data are neither few nor large, and the rate is open."""
    ranker, rows, gradients = plan.ranker, plan.rows, plan.gradients
    return (
        ranker.learning_rate is None
        and plan.settings.learning_rate < HIGHEST_RATE
        and rows.queries.n_queries >= FEW.stop
        and rows.queries.n_documents < LARGE
        and n_workers() == 1
        and gradients is not None
        and len(gradients.hook.stages) == 1  # no start from another objective
        and plan.start is None
        and plan.multipliers is None
        and not isinstance(rows.X, FeatureBatches)
        and not rows.columns.keys() & {"position", "labels", "init_score"}
        and not plan.settings.params.keys() & OBSTACLES
    )


def _sides(rows: Rows) -> tuple[Part, Part]:
    """Return some queries to train on and some to judge by, chosen by a hash of their ids."""
    keys = query_keys(rows.queries.ids)
    chosen = sampled(keys, min(1.0, DOCUMENTS / counted_documents(rows.queries)), 0, 0)
    held = sampled(keys, HELD_OUT, 0, 1)
    return select_queries(rows, chosen & ~held), select_queries(rows, chosen & held)


def _gains(plan: BoostingPlan, train: Rows, others: Rows, factor: int) -> bool:
    """Say whether steps of twice the factor beat those of half of it, beyond chance."""
    rounds = factor * sum_of_rates(train.queries) / RATE
    few, many = max(1, round(rounds / 2)), round(2 * rounds)
    short = probe(plan, train, n_estimators=many, learning_rate=RATE)
    try:
        before, after = held_out_values(short, judge_of(plan.rows), others, few, None)
    except ValueError:  # of queries on which nothing can be learned, as features do not vary there
        return False
    mean, error = mean_and_error(after - before)
    return mean > ERRORS * error
