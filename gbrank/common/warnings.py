"""Warnings that name the user's line."""

import sys
import warnings


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called gbrank, however deep inside we are."""
    level, frame = 1, sys._getframe(1)
    # Methods decorated by a context manager are called from contextlib.
    inside = ("gbrank.", "contextlib")
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
