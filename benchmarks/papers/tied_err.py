"""TieRank of ERR, the extension that the paper names: a plug-in that sums over all roundings."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from gbrank.extend import custom_objective
from gbrank.objectives.objective import Facts, Objective

__all__ = ["MAX_GRADE", "PER_LABEL", "expected_err", "tied_err_objective"]

Vector = NDArray[np.float64]

MAX_GRADE = 2  # of MQ2008
PER_LABEL = 2  # documents that are drawn; of m there are 2^m roundings


def tied_err_objective() -> Objective:
    """Return minus the expected ERR of a few documents of each label, whose scores are rounded."""
    facts = Facts(stochastic=True, draws_documents=True)
    return custom_objective(_derivatives, facts=facts)


def _derivatives(
    scores: Vector, labels: Vector, sigma: float, rng: np.random.Generator
) -> tuple[float, Vector, Vector]:
    drawn = np.concatenate(
        [rng.permutation(np.flatnonzero(labels == own))[:PER_LABEL] for own in np.unique(labels)]
    )
    chances = (2 ** labels[drawn] - 1) / 2**MAX_GRADE
    value, slopes = expected_err(scores[drawn] / sigma + 0.5, chances)
    gradient, curvature = np.zeros((2, len(scores)))
    gradient[drawn], curvature[drawn] = -slopes / sigma, 1.0
    return -value, gradient, curvature


@numba.njit
def expected_err(scores: Vector, chances: Vector) -> tuple[float, Any]:
    """Return the mean ERR over roundings up, each with probability 3x² − 2x³, and its slopes."""
    m, floors = scores.size, np.floor(scores)
    x = scores - floors
    up, steepness = 3 * x**2 - 2 * x**3, 6 * x - 6 * x**2
    value, slopes = 0.0, np.zeros(m)
    for outcome in range(2**m):
        is_up = np.array([(outcome >> i) % 2 == 1 for i in range(m)])
        shares = np.where(is_up, up, 1 - up)
        err = _mean_over_orders(floors + is_up, chances)
        value += err * np.prod(shares)
        for i in range(m):
            others = np.prod(shares[:i]) * np.prod(shares[i + 1 :])
            slopes[i] += (err if is_up[i] else -err) * steepness[i] * others
    return value, slopes


@numba.njit
def _mean_over_orders(levels: Vector, chances: Vector) -> float:
    """Return the mean ERR over all orders of documents of equal level."""
    order = np.argsort(-levels)
    value, going_on, begin = 0.0, 1.0, 0
    while begin < order.size:
        block = order[levels[order] == levels[order[begin]]]
        # After n of the block, the mean chance of still looking over all choices of n documents.
        means = np.zeros(block.size + 1)
        means[0] = 1.0
        for count in range(1, block.size + 1):
            for n in range(count, 0, -1):
                with_it = means[n - 1] * (1 - chances[block[count - 1]])
                means[n] += n / count * (with_it - means[n])
        for n in range(1, block.size + 1):
            value += going_on * (means[n - 1] - means[n]) / (begin + n)
        going_on *= means[-1]
        begin += block.size
    return value
