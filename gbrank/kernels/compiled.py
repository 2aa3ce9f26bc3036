"""How kernels, and the functions by which measures take part, are compiled."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "FAST_MATH",
    "Function",
    "Matrix",
    "Positions",
    "Vector",
    "compile_for",
    "inline",
    "shared",
]

Function: TypeAlias = Callable[..., Any]
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.int64]

# NaN and infinity keep their meaning: the driver's checks rely on it.
FAST_MATH = {"nsz", "arcp", "contract", "afn", "reassoc"}


def _stored(function: Function) -> bool:
    # What is stored on disk imports its module when it is loaded: a plugin's may have another name.
    return function.__module__.startswith("gbrank.")


def _compile(function: Function, *signature: Any, **options: Any) -> Function:
    njit: Any = numba.njit
    compiled: Function = njit(
        *signature,
        nogil=True,
        cache=_stored(function),
        error_model="numpy",
        fastmath=FAST_MATH,
        **options,
    )(function)
    return compiled


def inline(function: Function) -> Function:
    """Compile a helper that compiled functions call; its types are found at the call."""
    return _compile(function, inline="always")


def shared(function: Function) -> Function:
    """Compile a long helper that is called in several places, once for each kind of arguments."""
    return _compile(function)


@cache
def compile_for(signature: Any, function: Function) -> Function:
    """Compile a function for one signature; later processes load gbrank's own from disk."""
    return _compile(function, signature)
