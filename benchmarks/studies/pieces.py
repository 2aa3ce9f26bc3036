"""Which piece of LightGBM's lambdarank is ahead on larger data.

python -m benchmarks.studies.pieces --data mq2008 wikiqa ohsumed
"""

from functools import partial
from pathlib import Path

import numba
import numpy as np
from sklearn.base import clone

from benchmarks.artificial import cubic_queries
from benchmarks.letor_folders import read_folds
from benchmarks.named_rankers import ranker_from_name
from benchmarks.studies.peers import ALL_PAIRS
from benchmarks.studies.study import UNSAMPLED, options, publish
from gbrank import GBRanker, compare_rankers, custom_objective
from gbrank.common.arrays import Vector
from gbrank.objectives.objective import Objective

RATES = (0.1, 0.2)
DRAWS = 2
QUERIES = 10_000
PIECES = {
    "": (False, False),
    ", distance": (True, False),
    ", sum": (False, True),
    ", distance and sum": (True, True),
}
NAMES = (
    "lambda:ndcg",
    "noisy:ndcg",
    "lightgbm:lambdarank",
    ALL_PAIRS,
    f"{ALL_PAIRS},lambdarank_norm=False",
)


def with_pieces(noise: bool, distance: bool, total: bool) -> Objective:
    """Return LambdaRank, or NoisyLambdaRank, with pieces of LightGBM's lambdarank."""

    @numba.njit
    def pairs(s: Vector, y: Vector, sigma: float) -> tuple[float, Vector, Vector]:
        m = len(s)
        gains, discounts = 2.0**y - 1, 1 / np.log2(np.arange(m) + 2.0)
        ideal = np.sum(np.sort(gains)[::-1] * discounts)
        gradient, curvature = np.zeros(m), np.zeros(m)
        if ideal == 0 or y.min() == y.max():
            return 0.0, gradient, curvature
        draws = DRAWS if noise else 1
        np.random.seed(int(1e6 * np.abs(s).sum()) % 2**31)  # noqa: NPY002 (numba has no other)
        worth = np.empty((draws, m))
        for draw in range(draws):
            drawn = s / sigma
            if noise:
                drawn -= np.log(-np.log(np.random.random(m)))  # noqa: NPY002
            worth[draw][np.argsort(-drawn)] = discounts / draws
        summed = 0.0
        for i in range(m):
            for j in range(i + 1, m):
                if y[i] == y[j]:
                    continue
                weight = 0.0
                for draw in range(draws):
                    weight += (
                        abs(gains[i] - gains[j]) / ideal * abs(worth[draw, i] - worth[draw, j])
                    )
                if distance and s[0] != s[m - 1]:
                    weight /= 0.01 + s[i] - s[j]
                sign = 1.0 if y[i] > y[j] else -1.0
                p = 1 / (1 + np.exp(sign * (s[i] - s[j]) / sigma))
                force, curve = sign * weight * p / sigma, weight * p * (1 - p) / sigma**2
                gradient[i] -= force
                gradient[j] += force
                curvature[i] += curve
                curvature[j] += curve
                summed += 2 * abs(force)
        if total and summed > 0:
            factor = np.log2(1 + summed) / summed
            gradient *= factor
            curvature *= factor
        return 0.0, gradient, curvature

    return custom_objective(pairs)


TEXT = """\
# LightGBM's division by the distance of scores helps without noise, and harms on real labels

LightGBM's lambdarank is ahead of `lambda:ndcg` on large artificial data. Which of its pieces is it?

* *distance*: the weight of a pair is divided by 0.01 + |s_i − s_j|.
* *sum*: the derivatives of a query are multiplied by log2(1 + S)/S, S = Σ|λ| over its pairs.

`lambdarank_norm=False` takes both out of LightGBM's. "lambda" and "noisy" are gbrank's objectives
by a short kernel, without or with these pieces. Trees of 31 leaves, 300 rounds at two rates, all
documents and features. Real data: `GBRanker()` as it comes, and with the distance.
"""


if __name__ == "__main__":
    parser = options(__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES, help="two fifths to train on")
    arguments = parser.parse_args()
    rankers = {name: ranker_from_name(name, **UNSAMPLED) for name in NAMES}
    for name in ("lambda", "noisy"):
        for piece, switches in PIECES.items():
            own = ranker_from_name("lambda:ndcg", **UNSAMPLED)
            own.set_params(objective=with_pieces(name == "noisy", *switches))
            rankers[f"{name}{piece}"] = own
    run = partial(compare_rankers, n_jobs=arguments.jobs)
    larger = run(
        {
            f"{name}, rate {rate:g}": clone(ranker).set_params(learning_rate=rate)
            for rate in RATES
            for name, ranker in rankers.items()
        },
        [cubic_queries(arguments.queries)],
        seeds=1,
    )
    come = {
        "GBRanker()": GBRanker(),
        "GBRanker(), distance": GBRanker(with_pieces(True, True, False)),
    }
    real = run(come, list(map(read_folds, arguments.data)), seeds=2)
    folders = " ".join(Path(folder).name for folder in arguments.data)
    command = f"python -m benchmarks.studies.pieces --data {folders} --queries {arguments.queries}"
    publish("pieces", TEXT, command, [larger, real], ("valid", "test"))
