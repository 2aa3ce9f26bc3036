"""The error of an argument that is not what it should be, and warnings at the user's line."""

import copy
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(eq=False, repr=False)
class ArgumentError(ValueError):
    """An argument is not what it should be: "{context}{argument} {demand}, got {got}.{hint}".

    Parameters
    ----------
    argument : str
        Its name in Python.
    demand : str
        What it should be, as "must be at least 1".
    got : str
        What it was, as a text; "" where the demand says it.
    hint : str
        What to do; it begins with a space.
    context : str
        Where it stands, as "eval_set[0]: ".
    remedies : tuple of str
        Other arguments that the hint names.
    """

    argument: str
    demand: str
    got: str = ""
    hint: str = ""
    context: str = ""
    remedies: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.message(self.argument)

    def message(self, name: str) -> str:
        """Format the message under another name of the argument."""
        got = f", got {self.got}" if self.got else ""
        return f"{self.context}{name} {self.demand}{got}.{self.hint}"

    def within(self, context: str) -> "ArgumentError":
        """Put a context before the message."""
        error = copy.copy(self)
        error.context = context + self.context
        return error


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a wrong type."""


@contextmanager
def error_context(context: str, *, traced: bool = False) -> Iterator[None]:
    """Put a context before the message of each error in the block; `traced`, keep its traceback."""
    try:
        yield
    except (ValueError, TypeError, RuntimeError) as error:
        cause = error if traced else None
        if isinstance(error, ArgumentError):
            raise error.within(context) from cause
        raise type(error)(f"{context}{error}") from cause


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called gbrank, however deep inside we are."""
    level = 1
    frame = sys._getframe(1)
    # Methods decorated by a context manager are called from contextlib.
    inside = ("gbrank.", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
