"""The error of an argument that is not what it should be, and warnings at the user's line."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class ArgumentError(ValueError):
    """An argument is not what it should be: "{place}{argument} {demand}, got {got}.{hint}".

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
    place : str
        Where it was found, as "eval_set[0]: ".
    """

    def __init__(
        self, argument: str, demand: str, got: str = "", hint: str = "", place: str = ""
    ) -> None:
        super().__init__(argument, demand, got, hint, place)  # what pickle makes it from again
        self.argument, self.demand, self.got = argument, demand, got
        self.hint, self.place = hint, place

    def __str__(self) -> str:
        return self.message(self.argument)

    def message(self, name: str) -> str:
        """Format the message under another name of the argument."""
        got = f", got {self.got}" if self.got else ""
        return f"{self.place}{name} {self.demand}{got}.{self.hint}"

    def at(self, place: str) -> "ArgumentError":
        """Put a place before the message."""
        return type(self)(self.argument, self.demand, self.got, self.hint, place + self.place)


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument is of a wrong type."""


@contextmanager
def found_in(place: str, *, traced: bool = False) -> Iterator[None]:
    """Put a place before the message of each error in the block; `traced`, keep its traceback."""
    try:
        yield
    except (ValueError, TypeError, RuntimeError) as error:
        placed = error.at(place) if isinstance(error, ArgumentError) else None
        raise placed or type(error)(f"{place}{error}") from (error if traced else None)


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called gbrank, however deep inside we are."""
    level, frame = 1, sys._getframe(1)
    # Methods decorated by a context manager are called from contextlib.
    inside = ("gbrank.", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
