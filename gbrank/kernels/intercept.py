"""The pointwise term with a query effect: logistic regression with an intercept per query."""

from typing import NamedTuple

import numpy as np

from gbrank.common.arrays import Vector
from gbrank.kernels.compiled import inline
from gbrank.kernels.contract import MeasureFunctions, Query
from gbrank.kernels.logistic import logistic
from gbrank.kernels.newton_steps import LONGEST_STEP, bound_steps, to_score_units

STEPS = 50  # of Newton's method, which needs 4 to 8
WIDEST = 1e100  # scores in units of σ beyond which only the sign matters


class InterceptParameters(NamedTuple):
    """The parameters of the kernel.

    Parameters
    ----------
    strength : float
        The penalty λ.
    centre : float
        The intercept b₀ of a query whose scores have mean 0, to which the penalty pulls.
    """

    strength: float
    centre: float


def logistic_with_intercept(
    query: Query,
    measure: MeasureFunctions,
    parameters: InterceptParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return min over b of Σ_i CE(p_i, t_i) + λ/2 (b − b₀ + mean s/σ)², p_i = σ(s_i/σ + b).

    Labels are the targets t. The gradient is p − t at the best b, less its mean, which is the part
    due to the mean score in the penalty.
    """
    s, targets, sigma = query.scores, query.labels, query.sigma
    m = s.size
    strength = parameters.strength
    z = query.scratch[0]
    mean = 0.0
    for i in range(m):
        z[i] = min(max(s[i] / sigma, -WIDEST), WIDEST)
        mean += z[i] / m
    centre = parameters.centre - mean
    b = fit_intercept(z[:m], targets, strength, centre)
    loss = 0.5 * strength * (b - centre) ** 2
    excess = 0.0
    for i in range(m):
        # CE(p, t) = log(1 + e^x) − t x, x = z + b
        x = z[i] + b
        loss += max(x, 0.0) + np.log1p(np.exp(-abs(x))) - targets[i] * x
        excess += (logistic(x) - targets[i]) / m
    if m == 1:
        return min(loss, 1e300)  # the intercept alone explains a single document
    for i in range(gradient.size):
        p = logistic(z[i] + b)
        gradient[i] = p - targets[i] - excess
        curvature[i] = p * (1 - p)
    bound_steps(LONGEST_STEP, gradient, curvature)
    to_score_units(sigma, gradient, curvature)
    return min(loss, 1e300)


@inline
def fit_intercept(z: Vector, targets: Vector, strength: float, centre: float) -> float:
    """Return the b that minimises Σ CE + λ/2 (b − centre)², by Newton's method in a bracket."""
    low = centre - z.size / strength  # the slope of Σ CE is at most m
    high = centre + z.size / strength
    b = centre
    for _ in range(STEPS):
        slope = strength * (b - centre)
        second = strength
        for i in range(z.size):
            p = logistic(z[i] + b)
            slope += p - targets[i]
            second += p * (1 - p)
        if slope > 0:
            high = b
        else:
            low = b
        step = b - slope / second
        step = step if low < step < high else 0.5 * (low + high)
        if abs(step - b) <= 1e-13 * (1 + abs(b)):
            return step
        b = step
    return b
