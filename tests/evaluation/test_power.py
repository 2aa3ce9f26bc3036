"""How many queries tell a difference: against simulation, and the other way round."""

import numpy as np
import pytest
from scipy import stats

from gbrank import NDCG, compare_scores, how_many_queries, make_cubic
from gbrank.evaluation.power import queries_needed_for, smallest_difference


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
    n = how_many_queries(population, difference=0.02)
    samples = rng.choice(population, (4000, n))
    found = stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("n", [3, 15, 400])
def test_the_smallest_difference_is_the_one_that_takes_these_queries(n: int) -> None:
    """One way and the other; the power is that of SciPy's noncentral t distribution."""
    deviation = 0.2
    smallest = smallest_difference(deviation / np.sqrt(n), n - 1)
    assert queries_needed_for(smallest * 1.001, deviation) == n
    assert queries_needed_for(smallest * 0.999, deviation) == n + 1
    edge, ratio = stats.t.ppf(0.975, n - 1), smallest / deviation * np.sqrt(n)
    power = stats.nct.sf(edge, n - 1, ratio) + stats.nct.cdf(-edge, n - 1, ratio)
    assert power == pytest.approx(0.8, abs=1e-3)


def test_corners() -> None:
    """No variance, no query, and arguments out of range."""
    assert how_many_queries([0.1, 0.1, np.nan]) == 2
    strict = how_many_queries([0.1, -0.1], level=0.01)
    assert strict == queries_needed_for(0.01, 0.02**0.5, level=0.01) > how_many_queries([0.1, -0.1])
    assert np.isnan(smallest_difference(np.nan, 3))
    assert smallest_difference(0.0, np.nan) == 0
    with pytest.raises(ValueError, match="differences must be of at least 2 queries, got 1"):
        how_many_queries([0.1, np.nan])
    with pytest.raises(ValueError, match="difference must be a number above 0, got 0"):
        how_many_queries([0.1, 0.2], difference=0)
    with pytest.raises(ValueError, match="power must be a number above 0 and below 1"):
        how_many_queries([0.1, 0.2], power=1)


def test_more_queries_than_anyone_has() -> None:
    """A difference for which a billion are too few is refused, and a summary says it."""
    assert 10**8 < how_many_queries([0.1, -0.1], difference=2e-5) < 10**9
    demand = "difference must be one that 1,000,000,000 queries can tell, got 1e-07"
    with pytest.raises(ValueError, match=demand):
        how_many_queries([0.1, -0.1], difference=1e-7)
    X, y, qid = make_cubic(30, n_documents=10, n_features=2, random_state=0)
    scores = {"a": X[:, 0], "b": X[:, 1]}
    differences = np.subtract(*(NDCG(k=10).per_query(y, s, qid=qid) for s in scores.values()))
    row = compare_scores(scores, y, qid).summary()[1]
    assert row.n_needed == how_many_queries(differences)
    found = compare_scores(scores, y, qid, difference=1e-7)
    assert "one of 1e-07 takes more than 1,000,000,000." in found.to_markdown()
