"""Cross entropy between target probabilities and the softmax of scores."""

from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions, Vector, inline
from gbrank.kernels.newton_steps import bound_steps, to_score_units
from gbrank.kernels.noise import uniform

__all__ = ["noisy_softmax_loss", "softmax_loss"]


def softmax_loss(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Take the second constant of a document, over its sum, as its target probability."""
    if query[0] == 0.0:
        return 0.0
    return cross_entropy(s, documents[1, : s.size], sigma, work[0], gradient, curvature)


def noisy_softmax_loss(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Add a uniform random number to the second constant of each document first."""
    if query[0] == 0.0:
        return 0.0
    worth = work[1, : s.size]
    for i in range(s.size):
        worth[i] = documents[1, i] + uniform(noise, i)
    return cross_entropy(s, worth, sigma, work[0], gradient, curvature)


@inline
def cross_entropy(
    s: Vector, worth: Vector, sigma: float, p: Vector, gradient: Vector, curvature: Vector
) -> float:
    """Return −Σ t log p, t = worth/Σ worth, p = softmax(s/σ), and write its derivatives."""
    total_worth = 0.0
    total = 0.0
    for i in range(s.size):
        p[i] = np.exp((s[i] - s[0]) / sigma)
        total += p[i]
        total_worth += worth[i]
    loss = np.log(total)
    for i in range(s.size):
        if worth[i] > 0.0:
            loss -= worth[i] / total_worth * ((s[i] - s[0]) / sigma)
    for i in range(gradient.size):
        probability = p[i] / total
        target = worth[i] / total_worth
        gradient[i] = probability - target
        curvature[i] = probability * (1.0 - probability)
    bound_steps(1.0, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss
