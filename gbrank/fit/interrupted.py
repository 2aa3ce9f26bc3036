"""Ctrl-C in a fit: the rounds that are done are kept, unless the fit is a part of more."""

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

from gbrank.common.checks import warn_user

T = TypeVar("T")


class FitInterrupted(UserWarning):
    """Ctrl-C ended a fit; the model keeps the rounds that were done."""


_is_part: ContextVar[bool] = ContextVar("_is_part", default=False)


def as_part(fit: Callable[..., T], *arguments: Any) -> T:
    """Call what fits a part of more: Ctrl-C then keeps no rounds, and ends all of it."""
    context = copy_context()  # no Ctrl-C comes too early to set it back
    context.run(_is_part.set, True)
    return context.run(fit, *arguments)


def is_part() -> bool:
    """Return whether this fit is a part of more."""
    return _is_part.get()


def kept(finish: Callable[..., T], *arguments: Any) -> T:
    """Call what comes after the rounds of a fit; again after a Ctrl-C; a second ends it."""
    try:
        return finish(*arguments)
    except KeyboardInterrupt:
        if is_part():
            raise
        warn_user("Fit interrupted after its last round: the model is complete.", FitInterrupted)
        return finish(*arguments)
