"""Logistic functions, as scores and ranks need them."""

import numpy as np

from gbrank.kernels.compiled import inline


@inline
def logistic(z: float) -> float:
    """Return 1 / (1 + exp(−z)), for any z."""
    u = np.exp(-abs(z))
    return 1 / (1 + u) if z >= 0 else u / (1 + u)


@inline
def logistic_slope(z: float) -> tuple[float, float]:
    """Return 1 / (1 + exp(−z)) and its derivative, precise even where the former is near 1."""
    u = np.exp(-abs(z))
    p = 1 / (1 + u)
    return p if z >= 0 else u * p, u * p * p


@inline
def truncation(rank: float, k: float, beta: float) -> tuple[float, float]:
    """Return how far a rank is within the first k, 1/(1 + exp(β (r − k − ½))), and its slope."""
    kept = 1.0
    slope = 0.0
    if k < np.inf:
        kept = logistic(beta * (k + 0.5 - rank))
        slope = -beta * kept * (1 - kept)
    return kept, slope
