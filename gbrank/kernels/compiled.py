"""The two signatures of compiled code, and how it is compiled.

A *kernel* handles one query:
``kernel(s, first, last, documents, query, table, params, sigma, noise, prepare, row, work,
gradient, curvature) -> value``. By a *row function* a measure takes part in a kernel:
``row(i, top, first, last, x, query, table, state, out)``.

========= ====================================================================================
s         scores of the query's documents, in rank order (best first), shape (m,)
first     position of the first document with the same score, shape (m,)
last      position after the last document with the same score, shape (m,)
documents constants of each document, in rank order: the first m entries of each row
x         one of these rows, shape (m,)
query     constants of the query
table     constants of each position, shape (m,), or none
params    constants of the objective
sigma     width of the smoothing, in score units
noise     what random numbers are drawn from: it depends on (seed, round, query) only
prepare   a row function that is called once and fills `state`
row       a row function that is called for each i and fills `out`
i, top    position of the row; pairs count if one of them is among the first `top` positions
work      scratch, at least m + 1 wide
state     scratch that `prepare` fills for `row`, at least m + 1 wide
gradient  out, zeroed; empty when only the value is asked for
curvature out, zeroed; empty when only the value is asked for
========= ====================================================================================

A kernel returns the value (loss or measure) of the query when only that is asked for.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

__all__ = [
    "FAST_MATH",
    "KERNEL",
    "NO_ROWS",
    "ROW",
    "Function",
    "Matrix",
    "Positions",
    "Vector",
    "compile_kernel",
    "compile_row",
    "inline",
    "shared",
]

Function: TypeAlias = Callable[..., Any]
Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Positions: TypeAlias = NDArray[np.int64]

# NaN and infinity keep their meaning: the driver's checks rely on it.
FAST_MATH = {"nsz", "arcp", "contract", "afn", "reassoc"}

_vector = types.float64[::1]
_matrix = types.float64[:, ::1]
_positions = types.int64[::1]

ROW = types.FunctionType(
    types.void(
        types.int64, types.int64, _positions, _positions, _vector, _vector, _vector, _matrix,
        _vector,
    )
)  # fmt: skip
KERNEL = types.FunctionType(
    types.float64(
        _vector, _positions, _positions, _matrix, _vector, _vector, _vector, types.float64,
        types.uint64, ROW, ROW, _matrix, _vector, _vector,
    )
)  # fmt: skip


def inline(function: Function) -> Function:
    """Compile a helper that kernels call; its types are found at the call."""
    compiled: Function = numba.njit(
        nogil=True, cache=True, error_model="numpy", fastmath=FAST_MATH, inline="always"
    )(function)
    return compiled


def shared(function: Function) -> Function:
    """Compile a long helper that is called in several places, once for each kind of arguments."""
    compiled: Function = numba.njit(
        nogil=True, cache=True, error_model="numpy", fastmath=FAST_MATH
    )(function)
    return compiled


def _compile(function: Function, signature: types.FunctionType, cached: bool) -> Function:
    # What is stored on disk imports its module when it is loaded: a plugin's may have another name.
    stored = cached and function.__module__.startswith("gbrank.")
    compiled: Function = numba.njit(
        signature.signature, nogil=True, cache=stored, error_model="numpy", fastmath=FAST_MATH
    )(function)
    return compiled


@cache
def compile_kernel(function: Function, cached: bool = True) -> Function:
    """Compile a kernel when it is first needed; later processes load gbrank's own from disk."""
    return _compile(function, KERNEL, cached)


@cache
def compile_row(function: Function) -> Function:
    """Compile a row function when it is first needed."""
    return _compile(function, ROW, cached=True)


def no_rows(
    i: int, top: int, first: Positions, last: Positions,
    x: Vector, query: Vector, table: Vector, state: Matrix, out: Vector,
) -> None:  # fmt: skip
    """Stand in for the row functions of a kernel that calls none."""


NO_ROWS: tuple[Function, Function] = (no_rows, no_rows)
