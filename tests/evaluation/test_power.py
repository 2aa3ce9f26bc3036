"""How many queries detect a difference: against simulation, and the other way round."""

import numpy as np
import pytest
from scipy import stats

from gbrank.evaluation import required_queries
from gbrank.evaluation.statistics import minimum_detectable, queries_needed_for


@pytest.mark.parametrize("kind", ["normal", "skewed", "mostly zero"])
def test_the_power_is_what_it_says(kind: str) -> None:
    """By t tests of many samples of as many queries as it asks for: within .03 of .8."""
    rng = np.random.default_rng(0)
    population = {
        "normal": rng.normal(0, 0.1, 100_000),
        "skewed": rng.gamma(4, 0.05, 100_000),
        "mostly zero": rng.normal(0, 0.2, 100_000) * (rng.uniform(size=100_000) < 0.3),
    }[kind]
    population += 0.02 - population.mean()
    n = required_queries(population, target_difference=0.02)
    samples = rng.choice(population, (4000, n))
    found = stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("n", [3, 15, 400])
def test_the_smallest_difference_is_the_one_that_takes_these_queries(n: int) -> None:
    """One way and the other; the power is that of SciPy's noncentral t distribution."""
    deviation = 0.2
    smallest = minimum_detectable(deviation / np.sqrt(n), n - 1)
    assert queries_needed_for(smallest * 1.001, deviation) == n
    assert queries_needed_for(smallest * 0.999, deviation) == n + 1
    edge, ratio = stats.t.ppf(0.975, n - 1), smallest / deviation * np.sqrt(n)
    power = stats.nct.sf(edge, n - 1, ratio) + stats.nct.cdf(-edge, n - 1, ratio)
    assert power == pytest.approx(0.8, abs=1e-3)


def test_a_level() -> None:
    strict = required_queries([0.1, -0.1], level=0.01)
    assert strict == queries_needed_for(0.01, 0.02**0.5, level=0.01) > required_queries([0.1, -0.1])
