"""Parameters as plain values whose hash is the same in every process."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType
from typing import Any

import joblib
from sklearn.base import BaseEstimator, clone


def hash_of(value: object) -> str:
    """Hash a value, in every process alike."""
    return str(joblib.hash(describe(value)))


def describe(value: object) -> Any:
    """Convert a value to plain types whose hash is the same in every process."""
    value = getattr(value, "py_func", value)  # a function that numba has compiled
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        defaults = [value.__defaults__, value.__kwdefaults__]
        return describe([value.__qualname__, value.__code__, *defaults, cells])
    if isinstance(value, CodeType):
        return describe([value.co_code, value.co_names, value.co_consts])
    if isinstance(value, BaseEstimator):
        if clone(value) is value:  # frozen: its fitted state counts
            return value
        return _tagged_by_class(value, value.get_params(deep=False))
    if is_dataclass(value) and not isinstance(value, type):
        compared = {item.name: getattr(value, item.name) for item in fields(value) if item.compare}
        return _tagged_by_class(value, compared)
    if isinstance(value, Mapping):
        return {name: describe(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [describe(item) for item in value]
    return value


def _tagged_by_class(value: object, content: Mapping[str, Any]) -> Any:
    return [type(value).__module__, type(value).__qualname__, describe(content)]
