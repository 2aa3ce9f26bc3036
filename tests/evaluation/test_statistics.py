"""Intervals and tests, against SciPy and by hand."""

import itertools
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from gbrank.evaluation.statistics import (
    MANY,
    RESAMPLES,
    SEED,
    common_queries,
    compared,
    holm,
    interval,
    means,
    randomization_test,
    t_test,
)

DIFFERENCES = st.lists(st.integers(-4, 4).map(lambda value: value / 8), min_size=1, max_size=6)


@given(DIFFERENCES)
@settings(max_examples=60)
def test_randomization_is_the_share_of_all_sign_flips(differences: list[float]) -> None:
    """Against every flip, one by one."""
    sums = [
        abs(sum(map(operator.mul, signs, differences)))
        for signs in itertools.product([-1, 1], repeat=len(differences))
    ]
    expected = np.mean([total >= abs(sum(differences)) - 1e-12 for total in sums])
    assert_allclose(randomization_test(np.array([differences])), [expected], rtol=1e-12)


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=7))
@example([-1, 3, -4, 0, 0, -3, 5])  # their sum is 0, but not that of the floats
@example([1, 2, -3])
@example([-3, 1, 2, 4, -4])
def test_ties_of_decimal_differences_count(tenths: list[int]) -> None:
    """Sums that are equal are so, whatever their last digits: against all flips of integers."""
    flips = itertools.product([-1, 1], repeat=len(tenths))
    sums = [abs(sum(map(operator.mul, signs, tenths))) for signs in flips]
    expected = np.mean([total >= abs(sum(tenths)) for total in sums])
    found = randomization_test(np.array([[tenth / 10 for tenth in tenths]]))
    assert_allclose(found, [expected], rtol=1e-12)


def test_randomization_of_many_queries_is_the_share_of_random_flips() -> None:
    """Up to the noise of 9999 of them."""
    generator = np.random.default_rng(1)
    d = generator.normal(0.05, 1, (3, 200))
    means = generator.choice([-1.0, 1.0], (20_000, 200)) @ d.T / 200
    expected = (np.abs(means) >= np.abs(d.mean(axis=1))).mean(axis=0)
    assert_allclose(randomization_test(d), expected, atol=0.02)


def test_randomization_is_scipys() -> None:
    """Up to the noise of 9999 random flips on both sides: five standard errors."""
    d = np.random.default_rng(3).normal([[0.0], [0.2], [0.4]], 1, (3, 60))

    def distance(signs: Any, axis: int) -> Any:
        return np.abs(signs @ d.T)

    scipys = stats.permutation_test(
        (np.ones(60),), distance, permutation_type="samples", alternative="greater",
        vectorized=True, axis=-1, random_state=np.random.default_rng(8),
    ).pvalue  # fmt: skip
    error = np.sqrt(2 * scipys * (1 - scipys) / RESAMPLES)
    assert (np.abs(randomization_test(d) - scipys) < 5 * error).all()


def test_randomization_is_the_same_whenever_and_beside_whatever_it_is_done() -> None:
    """The seed is fixed, and all rankers get the same tosses."""
    d = np.random.default_rng(6).normal(0.05, 1, (3, 40))
    together = randomization_test(d)
    assert_array_equal(randomization_test(d), together)
    assert_array_equal([randomization_test(own[None])[0] for own in d], together)


def test_t_test_is_the_paired_t_test() -> None:
    """SciPy's."""
    a, b = np.random.default_rng(2).uniform(size=(2, 4, 30))
    p, error, freedom = t_test(a - b)
    expected = stats.ttest_rel(a, b, axis=1)
    assert_allclose(p, expected.pvalue, rtol=1e-10)
    assert_allclose(error, (a - b).mean(axis=1) / expected.statistic, rtol=1e-10)
    assert_array_equal(freedom, 29)


@pytest.mark.parametrize("test", [randomization_test, lambda differences: t_test(differences)[0]])
def test_one_null_hypothesis_in_twenty_is_rejected(test: Any) -> None:
    """At 0.05, of 2000 true ones: 100 ± 29, three standard deviations."""
    generator = np.random.default_rng(4)
    assert abs((test(generator.normal(0, 1, (2000, 40))) <= 0.05).sum() - 100) < 35


@pytest.mark.parametrize("n", [2, 5, 300])
def test_intervals_are_scipys_bootstrap(n: int) -> None:
    """The same resamples of the same seed."""
    values = np.random.default_rng(5).gamma(1, 1, (3, n))
    expected = stats.bootstrap(
        (values,), np.mean, axis=-1, method="percentile", random_state=np.random.default_rng(SEED)
    ).confidence_interval
    assert_allclose(interval(values), expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["NDCG", "reciprocal rank", "difference"])
def test_intervals_of_many_queries_are_those_of_t(kind: str) -> None:
    """SciPy's, which agrees with its bootstrap to the third digit from so many queries on."""
    rng = np.random.default_rng(7)
    values = {
        "NDCG": rng.beta(1.5, 1, MANY),
        "reciprocal rank": 1 / rng.geometric(0.3, MANY),
        "difference": rng.normal(0, 0.2, MANY) * (rng.uniform(size=MANY) < 0.4),
    }[kind]
    t = stats.ttest_1samp(values, 0).confidence_interval()
    assert_allclose(np.ravel(interval(values[None])), t, rtol=1e-12)
    bootstrap = stats.bootstrap(
        (values,), np.mean, method="percentile", random_state=np.random.default_rng(SEED)
    ).confidence_interval
    assert_allclose(t, bootstrap, atol=5e-4)


def test_intervals_of_skewed_values_are_percentiles() -> None:
    """Of means over resampled queries: not as far from the mean on either side."""
    generator = np.random.default_rng(0)
    values = generator.exponential(1.0, (1, 30)) ** 2
    means = generator.choice(values[0], (20_000, 30)).mean(axis=1)
    expected = np.percentile(means, [2.5, 97.5])
    middle, width = values.mean(), np.ptp(expected)
    assert abs(expected.sum() - 2 * middle) > 0.1 * width
    assert_allclose(np.ravel(interval(values)), expected, atol=0.03 * width)


def test_holm_by_hand() -> None:
    """4 × 0.005, 3 × 0.01, 2 × 0.03 and, not below that, 1 × 0.04; never above 1."""
    assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.7, 0.8])).tolist() == [1.0, 1.0]


def test_means_are_those_of_the_parts() -> None:
    """Means, intervals and tests of the difference from the reference, whichever that is."""
    values = np.random.default_rng(0).uniform(size=(3, 8))
    for reference in (1, -1):
        found = means(values, reference)
        assert_allclose(found.mean, values.mean(axis=1))
        assert_allclose(found.difference, found.mean - found.mean[reference], atol=1e-15)
        assert_array_equal([found.low, found.high], interval(values))
        differences = values - values[reference]
        assert_array_equal([found.difference_low, found.difference_high], interval(differences))
        tested = compared(values, reference)
        p = np.array([tested.p_randomization, tested.p_t])
        assert np.isnan(p[:, reference]).all()
        others = np.delete(np.arange(3), reference)
        expected = randomization_test(differences[others]), t_test(differences[others])[0]
        assert_allclose(p[:, others], expected)


def test_without_a_query_there_is_no_number() -> None:
    """Nor a warning; queries count that have a value for all rankers."""
    values = np.array([[1.0, np.nan, 0.5], [0.0, 1.0, np.nan]])
    assert_array_equal(common_queries(values), [[1.0], [0.0]])
    nothing = common_queries(values[:, 1:])
    assert nothing.shape == (2, 0)
    assert np.isnan([*means(nothing), *compared(nothing)[1:]]).all()
    one = means(common_queries(values))
    assert (one.mean.tolist(), one.difference.tolist()) == ([1.0, 0.0], [1.0, 0.0])
    assert np.isnan([one.low, one.high, one.difference_low]).all()
    assert np.isnan(compared(np.ones((1, 3)))[1:]).all()
