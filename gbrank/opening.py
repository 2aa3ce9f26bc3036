"""Models of any kind as rankers: what exports, explanations and commands are given."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from .fit.fitted import FittedTrees
from .fit.pretrained import PretrainedRanker, as_pretrained, pretrained_of_file
from .fit.rounds import EvalsResult
from .ranker import GBRanker, load_ranker


def opened_ranker(model: Any) -> Any:
    """Open what exports and explanations take: a ranker, a trained booster, or the path of one.

    A booster becomes a GBRanker of its trees.
    """
    if isinstance(model, str | os.PathLike):
        path = Path(model)
        model = (path.is_file() and pretrained_of_file(path)) or load_ranker(path)
    model = as_pretrained(model)
    return of_booster(model) if isinstance(model, PretrainedRanker) else model


def of_booster(pretrained: PretrainedRanker) -> GBRanker:
    """Make a fitted GBRanker of a trained booster."""
    model = pretrained.model
    ranker = GBRanker(booster=model.booster)
    ranker._published = FittedTrees(
        schema=pretrained._schema,
        model=model,
        init=None,
        best_iteration=len(model.trees()),
        best_score=np.nan,
        evals_result=EvalsResult(),
        sigmas=np.empty(0),
        learning_rate=np.nan,
        data_key="",
        position_bias=None,
        position_report=None,
        colsample=np.nan,
        extra_trees=False,
        progress=None,
        data={},
    )
    return ranker
