"""The rows of a summary, from values written by hand."""

import itertools
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from gbrank.evaluation import Comparison, QueryValues


def comparison(values: dict[str, Any], queries: Any = None) -> Comparison:
    """Return the comparison of rankers whose queries are worth this, for each seed."""
    cube = np.array([np.atleast_2d(numbers) for numbers in values.values()])
    n = cube.shape[2]
    scores = QueryValues(queries or list(range(n)), np.ones(n, np.int64), {"m": cube})
    cost = np.ones((*cube.shape[:2], 1))
    seeds = list(range(cube.shape[1]))
    return Comparison(
        "data", list(values), seeds, ["m"], {"test": scores}, cost, cost, next(iter(values))
    )


def test_a_query_that_a_seed_leaves_out_is_left_out() -> None:
    """For all rankers and seeds, so that all means are over the same queries."""
    a, b = comparison(
        {"a": [[1.0, 0.5, 0.25], [0.5, np.nan, 0.75]], "b": [[0.0, 1.0, 0.5], [0.0, 1.0, 1.0]]}
    ).summary()
    assert (a.n_queries, a.n_skipped) == (b.n_queries, b.n_skipped) == (2, 1)
    assert_allclose([a.mean, b.mean, b.difference], [0.625, 0.375, -0.25])
    assert_allclose(a.seed_deviation, 0, atol=1e-15)
    assert_allclose(b.seed_deviation, 0.125 * np.sqrt(2))


def test_both_p_values_are_corrected_for_their_number() -> None:
    """Each ranker's own one by enumeration; the k-th smallest of three is worth 4 - k times it."""
    values = {
        "base": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
        "better": [0.2, 0.35, 0.5, 0.5, 0.65, 0.8, 0.9],
        "worse": [0.05, 0.25, 0.1, 0.1, 0.3, 0.45, 0.75],
        "equal": [0.2, 0.1, 0.3, 0.45, 0.45, 0.6, 0.7],
    }
    rows = comparison(values).summary()
    own = {}
    for name in list(values)[1:]:
        difference = np.subtract(values[name], values["base"])
        flips = np.array(list(itertools.product([-1, 1], repeat=7))) @ difference
        own[name] = np.mean(np.abs(flips) >= abs(difference.sum()) - 1e-9)
    largest = 0.0
    for place, name in enumerate(sorted(own, key=lambda name: own[name])):
        largest = min(1.0, max(largest, (3 - place) * own[name]))
        (row,) = (row for row in rows if row.ranker == name)
        assert_allclose(row.p_randomisation, largest, rtol=1e-9)
        assert row.p_correction == "Holm"
    assert len(set(own.values())) == 3
