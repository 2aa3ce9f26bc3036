"""Cross entropy between target probabilities and the softmax of scores."""

import numpy as np

from gbrank.kernels.compiled import Vector, inline
from gbrank.kernels.contract import MeasureFunctions, NoParameters, Query
from gbrank.kernels.newton_steps import bound_steps, to_score_units
from gbrank.kernels.noise import uniform


def softmax_loss(
    query: Query,
    measure: MeasureFunctions,
    parameters: NoParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Take x, over its sum, as the target probability of each document."""
    if query.ranking.scale == 0.0:
        return 0.0
    return cross_entropy(
        query.scores, query.ranking.x, query.sigma, query.scratch[0], gradient, curvature
    )


def noisy_softmax_loss(
    query: Query,
    measure: MeasureFunctions,
    parameters: NoParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Add a uniform random number to the x of each document first."""
    if query.ranking.scale == 0.0:
        return 0.0
    s = query.scores
    targets = query.scratch[1, : s.size]
    for i in range(s.size):
        targets[i] = query.ranking.x[i] + uniform(query.noise, i)
    return cross_entropy(s, targets, query.sigma, query.scratch[0], gradient, curvature)


@inline
def cross_entropy(
    s: Vector, targets: Vector, sigma: float, p: Vector, gradient: Vector, curvature: Vector
) -> float:
    """Return −Σ t log p, t = targets/Σ targets, p = softmax(s/σ), and write its derivatives."""
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
