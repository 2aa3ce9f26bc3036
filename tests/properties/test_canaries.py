"""What is nobody's promise: internals of numba and LightGBM, and frames above a booster's callback.

Everything compiled stands on `engine/numba_internals.py`, and every schedule on `callers`.
`.ci/run` runs these first, so that a new release that breaks one is named at once.
"""

import copy
from typing import Any, NamedTuple
from unittest.mock import patch

import lightgbm as lgb
import numba
import numpy as np
import pytest
import xgboost as xgb
from numba.core import inline_closurecall, ir
from numpy.testing import assert_array_equal

from gbrank import lightgbm_fobj, make_cubic, xgboost_obj
from gbrank.boosters.lightgbm.trainer import merge
from gbrank.common.values import Positions, Vector
from gbrank.engine.numba_internals import (
    VECTOR,
    borrow,
    caller_of,
    carve,
    head_of,
    names_copied_once,
    slice_of,
    type_of,
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


functions_at: Any = caller_of(Addresses(numba.float64(numba.float64)))


def walk(outer: Outer, packed: Any, memory: Any, addresses: Addresses) -> float:
    """Write through all that numba_internals.py makes, and read some of it."""
    lent = borrow(outer)
    slice_of(lent.first, 1, 3)[:] = 5.0
    head = head_of(lent, 2)
    head.inner.places[1] = len(head.inner.numbers)
    rows = unpack(memory, Inner)
    rows.numbers[0], rows.places[2] = 7.0, 3
    numbers = unpack(packed, Numbers)
    return functions_at(addresses).twice(numbers.one) + numbers.two


def test_structures_in_compiled_code() -> None:
    """Borrowed, cut, unpacked and called by address: what is written arrives in the arrays."""
    outer = carve(Outer, 4, {})
    for array in (outer.first, *outer.inner):
        array[:] = 0
    twice = numba.cfunc("float64(float64)")(lambda x: 2 * x)
    packed, memory, addresses = np.array([4.0, 0.5]), np.zeros((2, 3)), Addresses(twice.address)
    given = (outer, packed, memory, addresses)
    assert type_of(outer).types[0] == VECTOR
    compiled: Any = numba.njit(tuple(map(type_of, given)), error_model="numpy")(walk)
    assert compiled(*given) == 8.5
    assert_array_equal(outer.first, [0, 5, 5, 0])
    assert_array_equal(outer.inner.places, [0, 2, 0, 0])
    assert_array_equal(memory[1], [7, 0, 0])
    assert memory[0].view(np.int64)[2] == 3


def test_names_of_inlined_functions_are_copied_once() -> None:
    """By one memo for all blocks; numba copies each block by itself."""
    inlined: Any = numba.njit(inline="always")(lambda x: x if x > 0 else -x)
    with patch.object(copy, "deepcopy", wraps=copy.deepcopy) as deepcopy, names_copied_once():
        compiled: Any = numba.njit("float64(float64)")(lambda x: inlined(x) + inlined(2 * x))
    copied = [call.args for call in deepcopy.call_args_list if isinstance(call.args[0], ir.Block)]
    assert len({id(memo) for _, memo in copied}) == 1
    assert inline_closurecall.copy is copy
    assert compiled(-2.0) == 6.0


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
    merge(booster, earlier)
    assert booster.num_trees() == 4
    assert_array_equal(booster.predict(X, num_iteration=3), earlier.predict(X))
