"""The rows of a summary, from values written by hand."""

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from gbrank.evaluation import Comparison, QueryValues
from gbrank.evaluation.statistics import minimum_detectable


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


def test_queries_that_are_won_tied_and_lost() -> None:
    """Of means over seeds, against the baseline; a query without a value is none of them."""
    nothing = np.nan
    base, other = comparison(
        {
            "base": [[0.5, 0.5, 0.5, 0.5, 0.5]] * 2,
            "other": [[1, 0, 0.6, 0.2, 1], [0, 0.6, 0.6, 0.2, nothing]],
        }
    ).summary()
    assert (other.wins, other.ties, other.losses) == (1, 1, 2)
    assert (base.wins, base.ties, base.losses) == (0, 4, 0)


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
        assert_allclose(row.p_randomization, largest, rtol=1e-9)
        assert row.p_correction == "Holm"
    assert len(set(own.values())) == 3


def test_the_minimum_detectable_difference_is_that_of_the_difference() -> None:
    """Of its standard error, which is not that of a mean: half its interval over t."""
    base, other = np.random.default_rng(0).normal([[0.0], [0.3]], [[2.0], [0.1]], (2, 40))
    other += base
    _, row = comparison({"base": base, "other": other}).summary()
    error = stats.sem(other - base)
    assert_allclose(row.minimum_detectable, minimum_detectable(error, 39), rtol=1e-9)


@pytest.mark.parametrize(("useful", "freedom"), [(True, 16), (False, 17)])
def test_degrees_of_freedom_beside_a_judge(useful: bool, freedom: int) -> None:
    """Of 30 queries that people judged, 18 have a value: t has 16 degrees of freedom.

    It has 17 where the judge is of no use. The interval of the difference, and the difference that
    is detected, are of one standard error.
    """
    rng = np.random.default_rng(1)
    judge = rng.normal(0, 1, (2, 200)) if useful else np.zeros((2, 200))
    judge[1] *= 3
    people = judge + rng.normal(0, 0.2, (2, 200))
    judged = np.arange(200) < 30
    people[:, ~judged | (np.arange(200) < 12)] = np.nan
    values = {"m": people[:, None], "m[judge]": judge[:, None]}
    values["people"] = np.broadcast_to(judged * 1.0, (2, 1, 200))
    scores = QueryValues(list(range(200)), np.ones(200, np.int64), values)
    cost = np.ones((2, 1, 1))
    row = Comparison(
        data="data", rankers=["a", "b"], seeds=[0], metrics=["m"], parts={"test": scores},
        rounds=cost, cpu_seconds=cost, baseline="a",
    ).summary()[1]  # fmt: skip
    error = (row.difference_high - row.difference_low) / 2 / stats.t.ppf(0.975, freedom)
    assert_allclose(row.minimum_detectable, minimum_detectable(error, freedom), rtol=1e-9)
    assert row.n_queries == 18
    assert (row.judge_equivalent_queries > 0) is useful
