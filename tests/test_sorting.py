"""Ranking by score against NumPy's stable sort."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from gbrank.kernels.compiled import FAST_MATH
from gbrank.kernels.sorting import LONG, rank

EDGES = [0.0, -0.0, 5e-324, -5e-324, 1.0, -1.0, 1.5, np.nextafter(1.5, 2), 1e300, -1e300, -1e-300]


@numba.njit(error_model="numpy", fastmath=FAST_MATH)  # as the driver is compiled
def ranked(s, ranking, spare, spare_ranking):  # type: ignore[no-untyped-def]
    rank(s, ranking, spare, spare_ranking)


@pytest.mark.parametrize("m", [1, 2, 50, LONG - 1, LONG, 3 * LONG])
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
