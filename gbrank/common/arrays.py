"""The types of arrays, by what they hold."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Vector: TypeAlias = NDArray[np.float64]
Single: TypeAlias = NDArray[np.float32]
Mask: TypeAlias = NDArray[np.bool_]
Keys: TypeAlias = NDArray[np.uint64]
Matrix: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.int64]


def canonical(values: Array) -> Array:
    """Return equal bits for equal numbers: one zero, and one NaN, of all signs and payloads."""
    if values.dtype.kind != "f":
        return values
    return np.where(np.isnan(values), values.dtype.type(np.nan), values + values.dtype.type(0))


def one_column(values: Array) -> Array:
    """Return a matrix of one column as a vector, and anything else as it is."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
