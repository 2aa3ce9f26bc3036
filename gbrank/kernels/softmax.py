"""Cross entropy between target probabilities and the softmax of scores."""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.newton_steps import bound_steps, to_score_units
from gbrank.kernels.noise import uniform

SCRATCH = 2


class SoftmaxParameters(NamedTuple):
    """The parameter of the kernel.

    Parameters
    ----------
    noisy : bool
        Whether a uniform random number is added to the x of each document.
    """

    noisy: bool


def softmax_loss(
    query: Query,
    measure: MeasureFunctions,
    parameters: SoftmaxParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return −Σ t log p, t = x/Σ x, p = softmax(s/σ)."""
    s, x, sigma = query.scores, query.ranking.x, query.sigma
    if query.ranking.scale == 0.0:
        return 0.0
    p, targets = query.scratch[0], query.scratch[1]
    for i in range(s.size):
        targets[i] = x[i] + (uniform(query.noise, i) if parameters.noisy else 0.0)
    sum_of_targets = 0.0
    total = 0.0
    for i in range(s.size):
        p[i] = np.exp((s[i] - s[0]) / sigma)
        total += p[i]
        sum_of_targets += targets[i]
    loss = np.log(total)
    for i in range(s.size):
        if targets[i] > 0.0:
            loss -= targets[i] / sum_of_targets * ((s[i] - s[0]) / sigma)
    for i in range(gradient.size):
        probability = p[i] / total
        target = targets[i] / sum_of_targets
        gradient[i] = probability - target
        curvature[i] = probability * (1.0 - probability)
    bound_steps(1.0, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss
