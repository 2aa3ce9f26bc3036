"""Parameters chosen from the size of the training data.

Chosen on validation queries: docs/defaults.md.
"""

import math
from typing import Any

import numpy as np

from gbrank.common.collective import all_sum
from gbrank.data.queries import Queries
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.start import rounds_of

SUM_OF_RATES, DOCUMENTS = 15.0, 70_000
LOWEST_RATE, HIGHEST_RATE = 0.01, 0.2
ALIKE = 70  # documents of one query are not independent: so many of them count
LARGE = 100_000  # documents from which trees see all features and thresholds


def chosen_trees(ranker: BoostedRanker, queries: Queries, start: object = None) -> dict[str, Any]:
    """Return the parameters that follow from the queries of all workers, unless they are given."""
    large = all_sum(queries.n_documents) >= LARGE
    colsample, extra_trees = ranker.colsample, ranker.extra_trees
    if extra_trees is None:
        extra_trees = ranker.booster == "lightgbm" and not large
    if colsample is None:
        colsample = 1.0 if large else 0.5
    rate = learning_rate_of(ranker, queries, start)
    return {"learning_rate": rate, "colsample": colsample, "extra_trees": extra_trees}


def learning_rate_of(ranker: BoostedRanker, queries: Queries, start: object = None) -> float:
    """Return the given rate, else 15 √(N / 70,000) / T, from 0.01 to 0.2.

    N counts at most 70 documents of a query; T counts the rounds of a ranker that `init` gave too.
    """
    if ranker.learning_rate is not None:
        return float(ranker.learning_rate)
    earlier = 0 if isinstance(ranker.init, str | None) else rounds_of(start)
    counted = all_sum(int(np.minimum(queries.sizes, ALIKE).sum()))
    sum_of_rates = SUM_OF_RATES * math.sqrt(counted / DOCUMENTS)
    return min(max(sum_of_rates / (ranker.n_estimators + earlier), LOWEST_RATE), HIGHEST_RATE)
