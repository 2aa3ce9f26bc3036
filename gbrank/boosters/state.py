"""What a checkpoint keeps of a booster in training, and how it is read back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

State: TypeAlias = dict[str, bytes]


class DamagedState(ValueError):
    """A checkpoint holds what no trainer of these rows has written."""


@contextmanager
def reading_state() -> Iterator[None]:
    """Make one error of what reading a damaged state raises."""
    try:
        yield
    except (KeyError, ValueError) as error:
        raise DamagedState(f"{error}") from None


def numbers_of(state: State, name: str, dtype: type, length: int | None = None) -> NDArray[Any]:
    """Return finite numbers that a state holds."""
    values: NDArray[Any] = np.frombuffer(state[name], dtype=dtype)
    if length is not None and len(values) != length:
        raise ValueError(f"{name} must have {length} entries, not {len(values)}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite")
    return values
