"""Vectors of a query: sums and checks, and from derivatives by s/σ to derivatives by the score s.

NumPy's own sum would add in another order in each loop.
"""

from gbrank.common.checks import Vector
from gbrank.engine.compiling import inline
from gbrank.engine.contract import Derivatives

SMALLEST = 1e-300
LARGEST = 1e300

# The longest Newton step of logistic losses, in units of σ: far beyond what training meets.
LONGEST_STEP = 1e3


@inline
def sum_of(values: Vector) -> float:
    """Return the sum."""
    total = 0.0
    for value in values:
        total += value
    return total


@inline
def all_alike(gains: Vector) -> bool:
    """Return whether all documents are worth the same, so that there is nothing to rank."""
    for p in range(1, gains.size):
        if gains[p] != gains[0]:
            return False
    return True


@inline
def bound_steps(longest: float, out: Derivatives) -> None:
    """Raise curvatures so that no document's Newton step is above `longest`, in units of σ.

    Where a logistic function or a softmax saturates, curvature vanishes faster than the gradient,
    and steps would have no bound.

    Parameters
    ----------
    longest : float
        Bound of |gradient| / curvature.
    out : Derivatives
        Derivatives of a query in units of σ; the curvature is changed in place.
    """
    for i in range(out.gradient.size):
        out.curvature[i] = max(out.curvature[i], abs(out.gradient[i]) / longest)


@inline
def size_as_curvature(out: Derivatives) -> None:
    """Write curvatures |gradient| plus its mean, with which no step is longer than 1.

    This is for losses that are not convex.

    Parameters
    ----------
    out : Derivatives
        Derivatives of a query in units of σ; the curvature is written in place.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank.extend import Derivatives, size_as_curvature
    >>> out = Derivatives(gradient=np.array([-3.0, 1.0]), curvature=np.zeros(2))
    >>> size_as_curvature(out)
    >>> out.curvature.tolist()
    [5.0, 3.0]
    """
    mean = 0.0
    for i in range(out.gradient.size):
        mean += abs(out.gradient[i]) / out.gradient.size
    for i in range(out.gradient.size):
        out.curvature[i] = abs(out.gradient[i]) + mean


@inline
def to_score_units(sigma: float, out: Derivatives) -> None:
    """Divide the gradient by σ and the curvature by σ², in place, clipped against overflow.

    Parameters
    ----------
    sigma : float
        Width of the relaxation, above 0.
    out : Derivatives
        Derivatives of a query in units of σ.

    Examples
    --------
    >>> import numpy as np
    >>> from gbrank.extend import Derivatives, to_score_units
    >>> out = Derivatives(gradient=np.array([-1.0, 1.0]), curvature=np.array([1.0, 1.0]))
    >>> to_score_units(0.5, out)
    >>> out.gradient.tolist(), out.curvature.tolist()
    ([-2.0, 2.0], [4.0, 4.0])
    """
    slope = 1.0 / sigma
    multiply(slope, slope * slope, out)


@inline
def bound_and_scale(sigma: float, out: Derivatives) -> None:
    """Bound steps by `LONGEST_STEP`, and convert derivatives in units of σ to score units."""
    bound_steps(LONGEST_STEP, out)
    to_score_units(sigma, out)


@inline
def multiply(on_gradient: float, on_curvature: float, out: Derivatives) -> None:
    """Multiply gradient and curvature by their factors, in place, clipped against overflow.

    If one gradient would overflow, the factor is smaller for all: they still sum to zero.
    """
    longest = 1.0
    for i in range(out.gradient.size):
        longest = max(longest, abs(out.gradient[i]))
    on_gradient = min(on_gradient, LARGEST / longest)
    on_curvature = min(max(on_curvature, SMALLEST), LARGEST)
    for i in range(out.gradient.size):
        out.gradient[i] *= on_gradient
        out.curvature[i] = min(out.curvature[i] * on_curvature, LARGEST)
