"""What is nobody's promise: internals of numba and LightGBM, and frames above a booster's callback.

Everything compiled stands on `engine/numba_internals.py`, and every schedule on `callers`.
`.ci/run` runs these first, so that a new release that breaks one is named at once.
"""

import copy
from contextlib import nullcontext
from typing import Any, NamedTuple
from unittest.mock import patch

import lightgbm as lgb
import numba
import numpy as np
import pytest
import xgboost as xgb
from lightgbm.basic import _LIB, _safe_call
from numba.core import inline_closurecall, ir
from numba.core.compiler import Flags
from numba.core.targetconfig import TargetConfig
from numpy.testing import assert_array_equal

from gbrank import lightgbm_fobj, make_cubic, xgboost_obj
from gbrank.common.checks import Positions, Vector
from gbrank.engine.numba_internals import (
    VECTOR,
    bits_of,
    borrow,
    caller_of,
    carve,
    quick_compiling,
    slice_of,
    stack_matrix,
    unpack,
)
from gbrank.schedules import staircase


class Inner(NamedTuple):
    """A structure in another one."""

    places: Positions
    numbers: Vector


class Outer(NamedTuple):
    """Vectors and a structure."""

    first: Vector
    inner: Inner


class Numbers(NamedTuple):
    """What is unpacked from a vector."""

    one: float
    two: float


class Addresses(NamedTuple):
    """The address of a function."""

    twice: Any


njit: Any = numba.njit  # whose option `_nrt` has no type
SIDE, SIGN = 5, np.int64(-(2**63))
functions_at: Any = caller_of(Addresses(numba.float64(numba.float64)))


def walk(outer: Outer, packed: Any, memory: Any, addresses: Addresses) -> float:
    """Write through all that numba_internals.py makes, and read some of it."""
    lent = borrow(outer)
    slice_of(lent.first, 1, 3)[:] = 5.0
    head = slice_of(lent, 0, 2)
    head.inner.places[1] = len(head.inner.numbers)
    rows = unpack(memory, Inner)
    rows.numbers[0], rows.places[2] = 7.0, 3
    numbers = unpack(packed, Numbers)
    local = stack_matrix(3, SIDE)
    local[2, SIDE - 1] = -0.0
    bits = bits_of(local[2], np.int64)
    bits[0] = bits[SIDE - 1] ^ SIGN
    head.first[1] += local[2, 0]  # 0.0, unless a bit is wrong
    return functions_at(addresses).twice(numbers.one) + numbers.two


def test_structures_in_compiled_code() -> None:
    """Borrowed, cut, unpacked, on the stack and called by address: what is written arrives."""
    outer = carve(Outer, 4, {})
    for array in (outer.first, *outer.inner):
        array[:] = 0
    twice = numba.cfunc("float64(float64)")(lambda x: 2 * x)
    packed, memory, addresses = np.array([4.0, 0.5]), np.zeros((2, 3)), Addresses(twice.address)
    given = (outer, packed, memory, addresses)
    assert numba.typeof(outer).types[0] == VECTOR
    signature = tuple(map(numba.typeof, given))
    compiled: Any = njit(signature, error_model="numpy", _nrt=False)(walk)
    assert compiled(*given) == 8.5
    assert_array_equal(outer.first, [0, 5, 5, 0])
    assert_array_equal(outer.inner.places, [0, 2, 0, 0])
    assert_array_equal(memory[1], [7, 0, 0])
    assert memory[0].view(np.int64)[2] == 3


def copied_blocks(compiling: Any) -> list[Any]:
    """Return blocks and memos of the copies that numba makes where it inlines a function twice."""
    inlined: Any = numba.njit(inline="always")(lambda x: x if x > 0 else -x)
    with patch.object(copy, "deepcopy", wraps=copy.deepcopy) as deepcopy, compiling:
        compiled: Any = numba.njit("float64(float64)")(lambda x: inlined(x) + inlined(2 * x))
    assert compiled(-2.0) == 6.0
    return [call.args for call in deepcopy.call_args_list if isinstance(call.args[0], ir.Block)]


def test_inlined_functions_are_copied_once() -> None:
    """By one memo for all blocks, and once; numba copies each block by itself, and twice."""
    copied = copied_blocks(quick_compiling())
    assert len({id(memo) for _, memo in copied}) == 1
    assert 2 * len(copied) == len(copied_blocks(nullcontext()))
    assert inline_closurecall.copy is copy


def test_flags_are_compared_as_numba_does() -> None:
    """By the same hash, and equal if all options are, whether they are set or not."""
    plain: Any = Flags()
    default: Any = Flags()
    other: Any = Flags()
    default.nrt = False
    other.nrt = True
    numbas_hash = TargetConfig.__hash__
    assert hash(plain) == hash(other)
    with quick_compiling():
        assert TargetConfig.__hash__ is not numbas_hash
        assert hash(plain) == numbas_hash(plain)
        assert plain == default
        assert plain != other
        assert default != other
        assert plain != 1
    assert TargetConfig.__hash__ is numbas_hash


def test_references_are_not_counted() -> None:
    """With numba's option `_nrt`: no function of its run-time is called."""
    code = []
    for counted in (True, False):
        function: Any = njit("float64[::1](float64[::1])", _nrt=counted)(lambda x: x)
        code.append("".join(function.inspect_llvm().values()))
    assert ["NRT_incref" in text for text in code] == [True, False]


@pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])
def test_a_booster_is_found_above_its_callback(booster: str) -> None:
    """The hook knows the round, which no booster tells it, also when training goes on."""
    X, y, qid = make_cubic(6, n_documents=8, n_features=3, random_state=0)
    sizes, sigma = np.bincount(qid), staircase(8.0, 0.5, 1)
    if booster == "lightgbm":
        hook: Any = lightgbm_fobj("regression", sigma)
        params: dict[str, Any] = {"objective": hook, "verbosity": -1, "min_data_in_leaf": 2}
        data = lgb.Dataset(X, y, group=sizes, free_raw_data=False)
        first = lgb.train(params, data, 2)
        lgb.train(params, data, 1, init_model=first)
    else:
        hook = xgboost_obj("regression", sigma)
        theirs = xgb.DMatrix(X, y, group=sizes)
        model = xgb.train({}, theirs, 2, obj=hook)
        xgb.train({}, theirs, 1, obj=hook, xgb_model=model)
    assert_array_equal(hook.sigmas, [8.0, 4.0, 2.0])


def test_lightgbm_merges_boosters() -> None:
    """By its C interface: the earlier trees come first, and count."""
    X, y, _ = make_cubic(20, n_documents=10, random_state=0)
    params = {"verbosity": -1, "num_threads": 1}
    earlier = lgb.train(params, lgb.Dataset(X, y), 3)
    booster = lgb.Booster(params, lgb.Dataset(X, y - earlier.predict(X)))
    booster.update()
    _safe_call(_LIB.LGBM_BoosterMerge(booster._handle, earlier._handle))
    assert booster.num_trees() == 4
    assert_array_equal(booster.predict(X, num_iteration=3), earlier.predict(X))
