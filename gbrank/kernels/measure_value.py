"""The kernel of an exact measure: its value."""

from gbrank.common.arrays import Vector
from gbrank.kernels.contract import MeasureFunctions, NoParameters, Query


def measure_value(
    query: Query,
    measure: MeasureFunctions,
    parameters: NoParameters,
    gradient: Vector,
    curvature: Vector,
) -> float:
    """Return the measure of one query."""
    return measure.value(query.ranking)
