"""Ranking by score against NumPy's stable sort."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from gbrank.engine.compiling import FAST_MATH
from gbrank.engine.sorting import LONG, MOVES, rank, rank_again, rank_by_counting

EDGES = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, 1.5, np.nextafter(1.5, 2), 1e300, -1e300, -1e-300]


@numba.njit(error_model="numpy", fastmath=FAST_MATH)  # as the driver is compiled
def ranked(s, ranking, spare, spare_ranking):  # type: ignore[no-untyped-def]
    rank(s, ranking, spare, spare_ranking)


@numba.njit(error_model="numpy", fastmath=FAST_MATH)
def ranked_again(s, ranking):  # type: ignore[no-untyped-def]
    return rank_again(s, ranking)


@numba.njit(error_model="numpy", fastmath=FAST_MATH)
def counted(s, ranking):  # type: ignore[no-untyped-def]
    rank_by_counting(s, ranking)


@pytest.mark.parametrize("m", [1, 2, 4 * MOVES - 1, 50, LONG - 1, LONG, 3 * LONG])
@given(st.integers(0, 99), st.sampled_from(["scattered", "tied", "edges", "near", "equal"]))
@settings(max_examples=15, deadline=None)
def test_rank(m: int, seed: int, kind: str) -> None:
    """Best first; equal scores, among them both zeros, in the order in which they came."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=m) * 10.0 ** rng.integers(-300, 300, m)
    if kind == "tied":
        scores = np.round(rng.normal(size=m))
    elif kind == "edges":
        scores = rng.choice(EDGES, m)
    elif kind == "near":
        scores = 1 + rng.integers(0, 9, m) * np.finfo(float).eps
    elif kind == "equal":
        scores = np.full(m, -2.5)
    expected = np.argsort(-scores, kind="stable")
    found, ranking = scores.copy(), np.empty(m, np.int64)
    ranked(found, ranking, np.empty(m), np.empty(m, np.int64))
    assert_array_equal(ranking, expected)
    assert_array_equal(found, scores[expected])
    counted(scores, ranking)
    assert_array_equal(ranking, expected)


@given(st.integers(0, 99), st.integers(1, LONG), st.sampled_from([0.0, 0.01, 0.1, 10.0]))
@settings(deadline=None)
def test_rank_again(seed: int, m: int, change: float) -> None:
    """From any earlier order to that of a stable sort, unless it takes many moves."""
    rng = np.random.default_rng(seed)
    earlier = np.round(rng.normal(size=m), 1)
    earlier[earlier == 0] = -0.0
    scores = np.round(earlier + change * rng.normal(size=m), 1) + 0.0
    ranking = np.argsort(-earlier, kind="stable")
    found = scores[ranking]
    if ranked_again(found, ranking):
        expected = np.argsort(-scores, kind="stable")
        assert_array_equal(ranking, expected)
        assert_array_equal(found, scores[expected])
    else:
        assert change > 0
        assert m > 2 * MOVES
