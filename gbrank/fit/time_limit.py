"""A fit that ends in time: how many rounds fit into it is measured first."""

import copy
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from gbrank.common.checks import check_number, quoted
from gbrank.fit.arguments import FitOptions
from gbrank.fit.boosted_ranker import BoostedRanker
from gbrank.fit.callbacks import Round, check_callbacks
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.loop import part_of_more

PROBED = 5  # rounds
USED = 0.9  # share of what is left: rounds vary, and the end takes time too

Boost = Callable[[BoostedRanker, FitOptions], FittedTrees]


def boost_in_time(boost: Boost, ranker: BoostedRanker, options: FitOptions) -> FittedTrees:
    """Train for a few rounds, and then anew, for as many as the rest of the time allows."""
    begin = perf_counter()
    seconds = check_number(options.time_limit, "time_limit", 0, open_low=True)
    if options.checkpoint is not None:
        raise ValueError(
            "checkpoint must be None with time_limit, whose rounds depend on the machine, got "
            f"{options.checkpoint!r}."
        )
    if ranker.constraints:
        raise ValueError(
            "constraints must be None with time_limit, which would not count the fits for each of "
            f"them alone, got {quoted(ranker.constraints)}."
        )
    callbacks = check_callbacks(options.callbacks)
    ends: list[float] = []
    probe = copy.copy(ranker)
    probe.n_estimators, probe.early_stopping_rounds, probe.verbose = PROBED, None, 0
    with part_of_more():
        boost(probe, FitOptions(callbacks=[lambda _: ends.append(perf_counter())]))
    a_round = float(np.mean(np.diff(ends)))
    before = ends[0] - a_round - begin
    left = begin + seconds - perf_counter() - before

    def ends_now(_: Round) -> bool:
        return perf_counter() + a_round > begin + seconds

    timed = copy.copy(ranker)
    timed.n_estimators = max(1, int(USED * left / a_round))
    return boost(timed, replace(options, callbacks=[*callbacks, ends_now], time_limit=None))
