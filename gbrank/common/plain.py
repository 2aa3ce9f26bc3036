"""Values as plain Python, and as JSON can hold them."""

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value with Python's own numbers, strings and lists in place of NumPy's."""
    if hasattr(value, "tolist"):  # scalars and arrays, and what is like them
        return value.tolist()
    if type(value) is dict:
        return {plain(key): plain(item) for key, item in value.items()}
    return type(value)(map(plain, value)) if type(value) in (list, tuple, set) else value


def as_json(value: object) -> Any:
    """Return a value as JSON can hold it: objectives, measures and schedules as their strings."""
    value = plain(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.random.RandomState):
        return None  # its state is not saved: a loaded ranker draws anew
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return str(value)
