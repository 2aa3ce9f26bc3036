"""Curvature and normalisation: what each objective's steps are divided by.

python -m benchmarks.studies.curvature --data mq2008 ohsumed --cubic 1
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import study
from benchmarks.studies.wrapped import Wrapped
from gbrank import get_objective
from gbrank.common.arrays import Vector
from gbrank.engine.driver import Runner

TEXT = """\
# Trees need each document's own curvature; normalising gradients by query changes nothing

"query", an option that was removed after revision f003d90, multiplied a query's gradient and
curvature by log2(1 + S)/S, S = Σ|gradient|; "lightgbm" and "xgboost" are the normalisations of
these libraries' own objectives, which divide a pair's weight by its score difference. "blend 0"
keeps the gradient, but gives every document the mean curvature; "blend 0.8" gives it 0.8 of its own
and 0.2 of the mean.
"""

RELAXATIONS = ("lambda", "approx", "smooth", "tie", "soft", "slam")


@dataclass(frozen=True)
class Blend(Wrapped):
    """Mixes each document's curvature with the mean of all."""

    name = "blend"

    own: float = 0.0

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the gradient as it is, and the mixed curvature."""
        own = self.own
        gradient, curvature = inner.gradients(scores, sigma, round, weights)
        return gradient, own * curvature + (1 - own) * np.mean(curvature)


if __name__ == "__main__":
    names = [f"{relaxation}:ndcg" for relaxation in RELAXATIONS]
    names += ["lambda(normalize='lightgbm'):ndcg", "lambda(normalize='xgboost'):ndcg"]
    rankers = {name: ranker_from_name(name) for name in names}
    for name in ("lambda:ndcg", "approx:ndcg", "smooth:ndcg", "tie:ndcg"):
        for own in (0.0, 0.8):
            objective = Blend(get_objective(name), own)
            rankers[f"{name}, blend {own:g}"] = ranker_from_name(name).set_params(
                objective=objective
            )
    study("curvature", TEXT, rankers)
