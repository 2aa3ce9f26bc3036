"""Soft ranks by other sigmoids than the logistic function, pair by pair."""

from math import erfc
from typing import NamedTuple

import numpy as np

from gbrank.kernels.compiled import Vector, inline
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.logistic import all_alike
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units

SCRATCH = 2
# Factors on z with which each has the logistic function's slope at 0, 1/4.
ARCTAN_WIDTH, ERF_WIDTH = np.pi / 4, np.sqrt(np.pi) / 4


class SigmoidParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    beta : float
        Steepness of what is logistic in ranks, per rank.
    arctan : bool
        Whether the sigmoid is the arc tangent, or else the error function.
    """

    beta: float
    arctan: bool


def sigmoid_measure(
    query: Query,
    measure: MeasureFunctions,
    parameters: SigmoidParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return minus the measure at the soft ranks r̂_i = 1 + Σ_{j ≠ i} q((s_i − s_j)/σ).

    q is the chance of the wrong order, 1 minus the sigmoid. With d = ∂M/∂r̂, the gradient of the
    loss is −Σ_j (d_i − d_j) q'/σ, and the curvature Σ_j |d_i − d_j| |q'|/σ² times the chance of the
    order that d wants, as with the logistic function.
    """
    s, x, sigma = query.scores, query.ranking.x, query.sigma
    m = s.size
    if all_alike(x):
        return 0.0
    ranks = query.scratch[0]
    slopes = query.scratch[1]
    ranks[:m] = 1.0
    for i in range(m - 1):
        for j in range(i + 1, m):
            wrong, _ = _sigmoid((s[i] - s[j]) / sigma, parameters.arctan)
            ranks[i] += wrong
            ranks[j] += 1.0 - wrong
    loss = -measure.by_rank(query.ranking, ranks, parameters.beta, 1.0, slopes)
    if gradient.size == 0:
        return loss
    for i in range(m - 1):
        for j in range(i + 1, m):
            wrong, slope = _sigmoid((s[i] - s[j]) / sigma, parameters.arctan)
            force = (slopes[i] - slopes[j]) * slope
            gradient[i] += force
            gradient[j] -= force
            bend = abs(force) * (1.0 - wrong if force < 0 else wrong)
            curvature[i] += bend
            curvature[j] += bend
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return loss


@inline
def _sigmoid(z: float, arctan: bool) -> tuple[float, float]:
    """Return the chance that a document z ≥ 0 widths above another is below it, and its slope."""
    if arctan:
        width = ARCTAN_WIDTH * z
        return np.arctan2(1.0, width) / np.pi, 0.25 / (1.0 + width * width)
    width = ERF_WIDTH * z
    return 0.5 * erfc(width), 0.25 * np.exp(-width * width)
