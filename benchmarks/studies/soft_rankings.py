"""Two other soft rankings beside SmoothRank's: doubly stochastic indicators, and SmoothI.

python -m benchmarks.studies.soft_rankings --data mq2008 ohsumed wikiqa nfcorpus --large FOLDER
"""

import numba
import numpy as np

from benchmarks.best_rate import BestRate
from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.fair import RATES
from benchmarks.studies.study import study
from gbrank import custom_objective
from gbrank.common.arrays import Vector
from gbrank.objectives.objective import ANNEALED, Facts

TEXT = """\
# Other soft rankings: level with SmoothRank

* *Sinkhorn*: SmoothRank's NDCG, whose soft indicators h are made doubly stochastic by ten Sinkhorn
  steps, as in NeuralNDCG (Pobrotyn & Białobrzeski 2021), where h is NeuralSort's.
* *SmoothI*: NDCG@10 of smooth rank indicators, one rank after another (Thonet, Cinar, Gaussier, Li
  & Renders 2022), α = 1/σ, δ = 0.1.

Both begin with RankNet for half of the rounds, and narrow from 0.3 to 0.1 spreads of the scores, as
SmoothRank does. Trees and learning rates are those of [fair](../../docs/studies/fair.md): the best
rate of three on the validation queries, 0.06 on flights_full. All rankers have 200 rounds: stopped
early, they would often end in RankNet's half. Sinkhorn's seconds on the first four sets are those
of a program that took four times as long.
"""
ROUNDS = 200
STEPS = 10  # of Sinkhorn's, each for documents and positions
FACTS = Facts(
    formula="−NDCG of soft indicators", source="see above", sigma=ANNEALED, start="ranknet"
)


@numba.njit
def sinkhorn(s: Vector, y: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return minus NDCG of doubly stochastic soft indicators; s is sorted, best first.

    Curvature is that of SmoothRank.
    """
    m, none = len(s), np.zeros_like(s)
    if y.min() == y.max():
        return 0.0, none, none
    gains, discounts = worth(y)
    apart = (s.reshape(-1, 1) - s) / sigma  # documents, and the positions of their centres
    kernel = np.exp(-(apart**2))  # the indicators are kernel times one of `rows`, one of `columns`
    rows, columns = np.ones((STEPS + 1, m)), np.ones((STEPS, m))
    for step in range(STEPS):  # each position has one document, then each document one position
        columns[step] = 1 / (rows[step] @ kernel)
        rows[step + 1] = 1 / (kernel @ columns[step])
    worths, shares = gains * rows[-1], discounts * columns[-1]
    loss = -(worths @ kernel @ shares)
    by_row, by_column = -gains * (kernel @ shares), -discounts * (worths @ kernel)
    slopes = -np.outer(worths, shares)  # by the kernel
    for step in range(STEPS - 1, -1, -1):
        by_row *= rows[step + 1] ** 2
        by_column = (by_column - by_row @ kernel) * columns[step] ** 2
        slopes -= np.outer(by_row, columns[step]) + np.outer(rows[step], by_column)
        by_row, by_column = -(kernel @ by_column), none
    pulls = slopes * kernel * apart * (-2 / sigma)
    gradient = pulls.sum(axis=1) - pulls.sum(axis=0)
    size = np.abs(gradient)
    return loss, gradient, (size + size.mean()) / sigma


@numba.njit
def smooth_indicators(s: Vector, y: Vector, sigma: float) -> tuple[float, Vector, Vector]:
    """Return minus NDCG@10 of SmoothI, whose gradient leaves out what earlier ranks depend on."""
    gradient = np.zeros_like(s)
    if y.min() == y.max():
        return 0.0, gradient, gradient
    gains, discounts = worth(y, 10)
    left = np.ones_like(s)
    loss = 0.0
    for discount in discounts[:10]:
        keys = left * ((s - s.min()) / sigma + 1)
        chances = np.exp(keys - keys.max())
        chances /= chances.sum()
        mean = np.sum(chances * gains)
        loss -= discount * mean
        gradient -= discount * left * chances * (gains - mean) / sigma
        left *= 1 - chances - 0.1
    size = np.abs(gradient)
    return loss, gradient, (size + size.mean()) / sigma


@numba.njit
def worth(y: Vector, k: int = 100_000) -> tuple[Vector, Vector]:
    """Return gains over the ideal DCG@k, and discounts."""
    gains, discounts = 2.0**y - 1, 1 / np.log2(np.arange(2, len(y) + 2))
    return gains / np.sum(np.sort(gains)[::-1][:k] * discounts[:k]), discounts


if __name__ == "__main__":
    objectives = {name: name for name in ("smooth:ndcg", "noisy:ndcg", "ranknet")}
    for name, function in (("Sinkhorn", sinkhorn), ("SmoothI", smooth_indicators)):
        objectives[name] = custom_objective(function, facts=FACTS)
    rankers = {}
    for name, objective in objectives.items():
        ranker = ranker_from_name("smooth:ndcg", n_estimators=ROUNDS, early_stopping_rounds=None)
        rankers[name] = BestRate(ranker.set_params(objective=objective), RATES)
    study("soft_rankings", TEXT, rankers, seeds=1, on_large={"learning_rates": RATES[1:2]})
