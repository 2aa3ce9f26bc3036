"""How much larger the learning rate may be: as long as held-out queries gain by larger steps."""

from dataclasses import replace

from gbrank.common.words import lightgbm_names
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
LARGEST, ERRORS = 8, 3.0  # of the usual sum of rates; standard errors that tell a gain
DOCUMENTS, HELD_OUT = 8_000, 0.25  # that are tried at most, and the share that judges
RATE = 0.2  # of what is tried
# Options of boosters with which the first trees of a fit are no smaller fit, under all names.
OBSTACLES = {"booster", *lightgbm_names("boosting")}


def with_rate_factor(plan: BoostingPlan) -> BoostingPlan:
    """Return a plan whose rates sum to more, as far as held-out queries gain by it."""
    if not _is_open(plan):
        return plan
    (train, _), (others, _) = _sides(plan.rows)
    multiple = 1
    while multiple < LARGEST and _gains(plan, train, others, multiple):
        multiple *= 2
    # What few documents show to be no too large sum of rates is none for more.
    shown = multiple * sum_of_rates(train.queries)
    factor = max(1.0, shown / sum_of_rates(plan.rows.queries))
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


def _gains(plan: BoostingPlan, train: Rows, others: Rows, multiple: int) -> bool:
    """Say whether twice the multiple of the usual sum of rates beats half of it, beyond chance.

    And whether it beats the multiple itself.
    """
    rounds = multiple * sum_of_rates(train.queries) / RATE
    few, some, many = (max(1, round(share * rounds)) for share in (0.5, 1, 2))
    short = probe(plan, train, n_estimators=many, learning_rate=RATE)
    try:
        half, same, twice = held_out_values(short, judge_of(plan.rows), others, few, some, None)
    except ValueError:  # of queries on which nothing can be learned, as features do not vary there
        return False
    mean, error = mean_and_error(twice - half)
    return mean > ERRORS * error and mean_and_error(twice - same)[0] > 0
