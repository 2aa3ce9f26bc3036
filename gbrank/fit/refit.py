"""Leaf values of a ranker's trees, fitted to other documents; the splits stay as they are."""

from dataclasses import replace
from typing import Any

import numpy as np

from gbrank.boosters import TRAINERS
from gbrank.common.arrays import Positions, Vector
from gbrank.data.documents import Documents
from gbrank.fit.arguments import refuse_zero_weights
from gbrank.fit.boost import hook_of, sizes_of
from gbrank.fit.boosted_ranker import BoostedRanker, tree_settings
from gbrank.fit.defaults import learning_rate_of
from gbrank.fit.fitted import FittedTrees
from gbrank.fit.gradients import derivatives_by_round
from gbrank.fit.rounds import EvalsResult
from gbrank.fit.start import with_features

TOGETHER = 0.3  # largest sum of learning rates of trees that take their steps from one gradient
# Parameters under which LightGBM's or XGBoost's leaves are no such steps.
OF_LEAVES = {"alpha", "lambda_l1", "linear_tree", "max_delta_step", "path_smooth"}
OF_LEAVES |= {"monotone_constraints", "num_parallel_tree"}


def refit(ranker: BoostedRanker, table: Documents) -> FittedTrees:
    """Return what a ranker's fit made, with steps from its scores in the leaves of its trees."""
    fitted, goes_on = ranker._fitted, ranker._taken()
    goes_on.init = ranker
    settings = tree_settings(goes_on)
    hook, multipliers = hook_of(goes_on, table)
    params = TRAINERS[fitted.booster].check(settings, fitted.schema)
    obstacles = [*sorted(OF_LEAVES & params.keys()), *map(repr, multipliers)]
    obstacles += [name for name in ("boosting", "booster") if params.get(name) == "dart"]
    if obstacles or table.position is not None:
        raise ValueError(
            "refit takes steps along the gradient of the objective in the leaves, which it cannot "
            f"with {', '.join(obstacles) or 'positions'}: train the ranker anew."
        )
    goes_on.init = fitted.init
    train = with_features(goes_on, fitted.schema, table, 0)
    refuse_zero_weights(train)
    derivatives = derivatives_by_round(hook, goes_on, train, settings.seed)
    rate, start = learning_rate_of(goes_on, train.queries), train.init_score

    def steps(leaves: Positions, values: list[Vector]) -> list[Vector]:
        """Return the leaf values of all trees, of which each goes on from the scores so far."""
        scores: Any = sum(map(np.take, values, leaves), start=0.0 if start is None else start)
        for number, (places, old) in enumerate(zip(leaves, values, strict=True)):
            if number % max(1, round(TOGETHER / rate)) == 0:
                gradient, curvature = derivatives(number)(scores)
            slope, width = (np.bincount(places, part, len(old)) for part in (gradient, curvature))
            step = -rate * slope / np.where(width > 0, width + goes_on.reg_lambda, 1.0)
            scores = scores + step[places]
            old += step
        return values

    model = fitted.model.refit(train.X, fitted.schema, settings.n_jobs, steps)
    of_fit = replace(fitted, best_score=np.nan, evals_result=EvalsResult())
    return replace(of_fit, model=model, data=sizes_of(train, []))
