"""Structures of arrays in compiled code: the one file that stands on numba's internals.

What a kernel, a measure or the driver's loop works with is declared as a named tuple: its
`Vector`s and `Positions` are as long as the longest list, its matrices have such rows, and other
named tuples may be among its fields. `carve` lays all of them out in one buffer. That is plain
Python; what follows is not.

Why. numba counts references to an array whenever a structure that holds it is copied, and it checks
every slice. Without this file, by plain numba, gradients of lists of 12 documents take 2 to 3.7
times as long, and those of 1,000 documents 18 to 25 times. So six functions write machine code
(LLVM's) in place of Python. They promise:

`borrow(structure)`
    The same structure, whose arrays have no owner, so that no references are counted. The caller
    keeps the arrays alive: what is borrowed is neither returned nor kept. numba drops an array
    after its last use, so that a function that borrows from arrays of its own uses these once more
    at its end.
`slice_of(structure, begin, end)`
    ``array[begin:end]`` of a vector, or the structure of such slices of its vectors, unchecked:
    0 ≤ begin ≤ end ≤ size is the caller's promise.
`unpack(memory, cls)`
    The structure `cls` in the first rows of a matrix, in the order of its fields, or one of numbers
    in the first entries of a vector. To a kernel, the memory of all measures is of one type, so
    that it need not be compiled for each.
`stack_matrix(rows, columns)`
    An uninitialised matrix of constant shape on the stack, so that compiled functions need not
    allocate memory. It lives until the function returns into which it is compiled.
`bits_of(vector, dtype)`
    ``vector.view(dtype)`` for integers of 64 bits, which compiles much faster.
`caller_of(signatures)`
    A compiled function that makes callable functions of addresses. A measure's functions are called
    so; a wrong signature is not noticed.

With ``NUMBA_DISABLE_JIT=1`` numba compiles nothing, and each of the six is the plain function
that stands beside it: kernels run, slowly, as the Python that they are written in.

Around compiling stands `quick_compiling()`. numba copies a function that it inlines twice, block by
block, each with all names of the function (its issue 8989), and lists all of its flags whenever it
looks some up: that was a third of what compiling took. The option `_nrt` of `numba.jit`, False for
functions that allocate nothing, leaves out the counting of references, which takes a fifth.

What may change with a release of numba: that `types.BaseTuple.from_types` is the type of a named
tuple; the fields of an array in memory (`data`, `shape`, `meminfo`, `parent`:
numba/core/datamodel/models.py, `ArrayModel`), and `populate_array`, which fills them; those of a
function (`c_addr`, `py_addr`, `jit_addr`: numba/experimental/function_type.py); the interface of
`numba.extending.intrinsic`; that `InlineWorker.inline_ir` copies blocks by `copy.deepcopy`; that
the hash of a `TargetConfig` depends on the names of its options alone; and the option `_nrt`.

When it breaks: tests/properties/test_canaries.py runs all six in one function, and CI runs it
before all else. Compare `_vector_in` with numba's own `basic_indexing` (numba/np/arrayobj.py), and
`caller_of` with `lower_constant_function_type`; numba/tests/test_extending.py shows how an
intrinsic is written. `NUMBA_BOUNDSCHECK=1` checks indices of arrays, those cut here included, at
their size.
"""

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np
from numba import config, typeof, types
from numba.core import cgutils, inline_closurecall
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import impl_ret_borrowed
from numba.core.targetconfig import TargetConfig
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from gbrank.common.checks import Function, Matrix, Positions

T = TypeVar("T")

# Whether kernels run as plain Python, for a debugger to see.
PLAIN_PYTHON = bool(vars(config)["DISABLE_JIT"])

# Bytes, in which the processor fetches memory.
CACHE_LINE = 64

REAL = types.float64
INTEGER = types.int64
VECTOR = types.float64[::1]
MATRIX = types.float64[:, ::1]
POSITIONS = types.int64[::1]


def tuple_type(cls: Any, *fields: Any) -> Any:
    """Return the type of a named tuple in compiled code."""
    return types.BaseTuple.from_types(fields, cls)


def memory_rows(cls: Any, rows: Mapping[str, int]) -> int:
    """Return how many rows of memory a structure takes: a vector takes one, a matrix its own.

    `rows` says which of its fields are matrices, and how many rows they have.
    """
    return sum(
        memory_rows(kind, rows) if _is_structure(kind) else rows.get(name, 1)
        for name, kind in _kinds(cls).items()
    )


def carve(cls: type[T], length: int, rows: Mapping[str, int]) -> T:
    """Return a structure whose arrays lie one after another in a new buffer."""
    return cast(T, _carve(cls, rows, np.empty((memory_rows(cls, rows), length))))


def _carve(cls: Any, rows: Mapping[str, int], memory: Matrix) -> Any:
    """Make a structure of the first rows of a matrix."""
    made = []
    for name, kind in _kinds(cls).items():
        if _is_structure(kind):
            made.append(_carve(kind, rows, memory))
            memory = memory[memory_rows(kind, rows) :]
            continue
        array: Any = memory[: rows[name]] if name in rows else memory[0]
        made.append(array.view(np.int64) if kind == Positions else array)
        memory = memory[rows.get(name, 1) :]
    return cls(*made)


_kinds = cache(get_type_hints)


def _is_structure(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "_fields")


def _rebuilt(make: Function, context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return a structure in which `make(kind, value)` stands for each array and number."""
    if not isinstance(kind, types.BaseTuple):
        return make(kind, value)
    kinds = kind.types  # type: ignore[attr-defined]
    items = zip(kinds, cgutils.unpack_tuple(builder, value), strict=True)
    made = [_rebuilt(make, context, builder, *item) for item in items]
    return context.make_tuple(builder, kind, made)


def machine_code(plain: Function, prefer_literal: bool = False) -> Any:
    """Make an intrinsic of a function; if numba does not compile, `plain` stands for it."""
    made: Any = intrinsic(prefer_literal=prefer_literal)
    return lambda function: plain if PLAIN_PYTHON else made(function)


@machine_code(plain=lambda structure: structure)
def borrow(typing: Any, structure: Any) -> Any:
    """Return a structure whose arrays the caller keeps alive: no references are counted.

    Counting them takes a third of a gradient's time in lists of 15 documents.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def without_owner(kind: Any, value: Any) -> Any:
            if not isinstance(kind, types.Array):
                return value
            copy = context.make_helper(builder, kind, value)
            copy.meminfo = copy.meminfo.type(None)
            copy.parent = copy.parent.type(None)
            return copy._getvalue()

        return _rebuilt(without_owner, context, builder, structure, arguments[0])

    return structure(structure), generate


def _sliced(structure: Any, begin: int, end: int) -> Any:
    if isinstance(structure, tuple):
        return type(structure)(*(_sliced(item, begin, end) for item in structure))
    return structure[begin:end]


@machine_code(plain=_sliced)
def slice_of(typing: Any, structure: Any, begin: Any, end: Any) -> Any:
    """Return ``array[begin:end]`` of a vector unchecked, which compiles much faster.

    Of a named tuple of vectors, it is that of each. Only compiled functions may call it.

    Parameters
    ----------
    structure : ndarray, shape (n,), or named tuple of them
    begin, end : int
        Bounds, which must hold 0 ≤ begin ≤ end ≤ n.

    Returns
    -------
    ndarray, shape (end − begin,), or named tuple of them
        A view.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole, first, last = arguments
        size = builder.sub(last, first)

        def cut(kind: Any, value: Any) -> Any:
            start = context.make_helper(builder, kind, value)
            pointer = builder.gep(start.data, [first])
            return _vector_in(start, context, builder, kind, pointer, size)

        return _rebuilt(cut, context, builder, structure, whole)

    return structure(structure, types.intp, types.intp), generate


@machine_code(plain=lambda rows, columns: np.empty((rows, columns)), prefer_literal=True)
def stack_matrix(typing: Any, rows: Any, columns: Any) -> Any:
    """Return a matrix of constant shape that lives until the compiled function returns."""
    shape = (rows.literal_value, columns.literal_value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        real = context.get_data_type(REAL)
        item = context.get_abi_sizeof(real)
        data = cgutils.alloca_once(builder, real, shape[0] * shape[1])
        data.align = CACHE_LINE
        matrix = context.make_array(MATRIX)(context, builder)
        populate_array(
            matrix,
            data=data,
            shape=[*map(cgutils.intp_t, shape)],
            strides=[*map(cgutils.intp_t, (shape[1] * item, item))],
            itemsize=item,
            meminfo=None,
        )
        return matrix._getvalue()

    return MATRIX(rows, columns), generate


@machine_code(plain=lambda vector, dtype: vector.view(dtype))
def bits_of(typing: Any, vector: Any, dtype: Any) -> Any:
    """Return ``vector.view(dtype)`` of a vector of doubles, for an integer type of 64 bits."""
    kind = dtype.dtype[::1]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_helper(builder, vector, arguments[0])
        (size,) = cgutils.unpack_tuple(builder, start.shape)
        return _vector_in(start, context, builder, kind, start.data, size)

    return kind(vector, dtype), generate


def _unpacked(memory: Any, cls: Any) -> Any:
    return _carve(cls, {}, memory) if memory.ndim == 2 else cls(*memory[: memory_rows(cls, {})])


@machine_code(plain=_unpacked)
def unpack(typing: Any, memory: Any, cls: Any) -> Any:
    """Return a structure in the rows of a matrix, or one of numbers in a vector.

    Only compiled functions may call it.

    Parameters
    ----------
    memory : ndarray, shape (n_rows, length) or (n_numbers,)
        Memory or constants of a measure, as `Ranking` has them.
    cls : type
        The named tuple that the measure declares for them.

    Returns
    -------
    named tuple
        An instance of it, of views or of numbers.
    """
    declared = cls.instance_class
    numbers = tuple_type(declared, *[REAL for _ in _kinds(declared)])
    structure = typeof(carve(declared, 1, {})) if memory.ndim == 2 else numbers

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_helper(builder, memory, arguments[0])
        size = cgutils.unpack_tuple(builder, start.shape)[-1]
        count = itertools.count()

        def build(kind: Any) -> Any:
            if isinstance(kind, types.BaseTuple):
                kinds = kind.types  # type: ignore[attr-defined]
                return context.make_tuple(builder, kind, [*map(build, kinds)])
            number = cgutils.intp_t(next(count))
            if not isinstance(kind, types.Array):
                return builder.load(builder.gep(start.data, [number]))
            pointer = builder.gep(start.data, [builder.mul(number, size)])
            return _vector_in(start, context, builder, kind, pointer, size)

        return build(structure)

    return structure(memory, cls), generate


def _vector_in(start: Any, context: Any, builder: Any, kind: Any, pointer: Any, size: Any) -> Any:
    """Return a vector in the memory of an array."""
    item_type = context.get_data_type(kind.dtype)
    item = context.get_abi_sizeof(item_type)
    vector = context.make_array(kind)(context, builder)
    populate_array(
        vector,
        data=builder.bitcast(pointer, item_type.as_pointer()),
        shape=[size],
        strides=[cgutils.intp_t(item)],
        itemsize=item,
        meminfo=start.meminfo,
        parent=start.parent,
    )
    return impl_ret_borrowed(context, builder, kind, vector._getvalue())


def caller_of(signatures: Any) -> Function:
    """Return the function from a structure of addresses to that of the functions that are there."""
    kinds = [types.FunctionType(signature) for signature in signatures]

    @machine_code(plain=lambda functions: functions)
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

    return functions_at


@contextmanager
def quick_compiling() -> Iterator[None]:
    """Let numba copy what it inlines once, names included, and look up its flags quickly."""
    with global_compiler_lock:  # other threads compile before or after
        inline_closurecall.copy = cast(Any, SimpleNamespace(**vars(copy) | {"deepcopy": _copier()}))
        _compare_flags_by(_hash_of_flags, _same_flags)
        try:
            yield
        finally:
            inline_closurecall.copy = copy
            _compare_flags_by(_numbas_hash, _numbas_equality)


def _copier() -> Callable[[Any], Any]:
    """Return what copies a function's blocks with one memo, and no block of a copy again."""
    memo: dict[int, Any] = {}
    copied_scope: Any = None

    def deepcopy(block: Any) -> Any:
        nonlocal copied_scope
        if block.scope is copied_scope:  # the second copy, which numba returns and does not use
            return block
        if id(block.scope) not in memo or id(block) in memo:  # of another function, or copied anew
            memo.clear()
        copied = copy.deepcopy(block, memo)
        copied_scope = copied.scope
        return copied

    return deepcopy


# numba looks up flags 10,000 times a kernel, and each time lists all their options.
_numbas_hash = TargetConfig.__hash__
_numbas_equality = TargetConfig.__eq__


def _compare_flags_by(hash_of: Callable[..., int], equality: Callable[..., bool]) -> None:
    TargetConfig.__hash__ = hash_of  # type: ignore[method-assign]
    TargetConfig.__eq__ = equality  # type: ignore[method-assign]


@cache
def _hash_of_kind(kind: type[TargetConfig]) -> int:
    return _numbas_hash(kind())


def _hash_of_flags(flags: TargetConfig) -> int:
    """Return numba's own hash, which depends on the names of the options alone."""
    return _hash_of_kind(type(flags))


def _same_flags(flags: TargetConfig, other: Any) -> bool:
    """Compare the options that are set."""
    if flags is other:
        return True
    if type(flags) is not type(other):
        return _numbas_equality(flags, other)
    names = flags._values.keys() | other._values.keys()
    return all(getattr(flags, name) == getattr(other, name) for name in names)
