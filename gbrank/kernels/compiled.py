"""How gbrank compiles kernels, the functions of measures, and readers of files."""

import logging
import threading
import warnings
from collections.abc import Callable
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import numba
from numba.extending import intrinsic

Function: TypeAlias = Callable[..., Any]

# Sums may be reordered, so that loops are vectorised. NaN and infinity keep their meaning: the
# driver's checks rely on it.
FAST_MATH = {"nsz", "reassoc"}


def _compile(
    function: Function, *signature: Any, fastmath: Any = FAST_MATH, **options: Any
) -> Function:
    njit: Any = partial(
        numba.njit, *signature, nogil=True, error_model="numpy", fastmath=fastmath, **options
    )
    # Code loaded from disk imports its module by name, and a plugin's may have another one then.
    if function.__module__.startswith("gbrank."):
        try:
            return cast(Function, njit(cache=True)(function))
        except RuntimeError as error:
            if "cannot cache" not in str(error):
                raise
            _warn_of_no_cache()
    return cast(Function, njit()(function))


@cache
def _warn_of_no_cache() -> None:
    """Say once that nothing can be stored."""
    warnings.warn(
        "compiled code cannot be stored, since neither the package's folder nor the user's cache "
        "can be written: every process compiles anew. Set NUMBA_CACHE_DIR to a folder that can.",
        stacklevel=2,
    )


def inline(function: Function) -> Function:
    """Compile a helper that compiled functions call; its types are found at the call."""
    return _compile(function, inline="always")


def plain(function: Function) -> Function:
    """Compile a function on its own, with sums in the order in which they are written.

    Everything that loops call without inlining must be compiled like this. Each loop comes with a
    copy of it, and which copy a process calls depends on what it compiled or loaded first: with
    reordered sums, copies would differ in their last bits.
    """
    return _compile(function, fastmath=False)


@cast(Any, intrinsic)
def borrowed(typing: Any, array: Any) -> Any:
    """Return an array that the caller keeps alive: no reference to it, or to a part, is counted.

    Counting them takes a third of a gradient's time in lists of 15 documents.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        copy = context.make_helper(builder, array, arguments[0])
        copy.meminfo, copy.parent = copy.meminfo.type(None), copy.parent.type(None)
        return copy._getvalue()

    return array(array), generate


@cache
def _tell_what_takes_long() -> None:
    """Say so once in a process, by the logger "gbrank"."""
    logging.getLogger("gbrank").warning(
        "gbrank compiles for this machine: some seconds, once for each objective and measure"
    )


@cache
def compile_for(signature: Any, function: Function) -> Function:
    """Compile a function for one signature; later processes load gbrank's own from disk."""
    timer = threading.Timer(1.0, _tell_what_takes_long)
    timer.start()
    try:
        compiled: Any = _compile(function, signature)
    finally:
        timer.cancel()
        timer.join()
    # If a function is an argument, numba looks up its address in every call, by a hash of all
    # types: 0.05 ms each time.
    (found,) = compiled.overloads.values()
    address = cache(found.library.get_pointer_to_function)
    library = SimpleNamespace(get_pointer_to_function=address)
    result = SimpleNamespace(fndesc=found.fndesc, library=library)
    compiled.get_compile_result = lambda signature: result
    return cast(Function, compiled)
