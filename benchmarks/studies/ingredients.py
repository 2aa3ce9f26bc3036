"""CatBoost: which of its ingredients matter, and whether gbrank's trees gain by their like.

python -m benchmarks.studies.ingredients --data mq2008 ohsumed flights nfcorpus wikiqa
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from catboost import CatBoostRanker

from benchmarks.studies.as_they_come import gbrank_scores, peer_scores
from benchmarks.studies.validated import validated
from benchmarks.studies.wrapped import Wrapped
from gbrank import get_objective
from gbrank.common.arrays import Vector
from gbrank.engine.driver import Runner
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE

TEXT = """\
# None of CatBoost's ingredients matters by itself, and their like brings gbrank's trees nothing

Validation queries of five folds, one thread; the mean is over data sets. First, CatBoost's
YetiRank (300 trees, a rate of 0.1) with one ingredient left out or changed at a time, on the three
smaller sets. Then `GBRanker()` with the like of each: Bayesian bootstrap weights each document's
gradient and curvature, in every round, by an exponential draw; noise on gradients is normal, with
the standard deviation of the root of the curvature, and falls to 0 over the rounds; balanced trees
have a depth of at most 4. Random thresholds, which gbrank has as it comes, are the like of random
strength. Categories are in none of these data, so that ordered target statistics play no part.
"""
ROUNDS = 150  # of GBRanker as it comes

CATBOOST: dict[str, dict[str, Any]] = {
    "CatBoost": {},
    "CatBoost, trees not symmetric (Depthwise)": {"grow_policy": "Depthwise"},
    "CatBoost, no random strength": {"random_strength": 0},
    "CatBoost, no bootstrap": {"bootstrap_type": "No"},
    "CatBoost, half of the features by split": {"rsm": 0.5},
}


@dataclass(frozen=True)
class Bootstrap(Wrapped):
    """Weights documents by a draw in every round."""

    name = "bootstrap"

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return both times the draw."""
        gradient, curvature = inner.gradients(scores, sigma, round, weights)
        draw = np.random.default_rng(round).exponential(size=len(scores))
        return gradient * draw, curvature * draw


@dataclass(frozen=True)
class Noise(Wrapped):
    """Adds noise to gradients."""

    name = "noise"

    size: float = 1.0

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the gradient with noise, and the curvature as it is."""
        gradient, curvature = inner.gradients(scores, sigma, round, weights)
        size = self.size * max(0.0, 1 - round / ROUNDS)
        drawn = np.random.default_rng(round).normal(size=len(scores))
        return gradient + size * drawn * np.sqrt(curvature), curvature


DEFAULT = get_objective(DEFAULT_OBJECTIVE)
GBRANK: dict[str, dict[str, Any]] = {
    "GBRanker()": {},
    "all thresholds": {"extra_trees": False},
    "Bayesian bootstrap": {"objective": Bootstrap(DEFAULT)},
    "noise on gradients, 0.3": {"objective": Noise(DEFAULT, 0.3)},
    "noise on gradients, 1": {"objective": Noise(DEFAULT, 1.0)},
    "balanced trees": {"max_depth": 4},
    "path_smooth=10": {"booster_params": {"path_smooth": 10}},
    "half of the features by node": {
        "colsample": 1.0,
        "booster_params": {"feature_fraction_bynode": 0.5},
    },
}
SMALL = ("mq2008", "ohsumed", "wikiqa")


def catboost_scores(changed: Mapping[str, Any], train: Any, X: Any, seed: int) -> Any:
    """Return the scores of a CatBoost ranker with these parameters."""

    def make(seed: int) -> CatBoostRanker:
        return CatBoostRanker(
            iterations=300,
            learning_rate=0.1,
            random_seed=seed,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
            **changed,
        )

    return peer_scores(make, "group_id", train, X, seed)


if __name__ == "__main__":
    theirs = {name: partial(catboost_scores, changed) for name, changed in CATBOOST.items()}
    ours = {name: partial(gbrank_scores, **changed) for name, changed in GBRANK.items()}
    validated("ingredients", TEXT, [(SMALL, theirs), (None, ours)])
