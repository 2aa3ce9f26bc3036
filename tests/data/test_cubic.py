"""Artificial data: random cubic polynomials."""

import itertools
from typing import Any

import numpy as np
import pytest

from gbrank import make_cubic
from reference import assert_same_bits


def test_cubic_has_the_shape_of_the_paper() -> None:
    X, y, qid = make_cubic(40, random_state=3)
    assert X.shape == (2000, 50)
    assert [X.dtype, y.dtype, qid.dtype] == [np.float64, np.float64, np.int64]
    np.testing.assert_array_equal(qid, np.repeat(np.arange(40), 50))
    np.testing.assert_array_equal(np.bincount(y.astype(int)), [1040, 640, 260, 40, 20])
    assert np.abs(X).max() <= 1
    # Moments of the uniform distribution, with five standard errors each.
    assert abs(X.mean()) < 5 * np.sqrt(1 / 3 / X.size)
    assert abs((X**2).mean() - 1 / 3) < 5 * np.sqrt(4 / 45 / X.size)


@pytest.mark.parametrize("distribution", [(0.5, 0.5), (1.0,), (0, 0.25, 0.75), (0.33, 0.33, 0.34)])
def test_cubic_has_the_shares_asked_for(distribution: tuple[float, ...]) -> None:
    _, y, _ = make_cubic(7, n_documents=11, n_features=3, distribution=distribution, random_state=0)
    counts = np.bincount(y.astype(int), minlength=len(distribution))
    assert counts.sum() == 77
    assert np.abs(counts - 77 * np.array(distribution)).max() < 1


def test_cubic_repeats_its_bits() -> None:
    first = make_cubic(9, n_features=5, random_state=11)
    states: tuple[Any, ...] = (11, np.int64(11), np.random.default_rng(11))
    for state in states:
        for one, other in zip(make_cubic(9, n_features=5, random_state=state), first, strict=True):
            assert_same_bits(one, other)
    generator = np.random.default_rng(11)
    make_cubic(9, n_features=5, random_state=generator)
    for state in (12, None, generator):
        assert (make_cubic(9, n_features=5, random_state=state)[0] != first[0]).any()


def test_cubic_follows_its_formula() -> None:
    n, d = 350, 5
    X, y, _ = make_cubic(7, n_features=d, random_state=8)
    draw = np.random.default_rng(8).uniform
    assert_same_bits(draw(-1, 1, (n, d)), X)
    worth = np.zeros(n)
    for order in (1, 2, 3):
        monomials = [
            X[:, indices].prod(axis=1)
            for indices in map(list, itertools.product(range(d), repeat=order))
            if sorted(indices, reverse=True) == indices
        ]
        total = draw(-1, 1, len(monomials)) @ monomials
        worth += total / total.std()
    assert (np.diff(y[np.argsort(worth)]) >= 0).all()
