"""The mean of fitted rankers, as one ranker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from gbrank.boosters.lightgbm.trained_model import LightGBMModel
from gbrank.fit.rounds import EvalsResult
from gbrank.ranker import GBRanker


def averaged(
    rankers: Sequence[GBRanker],
    weights: Sequence[float],
    params: dict[str, Any],
    value: float,
) -> GBRanker:
    """Return a ranker with the trees of all, whose score is the weighted sum of theirs.

    They are LightGBM's, of the same columns and without `init`. The ranker has `params`, those of
    one of them, and `value` as its best score.
    """
    models = [cast(LightGBMModel, ranker._fitted.model) for ranker in rankers]
    model = LightGBMModel.weighted_sum(models, weights)
    return GBRanker(**params)._publish(
        replace(
            rankers[0]._fitted,
            model=model,
            best_iteration=model.native.num_trees(),
            best_score=value,
            learning_rate=math.nan,  # members have their own, and what follows
            colsample=None,
            extra_trees=None,
            progress=None,
            evals_result=EvalsResult(),
            sigmas=np.array([]),
        )
    )
