"""From derivatives by s/σ to derivatives by the score s."""

from gbrank.kernels.compiled import Vector, inline

__all__ = ["LARGEST", "to_score_units"]

LARGEST = 1e300


@inline
def to_score_units(sigma: float, gradient: Vector, curvature: Vector) -> None:
    """Divide the gradient by σ and the curvature by σ², in place, short of overflow."""
    for i in range(gradient.size):
        gradient[i] = min(max(gradient[i] / sigma, -LARGEST), LARGEST)
        curvature[i] = min(curvature[i] / sigma / sigma, LARGEST)
