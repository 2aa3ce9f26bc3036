"""Types of arrays, and values as plain Python and as JSON can hold them."""

import math
from types import FunctionType
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
    """Give equal numbers equal bits: one zero, and one NaN, of all signs and payloads."""
    if values.dtype.kind != "f":
        return values
    return np.where(np.isnan(values), values.dtype.type(np.nan), values + values.dtype.type(0))


def one_column(values: Array) -> Array:
    """Convert a matrix of one column to a vector; return anything else unchanged."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def plain(value: Any) -> Any:
    """Replace NumPy's numbers, strings and arrays with Python's own."""
    if hasattr(value, "tolist"):  # scalars and arrays, and what is like them
        return value.tolist()
    if type(value) is dict:
        return {plain(key): plain(item) for key, item in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple, set) else value


def as_json(value: object) -> Any:
    """Convert a value to what JSON can hold; objectives, measures and schedules to strings."""
    value = plain(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, FunctionType):
        return f"<function {value.__qualname__}>"
    if isinstance(value, np.random.RandomState):
        return None  # its state is not saved: a loaded ranker draws anew
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return str(value)
