"""Ideas: what else might lead.

python -m benchmarks.studies.ideas --data mq2008 ohsumed --cubic 1
"""

from dataclasses import dataclass

import numba
import numpy as np

from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.study import study
from benchmarks.studies.wrapped import Wrapped, Wrapper
from gbrank import custom_objective, get_objective
from gbrank.common.arrays import Vector
from gbrank.engine.driver import Runner

TEXT = """\
# Other ideas that we tried: none is better on all data

* *log*: minus the logarithm of the smoothed measure of each query, so that queries that are ranked
  badly count for more.
* *Gauss-Newton*: ApproxNDCG with the curvature Σ_i G_i |D″(r̂_i)| (∂r̂_i/∂s_p)² in place of the
  curvature of the pairs' majorisers.
* *frozen r*: an outer majorise-minimise loop: for r rounds the trees minimise the majoriser's
  quadratic model, taken at the scores before these rounds.
* *queries*: each tree is grown on 80% of the queries in place of 80% of the documents.
* *noise*: expected swap deltas, under Gumbel noise whose width falls over 150 rounds.
* *a, then b*: from one objective to another over the first 150 rounds.
"""


@dataclass(frozen=True)
class Log(Wrapped):
    """The logarithm of a smoothed measure."""

    name = "log"

    def gradients(
        self, inner: Runner, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return both divided by the measure of their query."""
        gradient, curvature = inner.gradients(scores, sigma, round, weights)
        measure = -inner.values(scores, sigma, round)
        factor = 1 / np.where(measure > 0, measure, 1)[inner.queries.index]
        return gradient * factor, curvature * factor


@numba.njit(cache=True)
def gauss_newton(s: Vector, y: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return ApproxNDCG with a Gauss-Newton curvature; s is sorted, best first."""
    m = len(s)
    gains = 2.0**y - 1
    ideal = np.sum(np.sort(gains)[::-1] / np.log2(np.arange(2, m + 2)))
    gradient, curvature = np.zeros(m), np.zeros(m)
    if ideal == 0 or y.min() == y.max():
        return 0.0, gradient, curvature
    loss = 0.0
    slope = np.empty(m)
    for i in range(m):
        p = 1 / (1 + np.exp((s[i] - s) / sigma))
        rank = 0.5 + p.sum()
        loss -= gains[i] / np.log2(1 + rank) / ideal
        slope[:] = p * (1 - p) / sigma
        slope[i] = 0.0
        slope[i] = -slope.sum()
        log = np.log(1 + rank)
        down = gains[i] * np.log(2.0) / ideal / (1 + rank) / log**2
        gradient += down * slope
        curvature += down * (1 + 2 / log) / (1 + rank) * slope**2
    return loss, gradient, curvature


@dataclass(frozen=True)
class Frozen(Wrapped):
    """The quadratic model of a loss, made anew every few rounds."""

    name = "frozen"

    rounds: int = 5

    def wrap(self, inner: Runner) -> Runner:
        """Return what keeps the model."""
        return Model(self, inner)


class Model(Wrapper):
    """See `Frozen`."""

    objective: Frozen

    def gradients(
        self, scores: Vector, sigma: float, round: int, weights: Vector
    ) -> tuple[Vector, Vector]:
        """Return g + h (s − s₀) and h, where s₀, g and h are those of the last model."""
        if round % self.objective.rounds == 0:
            self.start = scores.copy()
            self.model = self.inner.gradients(scores, sigma, round, weights)
        gradient, curvature = self.model
        return gradient + curvature * (scores - self.start), curvature


if __name__ == "__main__":
    plain = ["lightgbm:lambdarank", "lambda:ndcg", "approx:ndcg", "tie:ndcg", "listmle"]
    rankers = {name: ranker_from_name(name) for name in plain}
    objectives = {f"{name}, log": Log(get_objective(name)) for name in ("approx:ndcg", "tie:ndcg")}
    objectives["approx:ndcg, Gauss-Newton"] = custom_objective(gauss_newton)
    for name in ("lambda:ndcg", "approx:ndcg"):
        for rounds in (3, 10):
            objectives[f"{name}, frozen {rounds}"] = Frozen(get_objective(name), rounds)
    for name, objective in objectives.items():
        rankers[name] = ranker_from_name("lambda:ndcg").set_params(objective=objective)
    for name in ("lambda:ndcg", "tie:ndcg", "listmle"):
        ranker = ranker_from_name(name).set_params(subsample_by="query")
        rankers[f"{name}, queries"] = ranker
    for first, second in (
        ("xendcg", "lambda:ndcg"), ("listmle", "lambda:ndcg"), ("listmle", "tie:ndcg@10"),
    ):  # fmt: skip
        name = f"linear(1,0,150)*{first}+linear(0,1,150)*{second}"
        rankers[f"{first}, then {second}"] = ranker_from_name(name)
    study("ideas", TEXT, rankers)
