"""Fields of dataclasses that say what values they take."""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, field, fields
from functools import partial
from typing import Any

import numpy as np

from gbrank.common.checks import check_choice, check_number
from gbrank.common.plain import plain

CHECK = "check"  # the metadata of a field: (value, name) -> checked value
REQUIRED: Any = MISSING  # the default of a field that has none


def checked(default: object, check: Callable[..., Any], **options: Any) -> Any:
    """Declare a field whose values are checked by `check(value, name, **options)`."""
    return field(default=default, metadata={CHECK: partial(check, **options)})


def whole(
    default: int | None, low: float = -np.inf, high: float = np.inf, *, optional: bool = False
) -> Any:
    """Declare a field of integers from `low` to `high`, or None if it is optional."""
    return checked(default, check_number, low=low, high=high, integer=True, optional=optional)


def real(
    default: float | None,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    optional: bool = False,
) -> Any:
    """Declare a field of numbers from `low` to `high`, which are allowed unless they are open."""
    bounds = {"open_low": open_low, "open_high": open_high}
    return checked(default, check_number, low=low, high=high, optional=optional, **bounds)


def choice(default: object, choices: Iterable[object]) -> Any:
    """Declare a field that has one of some values."""
    return checked(default, check_choice, choices=choices)


def flag(default: bool) -> Any:
    """Declare a field that is True or False."""
    return choice(default, [True, False])


def checked_fields(item: Any) -> dict[str, Any]:
    """Check the fields of a dataclass that say how; return their values, by name."""
    return {
        one.name: one.metadata[CHECK](getattr(item, one.name), one.name)
        for one in fields(item)
        if CHECK in one.metadata
    }


def keep_checked(item: Any) -> None:
    """Check the fields of a frozen dataclass; keep what comes of it, but an integer as one."""
    for name, value in checked_fields(item).items():
        number = isinstance(value, int | float)
        object.__setattr__(item, name, plain(getattr(item, name)) if number else value)
