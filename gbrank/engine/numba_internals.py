"""Structures of arrays in compiled code: the one file that stands on numba's internals.

What a kernel, a measure or the driver's loop works with is declared as a named tuple: its
`Vector`s and `Positions` are as long as the longest list, its matrices have such rows, and other
named tuples may be among its fields. `carve` lays all of them out in one buffer. That is plain
Python; what follows is not.

Why. numba counts references to an array whenever a structure that holds it is copied, and it checks
every slice. Without this file, by plain numba, gradients of lists of 12 documents take 2 to 3.7
times as long, and those of 1,000 documents 18 to 25 times. So five functions write machine code
(LLVM's) in place of Python. They promise:

`borrow(structure)`
    The same structure, whose arrays have no owner, so that no references are counted. The caller
    keeps the arrays alive: what is borrowed is neither returned nor kept. numba drops an array
    after its last use, so that a function that borrows from arrays of its own uses these once more
    at its end.
`slice_of(array, begin, end)`
    ``array[begin:end]`` of a vector, unchecked: 0 ≤ begin ≤ end ≤ size is the caller's promise.
`head_of(structure, n)`
    The structure with the first n entries of each of its vectors, unchecked.
`unpack(memory, cls)`
    The structure `cls` in the first rows of a matrix, in the order of its fields, or one of numbers
    in the first entries of a vector. To a kernel, the memory of all measures is of one type, so
    that it need not be compiled for each.
`caller_of(signatures)`
    A compiled function that makes callable functions of addresses. A measure's functions are called
    so; a wrong signature is not noticed.

Around compiling stands `names_copied_once()`. numba copies a function that it inlines block by
block, each with all names of the function (its issue 8989), which was a quarter of what compiling
took.

What may change with a release of numba: that `types.BaseTuple.from_types` is the type of a named
tuple; the fields of an array in memory (`data`, `shape`, `strides`, `itemsize`, `nitems`,
`meminfo`, `parent`: numba/core/datamodel/models.py, `ArrayModel`); those of a function (`c_addr`,
`py_addr`, `jit_addr`: numba/experimental/function_type.py); the interface of
`numba.extending.intrinsic`; and that `InlineWorker.inline_ir` copies blocks by `copy.deepcopy`.

When it breaks: tests/properties/test_canaries.py runs all five in one function, and CI runs it
before all else. Compare `_vector_in` with numba's own `basic_indexing` (numba/np/arrayobj.py), and
`caller_of` with `lower_constant_function_type`; numba/tests/test_extending.py shows how an
intrinsic is written. `NUMBA_BOUNDSCHECK=1` checks indices of arrays, those cut here included, at
their size.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np
from numba import types
from numba.core import cgutils, inline_closurecall
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from gbrank.common.values import Positions, Vector

T = TypeVar("T")

REAL, INTEGER = types.float64, types.int64
VECTOR, MATRIX, POSITIONS = types.float64[::1], types.float64[:, ::1], types.int64[::1]


def tuple_type(cls: Any, *fields: Any) -> Any:
    """Return the type of a named tuple in compiled code."""
    return types.BaseTuple.from_types(fields, cls)


def type_of(value: Any) -> Any:
    """Return the type that compiled code has for a number, an array or a structure."""
    if isinstance(value, tuple):
        return tuple_type(type(value), *map(type_of, value))
    if isinstance(value, np.ndarray):
        return _array_type(value.dtype, value.ndim)
    return {bool: types.boolean, int: INTEGER, float: REAL}[type(value)]


@cache
def _array_type(dtype: np.dtype[Any], ndim: int) -> Any:
    return types.Array(getattr(types, dtype.name), ndim, "C")


def n_vectors(cls: Any) -> int:
    """Return how many vectors a structure has, those of its structures included."""
    return sum(n_vectors(kind) if _is_structure(kind) else 1 for kind in _kinds(cls).values())


def carve(cls: type[T], length: int, rows: Mapping[str, int]) -> T:
    """Return a structure whose arrays lie one after another in a new buffer.

    `rows` says which of its fields are matrices, and how many rows they have.
    """
    buffer = np.empty(sum(_counts(cls, rows)) * length)
    return cast(T, _carve(cls, rows, np.split(buffer, np.cumsum([*_counts(cls, rows)]) * length)))


def _counts(cls: Any, rows: Mapping[str, int]) -> Iterator[int]:
    """Yield how many rows each array has."""
    for name, kind in _kinds(cls).items():
        if _is_structure(kind):
            yield from _counts(kind, rows)
        else:
            yield rows.get(name, 1)


def _carve(cls: Any, rows: Mapping[str, int], pieces: list[Vector]) -> Any:
    """Make a structure of the first of the pieces, and take these away."""
    made = []
    for name, kind in _kinds(cls).items():
        if _is_structure(kind):
            made.append(_carve(kind, rows, pieces))
            continue
        piece: Any = pieces.pop(0)
        if name in rows:
            piece = piece.reshape(rows[name], -1)
        made.append(piece.view(np.int64) if kind == Positions else piece)
    return cls(*made)


@cache
def _kinds(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls)


def _is_structure(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "_fields")


def _fields_of(kind: Any) -> tuple[Any, ...]:
    return tuple(kind.types)


def _rebuilt(make: Callable[..., Any], context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return a structure in which `make(kind, value)` stands for each array and number."""
    if not isinstance(kind, types.BaseTuple):
        return make(kind, value)
    items = zip(_fields_of(kind), cgutils.unpack_tuple(builder, value), strict=True)
    made = [_rebuilt(make, context, builder, *item) for item in items]
    return context.make_tuple(builder, kind, made)


@cast(Any, intrinsic)
def borrow(typing: Any, structure: Any) -> Any:
    """Return a structure whose arrays the caller keeps alive: no references are counted.

    Counting them takes a third of a gradient's time in lists of 15 documents.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def without_owner(kind: Any, value: Any) -> Any:
            if not isinstance(kind, types.Array):
                return value
            copy = context.make_helper(builder, kind, value)
            copy.meminfo, copy.parent = copy.meminfo.type(None), copy.parent.type(None)
            return copy._getvalue()

        return _rebuilt(without_owner, context, builder, structure, arguments[0])

    return structure(structure), generate


@cast(Any, intrinsic)
def slice_of(typing: Any, array: Any, begin: Any, end: Any) -> Any:
    """Return ``array[begin:end]`` of a vector unchecked, which compiles much faster."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        first, last = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
        )
        start = context.make_helper(builder, array, arguments[0])
        place = builder.gep(start.data, [first])
        vector = _vector_in(start, context, builder, array, place, builder.sub(last, first))
        return impl_ret_borrowed(context, builder, array, vector)

    return array(array, begin, end), generate


@cast(Any, intrinsic)
def head_of(typing: Any, structure: Any, n: Any) -> Any:
    """Return a structure with the first n entries of each of its vectors, unchecked."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        size = context.cast(builder, arguments[1], signature.args[1], types.intp)

        def cut(kind: Any, value: Any) -> Any:
            start = context.make_helper(builder, kind, value)
            return _vector_in(start, context, builder, kind, start.data, size)

        heads = _rebuilt(cut, context, builder, structure, arguments[0])
        return impl_ret_borrowed(context, builder, structure, heads)

    return structure(structure, n), generate


@cast(Any, intrinsic)
def unpack(typing: Any, memory: Any, cls: Any) -> Any:
    """Return a structure in the rows of a matrix, or one of numbers in a vector."""
    declared = cls.instance_class
    numbers = tuple_type(declared, *[REAL for _ in _kinds(declared)])
    structure = type_of(carve(declared, 1, {})) if memory.ndim == 2 else numbers

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_helper(builder, memory, arguments[0])
        size = cgutils.unpack_tuple(builder, start.shape)[-1]
        count = iter(range(n_vectors(declared)))

        def build(kind: Any) -> Any:
            if isinstance(kind, types.BaseTuple):
                return context.make_tuple(builder, kind, [build(item) for item in _fields_of(kind)])
            number = cgutils.intp_t(next(count))
            if not isinstance(kind, types.Array):
                return builder.load(builder.gep(start.data, [number]))
            place = builder.gep(start.data, [builder.mul(number, size)])
            return _vector_in(start, context, builder, kind, place, size)

        return impl_ret_borrowed(context, builder, structure, build(structure))

    return structure(memory, cls), generate


def _vector_in(start: Any, context: Any, builder: Any, kind: Any, place: Any, size: Any) -> Any:
    """Return a vector in the memory of an array."""
    vector = context.make_array(kind)(context, builder)
    pointer = context.get_data_type(kind.dtype).as_pointer()
    item = context.get_constant(types.intp, context.get_abi_sizeof(pointer.pointee))
    vector.data = builder.bitcast(place, pointer)
    vector.shape, vector.strides = (cgutils.pack_array(builder, [each]) for each in (size, item))
    vector.itemsize, vector.nitems = item, size
    vector.meminfo, vector.parent = start.meminfo, start.parent
    return vector._getvalue()


def caller_of(signatures: Any) -> Callable[..., Any]:
    """Return the function from a structure of addresses to that of the functions that are there."""
    kinds = [types.FunctionType(signature) for signature in signatures]

    @cast(Any, intrinsic)
    def functions_at(typing: Any, addresses: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = []
            for kind, value in zip(kinds, cgutils.unpack_tuple(builder, arguments[0]), strict=True):
                function = cgutils.create_struct_proxy(kind)(context, builder)
                function.c_addr = builder.inttoptr(value, cgutils.voidptr_t)
                function.py_addr = function.jit_addr = cgutils.voidptr_t(None)
                made.append(function._getvalue())
            return context.make_tuple(builder, functions, made)

        functions = tuple_type(type(signatures), *kinds)
        return functions(addresses), generate

    return cast(Callable[..., Any], functions_at)


@contextmanager
def names_copied_once() -> Iterator[None]:
    """Let numba copy the names of a function that it inlines once, and not with each block."""
    memo: dict[int, Any] = {}

    def deepcopy(block: Any) -> Any:
        if id(block.scope) not in memo or id(block) in memo:  # of another function, or copied anew
            memo.clear()
        return copy.deepcopy(block, memo)

    with global_compiler_lock:  # other threads compile before or after
        inline_closurecall.copy = cast(Any, SimpleNamespace(**vars(copy) | {"deepcopy": deepcopy}))
        try:
            yield
        finally:
            inline_closurecall.copy = copy
