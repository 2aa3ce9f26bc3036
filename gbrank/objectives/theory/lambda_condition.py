"""Whether lambdas are the derivative of a cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_finite, check_number, check_vector


class LambdaCondition(NamedTuple):
    """What the Jacobian of lambdas says of their cost.

    Parameters
    ----------
    asymmetry : float
        The largest |J_jk − J_kj| over the largest |J_jk|: 0, up to the error of differences, if
        there is a cost; 0 if J is zero.
    smallest_eigenvalue : float
        Of (J + Jᵀ)/2: at least 0, up to the error of differences, if the cost is convex there.

    Examples
    --------
    >>> from gbrank import LambdaCondition
    >>> LambdaCondition(asymmetry=0.0, smallest_eigenvalue=1.0).asymmetry
    0.0
    """

    asymmetry: float
    smallest_eigenvalue: float


def check_lambdas(
    lambdas: Callable[[Vector], Any], scores: ArrayLike, step: float = 1e-5
) -> LambdaCondition:
    """Check, near some scores, whether a function of lambdas is the derivative of a cost.

    It is if and only if the Jacobian J_jk = ∂λ_j/∂s_k is symmetric everywhere; the cost is convex
    if and only if J has no negative eigenvalue anywhere. J is taken by central differences, so try
    several scores; where lambdas jump, as `LambdaRank`'s do when documents swap ranks, a symmetric
    Jacobian on both sides of the jump does not suffice.

    An argument that is not usable is a ValueError or a TypeError that names it.

    Parameters
    ----------
    lambdas : callable
        Takes the scores of a query, shape (m,), and returns as many lambdas: ∂cost/∂s_j, as an
        objective's gradient. (The paper's have the opposite sign, and so have the eigenvalues.)
    scores : array-like, shape (m,)
        Where to check.
    step : float
        Half the distance of the differences, in score units.

    Returns
    -------
    LambdaCondition
        The asymmetry and the smallest eigenvalue of J.

    References
    ----------
    Burges, Ragno & Le 2006, "Learning to rank with nonsmooth cost functions", equation 5.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank import check_lambdas
    >>> springs = check_lambdas(lambda s: s - s.mean(), [3.0, 1.0, 2.0])
    >>> springs.asymmetry < 1e-6, springs.smallest_eigenvalue > -1e-6
    (True, True)
    >>> bool(check_lambdas(lambda s: s * s.sum(), [3.0, 1.0, 2.0]).asymmetry > 0.1)
    True
    """
    point = check_finite(check_vector(scores, "scores"), "scores")
    check_number(step, "step", 0, open_low=True)
    columns = [
        (_values(lambdas, point + away) - _values(lambdas, point - away)) / (2 * step)
        for away in step * np.eye(len(point))
    ]
    jacobian = np.array(columns).reshape(len(point), len(point)).T
    largest = np.abs(jacobian).max(initial=0.0)
    return LambdaCondition(
        float(np.abs(jacobian - jacobian.T).max(initial=0.0) / largest) if largest else 0.0,
        float(np.linalg.eigvalsh((jacobian + jacobian.T) / 2).min(initial=np.inf)),
    )


def _values(lambdas: Callable[[Vector], Any], scores: Vector) -> Vector:
    """Return the lambdas of some scores, checked."""
    return check_finite(check_vector(lambdas(scores), "lambdas", len(scores)), "lambdas")
