"""The kernel of an exact measure: its value, as one of its row functions computes it."""

from typing import Any

from gbrank.kernels.compiled import Matrix, Positions, Vector

__all__ = ["measure_value"]


def measure_value(
    s: Vector, first: Positions, last: Positions, documents: Matrix, query: Vector,
    table: Vector, params: Vector, sigma: float, noise: int, prepare: Any, row: Any,
    work: Matrix, gradient: Vector, curvature: Vector,
) -> float:  # fmt: skip
    """Return what the row function `prepare` writes to the first entry of its output."""
    m = s.size
    out = work[0]
    prepare(-1, m, first, last, documents[0, :m], query, table, work[1:], out)
    return out[0]
