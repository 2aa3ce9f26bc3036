"""Fields of dataclasses that declare the values they take."""

from collections.abc import Iterable
from dataclasses import MISSING, field, fields
from functools import partial
from typing import Any, cast

import numpy as np

from .checks import Function, check_choice, check_number, plain
from .grammar import changed_options, format_call

CHECK = "check"  # the metadata of a field: (value, name) -> checked value
REQUIRED: Any = MISSING  # the default of a field that has none


def Parameter(default: object, check: Function, **options: Any) -> Any:
    """Declare a field whose values are checked by `check(value, name, **options)`."""
    return field(default=default, metadata={CHECK: partial(check, **options)})


def Real(default: float | None, low: float = -np.inf, **options: float) -> Any:
    """Declare a field of numbers in bounds, with options of `check_number`.

    None is one of them if it is the default.
    """
    return Parameter(default, check_number, low=low, optional=default is None, **options)


Integer = partial(Real, integer=True)


def Choice(default: object, choices: Iterable[object]) -> Any:
    """Declare a field that has one of some values."""
    return Parameter(default, check_choice, choices=choices)


Boolean = partial(Choice, choices=[True, False])


def checked_fields(item: Any) -> dict[str, Any]:
    """Check the fields of a dataclass that declare their values; return these, by name."""
    return {
        declared.name: declared.metadata[CHECK](getattr(item, declared.name), declared.name)
        for declared in fields(item)
        if CHECK in declared.metadata
    }


class Checked:
    """Base class of frozen dataclasses whose fields declare the values they take.

    They keep what comes of the check, but an integer as one.
    """

    def __post_init__(self) -> None:
        for name, value in checked_fields(self).items():
            number = isinstance(value, int | float)
            object.__setattr__(self, name, plain(getattr(self, name)) if number else value)

    def __repr__(self) -> str:
        """Write the call that makes the same value, with what only keywords set at the end."""
        options = changed_options(self)
        by_keyword = [item.name for item in fields(cast(Any, self)) if item.kw_only]
        last = {name: options.pop(name) for name in by_keyword if name in options}
        return format_call(self, options | last)
