"""TieRank of ERR: against all roundings and all orders, and differences of its own value."""

from itertools import permutations, product

import numpy as np
import pytest

from benchmarks.papers.tied_err import MAX_GRADE, expected_err
from gbrank import ERR


@pytest.mark.parametrize("seed", range(3))
def test_expected_err(seed: int) -> None:
    """Each rounding by its probability, its ties by all orders."""
    random = np.random.default_rng(seed)
    scores, labels = random.uniform(-1, 1.5, 4), random.integers(0, MAX_GRADE + 1, 4)
    err = ERR(max_grade=MAX_GRADE)
    expected = 0.0
    for ups in product((0, 1), repeat=4):
        levels = np.floor(scores) + ups
        part = scores - np.floor(scores)
        spline = 2 * part**3 - 3 * part**2 + 1
        values = [
            err(labels[list(order)], 10 * levels[list(order)] - np.arange(4))
            for order in permutations(range(4))
        ]
        expected += np.prod(np.where(ups, 1 - spline, spline)) * np.mean(values)
    chances = (2.0**labels - 1) / 2**MAX_GRADE
    value, slopes = expected_err(scores, chances)
    assert value == pytest.approx(expected)
    for i, unit in enumerate(1e-6 * np.eye(4)):
        above, below = (expected_err(scores + way * unit, chances)[0] for way in (1, -1))
        assert slopes[i] == pytest.approx((above - below) / 2e-6, abs=1e-8)
