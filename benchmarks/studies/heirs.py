"""Heirs of the papers' methods: noise in the probabilities, more draws, another softmax.

python -m benchmarks.studies.heirs --data wikiqa mq2008 ohsumed nfcorpus flights --large FOLDER
"""

from dataclasses import dataclass

import numba
import numpy as np

from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import ARTIFICIAL, study
from benchmarks.studies.wrapped import Wrapped
from gbrank import custom_objective, get_objective
from gbrank.common.arrays import Vector
from gbrank.engine.driver import Runner

TEXT = """\
# Heirs of the papers' methods: none is better

* *n draws*: `noisy` with the mean over n noisy rankings in a round, where its default is 2.
* *noise in p, n draws*: the mean of LambdaRank's gradients at n draws of scores with Gumbel noise,
  which is then in the probabilities of pairs, too (Lyzhin, Ustimenko, Gulin & Prokhorenkova 2023).
* *softmax*: cross entropy of softmax(s) with targets y/Σy (Bruch, Wang, Bendersky & Najork 2019).

A ranker for AP stops by AP, one for RR by RR, the others by NDCG@10. On flights_full trees have 31
leaves, the rate is 0.1, and fits end after 300 rounds at the latest. To AP and RR every late
departure is relevant there, 42% of all.
"""


@dataclass(frozen=True)
class Noisy(Wrapped):
    """The mean of an objective's derivatives at noisy scores."""

    name = "noise"

    draws: int = 2

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return the mean over the draws of a round."""
        random = np.random.default_rng(round)
        drawn = [
            inner.gradients(scores + sigma * random.gumbel(size=len(scores)), sigma, round, weights)
            for _ in range(self.draws)
        ]
        gradient, curvature = np.mean(drawn, axis=0)
        return gradient, curvature


@numba.njit
def softmax(s: Vector, y: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return the cross entropy with y/Σy; curvature is at least |gradient|, as ListNet's."""
    p = np.exp((s - s.max()) / sigma)
    p /= p.sum()
    if y.min() == y.max():
        return 0.0, np.zeros_like(s), np.zeros_like(s)
    targets = y / y.sum()
    gradient = (p - targets) / sigma
    curvature = np.maximum(p * (1 - p), np.abs(p - targets)) / sigma**2
    return -np.sum(targets * np.log(p)), gradient, curvature


if __name__ == "__main__":
    rankers = {}
    for measure in ("ap", "rr"):
        lambdas = get_objective(f"lambda:{measure}")
        objectives = {
            f"noisy:{measure}": get_objective(f"noisy:{measure}"),
            f"noisy:{measure}, 8 draws": get_objective(f"noisy(draws=8):{measure}"),
            f"{measure}, noise in p, 2 draws": Noisy(lambdas, 2),
            f"{measure}, noise in p, 8 draws": Noisy(lambdas, 8),
        }
        for name, objective in objectives.items():
            ranker = ranker_from_name("noisy:ndcg", eval_metric=measure)
            rankers[name] = ranker.set_params(objective=objective)
    for name in ("noisy:ndcg", "noisy(draws=8):ndcg", "xendcg"):
        rankers[name] = ranker_from_name(name)
    rankers["softmax"] = ranker_from_name("xendcg").set_params(objective=custom_objective(softmax))
    measures, parts = ("map", "mrr", "ndcg@10"), ("test",)
    study("heirs", TEXT, rankers, measures=measures, seeds=2, parts=parts, on_large=ARTIFICIAL)
