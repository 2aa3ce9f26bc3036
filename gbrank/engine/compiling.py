"""How gbrank compiles kernels, the functions of measures, and readers of files."""

import logging
import threading
import warnings
from functools import cache, partial
from typing import Any, cast

import numba
import numpy as np

from gbrank.common.checks import Function
from gbrank.common.progress import in_notebook

from .numba_internals import PLAIN_PYTHON, quick_compiling

# Sums may be reordered, so that loops are vectorised. NaN and infinity keep their meaning: the
# driver's checks rely on it.
FAST_MATH = {"nsz", "reassoc"}


def _compile(
    function: Function, *signature: Any, fastmath: Any = FAST_MATH, **options: Any
) -> Function:
    ours = function.__module__.startswith("gbrank.")
    options["_nrt"] = not ours or "count_references" in vars(function)
    njit: Any = partial(numba.njit, nogil=True, error_model="numpy", fastmath=fastmath, **options)
    # Code loaded from disk imports its module by name, and a plugin's may have another one then.
    if ours:
        try:
            return cast(Function, njit(*signature, cache=True)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _warn_of_no_cache()
        except (AttributeError, ImportError):  # stored by a version that had other modules
            njit(cache=True)(function)._cache.flush()
            return cast(Function, njit(*signature, cache=True)(function))
    return cast(Function, njit(*signature)(function))


def count_references(function: Function) -> Function:
    """Mark a kernel to be compiled with code that counts references to memory.

    It must be if it makes arrays, helpers included. All other functions of gbrank work in memory
    that is theirs already, and compile in three quarters of the time without; but LLVM may then add
    in another order, so that a kernel whose last bits would change is marked, too.
    """
    vars(function)["count_references"] = True
    return function


@cache
def _warn_of_no_cache() -> None:
    """Warn once that nothing can be stored."""
    warnings.warn(
        "numba's cache cannot be written, neither in the package's folder nor in the user's cache "
        "folder: every process recompiles. Set NUMBA_CACHE_DIR to a writable folder.",
        stacklevel=2,
    )


def inline(function: Function) -> Function:
    """Compile a helper into the compiled functions that call it.

    Types are inferred at each call.

    Parameters
    ----------
    function : function
        Python function of numbers, arrays and named tuples, in the subset of Python that numba
        compiles.

    Returns
    -------
    function
        The compiled function.
    """
    return _compile(function, inline="always")


def standalone(function: Function) -> Function:
    """Compile a function on its own, with sums in the order in which they are written.

    Everything that loops call without inlining must be compiled like this. Each loop comes with a
    copy of it, and which copy a process calls depends on what it compiled or loaded first: with
    reordered sums, copies would differ in their last bits.

    Parameters
    ----------
    function : function
        As for `inline`.

    Returns
    -------
    function
        The compiled function.
    """
    return _compile(function, fastmath=False, no_cfunc_wrapper=True)


@cache
def compiled(signature: Any, function: Function) -> Function:
    """Compile a function that Python calls; later processes load gbrank's own from disk."""
    if PLAIN_PYTHON:  # which warns of overflow, as machine code does not
        return np.errstate(all="ignore")(function)
    return _compile_announced(function, signature, no_cfunc_wrapper=True)


@cache
def address(signature: Any, function: Function) -> Any:
    """Compile a function that compiled code calls by its address, and return that."""
    if PLAIN_PYTHON:
        return function
    dispatcher: Any = _compile_announced(function, signature, no_cpython_wrapper=True)
    (code,) = dispatcher.overloads.values()
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_cfunc_wrapper_name))


def _compile_announced(function: Function, signature: Any, **options: Any) -> Function:
    """Compile a function, and announce it if it takes long."""
    timer = threading.Timer(1.0, _announce)
    timer.start()
    try:
        with quick_compiling():
            return _compile(function, signature, **options)
    finally:
        timer.cancel()
        timer.join()


@cache
def _announce() -> None:
    """Announce it once in a process, by the logger "gbrank", or as a line of a notebook."""
    # A first objective, the sort and the measure included, on a processor of today.
    text = "gbrank compiles for this machine: about 10 seconds, once for each objective"
    if in_notebook():
        print(text)
    else:
        logging.getLogger("gbrank").warning(text)
