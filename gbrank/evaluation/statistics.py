"""Intervals and paired tests of means over queries, and how many queries they take."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from gbrank.common.checks import check_finite, check_number, check_vector
from gbrank.common.errors import ArgumentError
from gbrank.common.values import Mask, Matrix, Vector
from gbrank.measures.judges import powered_mean

RESAMPLES = 9999
CELLS = 2**22  # how many numbers in memory, for resamples that are computed together
SEED = 0
POWER, LEVEL = 0.8, 0.05
MOST_QUERIES = 10**9
SHARES = (np.arange(1000) + 0.5) / 1000  # of the distribution of a standard deviation


class Means(NamedTuple):
    """Of each ranker: the mean over queries, its difference from another's, and 95% intervals.

    NaN where no query counts; ends of intervals also where only one does.
    """

    mean: Vector
    low: Vector
    high: Vector
    difference: Vector
    difference_low: Vector
    difference_high: Vector


class JudgedValues(NamedTuple):
    """Values by people and by a judge, a row for each ranker, and which queries people judged."""

    people: Matrix
    judge: Matrix
    judged: Mask


class Comparisons(NamedTuple):
    """Of each ranker: means, and tests of the difference from the reference; NaN for none."""

    means: Means
    p_randomisation: Vector
    p_t: Vector
    error: Vector  # of the difference: its standard error, and the degrees of freedom of t
    freedom: Vector
    worth: Vector  # how many queries of people the judge is worth to the difference

    def power(self, n_queries: int, target: float) -> tuple[Vector, Vector]:
        """Return the minimum detectable differences, and the queries that the target needs."""
        errors = self.error.tolist()
        minimum = list(map(minimum_detectable, errors, self.freedom.tolist()))
        needed = [queries_needed_for(target, error * math.sqrt(n_queries)) for error in errors]
        return np.array(minimum), np.array(needed)


def common_queries(values: Matrix) -> Matrix:
    """Return the values, a row for each ranker, of the queries that have one for all."""
    return values[:, ~np.isnan(values).any(axis=0)]


def means(values: Matrix, reference: int = -1) -> Means:
    """Return the means of rankers, a row for each, and their differences from the reference."""
    if not values.size:
        return Means(*np.full((6, len(values)), np.nan))
    differences = values - values[reference]
    return Means(
        values.mean(axis=1), *interval(values), differences.mean(axis=1), *interval(differences)
    )


def compared(values: Matrix, reference: int = -1) -> Comparisons:
    """Compare rankers, a row for each, with the reference."""
    tests = np.full((5, len(values)), np.nan)
    others = np.delete(np.arange(len(values)), reference)
    if others.size and values.size:
        differences = values[others] - values[reference]
        tests[:4, others] = randomisation_test(differences), *t_test(differences)
    return Comparisons(means(values, reference), *tests)


def compared_with_judge(values: JudgedValues, reference: int = -1) -> Comparisons:
    """Compare rankers by people's judgements, made more certain by a judge's: `powered_mean`."""
    people, judge, judged = values
    by_people = [*people, *(people - people[reference])]
    by_judge = [*judge, *(judge - judge[reference])]
    pairs = zip(by_people, by_judge, strict=True)
    numbers = np.transpose([powered_mean(*pair, judged) for pair in pairs])
    mean, error, freedom, worth = numbers.reshape(4, 2, -1)  # of values, and of differences
    margin = np.where(error == 0, 0.0, stats.t.ppf(0.975, freedom) * error)
    both = np.stack([mean, mean - margin, mean + margin], axis=1).reshape(6, -1)
    tests = np.full((5, len(people)), np.nan)
    tests[1:] = p_of_t(mean[1], error[1], freedom[1]), error[1], freedom[1], worth[1]
    tests[:, reference] = np.nan
    tests[4, reference] = worth[0, reference]
    return Comparisons(Means(*both), *tests)


def interval(values: Matrix) -> tuple[Vector, Vector]:
    """Return a 95% bootstrap interval of the mean over queries; NaN for one query."""
    # B. Efron, R. Tibshirani. An Introduction to the Bootstrap. 1993, chapter 13.
    if values.shape[1] < 2:
        low, high = np.full((2, len(values)), np.nan)
        return low, high
    return stats.bootstrap(
        (values,), np.mean, method="percentile", **_resampling(values.size)
    ).confidence_interval


def randomisation_test(differences: Matrix) -> Vector:
    """Return p-values of the paired randomisation test that the mean difference is zero.

    If two rankers are equally good, the sign of a query's difference is a toss of a coin. (M.
    Smucker, J. Allan, B. Carterette. A comparison of statistical significance tests for
    information retrieval evaluation. CIKM 2007.)
    """
    total = np.abs(differences).sum(axis=1, keepdims=True)
    shares = np.divide(differences, total, out=np.zeros_like(differences), where=total > 0)
    n_queries = shares.shape[1]
    if n_queries == 1:  # SciPy refuses one; both signs are as far from zero
        return np.ones(len(shares))

    def distance(signs: Matrix, axis: int) -> Matrix:
        # Rounded: sums of the same numbers in another order may differ in the last digits.
        return np.abs(signs @ shares.T).round(12)

    return stats.permutation_test(
        (np.ones(n_queries),),  # the same tosses for all tests
        distance,
        permutation_type="samples",
        alternative="greater",
        **_resampling(n_queries),
    ).pvalue


def _resampling(n_numbers: int) -> dict[str, Any]:
    """Return the options of SciPy's resampling, of which each takes so many numbers."""
    return {
        "n_resamples": RESAMPLES,
        "batch": max(1, CELLS // n_numbers),
        "vectorized": True,
        "axis": -1,
        "random_state": np.random.default_rng(SEED),
    }


def t_test(differences: Matrix) -> tuple[Vector, Vector, Vector]:
    """Return p-values of the paired t test, standard errors, and degrees of freedom."""
    freedom = np.full(len(differences), differences.shape[1] - 1.0)
    with np.errstate(invalid="ignore"):  # one query has no error
        error = np.sqrt(differences.var(axis=1) / freedom)
    return p_of_t(differences.mean(axis=1), error, freedom), error, freedom


def p_of_t(mean: Vector, error: Vector, freedom: Vector) -> Vector:
    """Return p-values of means; 1 where there is nothing but zeros."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stats.t.sf(np.abs(mean) / error, freedom)
    return np.where((error == 0) & (mean == 0), 1.0, p)


def holm(p: Vector) -> Vector:
    """Return p-values corrected for their number: at 0.05, at most one family in twenty errs.

    NaN stands for no test.
    """
    # S. Holm. A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 1979.
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN is last
    corrected = np.full(len(p), np.nan)
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return corrected


def how_many_queries(
    differences: ArrayLike,
    *,
    target_difference: float = 0.01,
    power: float = POWER,
    level: float = LEVEL,
) -> int:
    r"""Return how many queries the paired t test needs to detect a difference.

    The smallest n for which a test at this level finds a true mean difference of this size with
    this probability, if further queries differ as these do: with their standard deviation s, and
    T the noncentral t distribution of n − 1 degrees of freedom,

    .. math:: P\left(|T_{n - 1}(\delta \sqrt n / s)| > t_{1 - \alpha/2,\, n - 1}\right) \ge
        \text{power}

    Parameters
    ----------
    differences : array-like, shape (n_queries,)
        What two rankers differ by on each query, as from `Measure.per_query`; NaN where a measure
        has no value.
    target_difference : float
        The mean difference to detect.
    power : float in ]0, 1[
        The probability to find it.
    level : float in ]0, 1[
        The probability to find one where there is none.

    Returns
    -------
    int
        At least 2.

    Raises
    ------
    ValueError
        If there are fewer than two queries, an argument is not in its range, or it takes more than
        a billion queries.

    Examples
    --------
    >>> from gbrank import how_many_queries
    >>> how_many_queries([0.1, -0.1, 0.0, 0.2, -0.2], target_difference=0.05)
    81
    """
    check_number(target_difference, "target_difference", 0, open_low=True)
    for name, share in (("power", power), ("level", level)):
        check_number(share, name, 0, 1, open_low=True, open_high=True)
    values = check_vector(differences, "differences")
    values = check_finite(values[~np.isnan(values)], "differences")
    if len(values) < 2:
        raise ArgumentError("differences", "must be of at least 2 queries", f"{len(values)}")
    deviation = float(values.std(ddof=1))
    needed = queries_needed_for(target_difference, deviation, power, level)
    if needed > MOST_QUERIES:
        demand = f"must be one that {MOST_QUERIES:,} queries can detect"
        raise ArgumentError("target_difference", demand, f"{target_difference:g}")
    return int(needed)


def power_sentence(n_queries: int, minimum: float, needed: float, target: float) -> str:
    """Say which difference so many queries detect, and how many the target takes."""
    if math.isnan(minimum):
        return "Too few queries to estimate the minimum detectable difference."
    required = f"{needed:,.0f}" if needed <= MOST_QUERIES else f"more than {MOST_QUERIES:,}"
    return (
        f"Minimum detectable difference with {n_queries:,} queries: {minimum:.4f} "
        f"(power {POWER:g}, α {LEVEL:g}). Detecting {target:g} needs {required} queries."
    )


def queries_needed_for(
    difference: float, deviation: float, power: float = POWER, level: float = LEVEL
) -> float:
    """Return the queries that a difference needs; NaN if unknown, infinity beyond the most."""
    if math.isnan(deviation):
        return math.nan

    def enough(n: int) -> bool:
        return _power(difference / deviation * math.sqrt(n), n - 1, level) >= power

    if deviation == 0:
        return 2
    n_queries = 2 + bisect_left(range(2, MOST_QUERIES + 1), True, key=enough)
    return n_queries if n_queries <= MOST_QUERIES else math.inf


def minimum_detectable(error: float, freedom: float) -> float:
    """Return the difference that a t test detects with this standard error; NaN if unknown."""
    if math.isnan(error) or not freedom > 0:
        return math.nan
    most = 10 * float(stats.t.ppf([1 - LEVEL / 2, POWER], freedom).sum())
    ratio = optimize.brentq(lambda ratio: _power(ratio, freedom, LEVEL) - POWER, 0.0, most)
    return error * float(ratio)


def _power(ratio: float, freedom: float, level: float) -> float:
    """Return how often a two-sided t test finds a mean of so many standard errors."""
    # SciPy's noncentral t distribution is NaN for few degrees of freedom.
    spread = np.sqrt(stats.chi2.ppf(SHARES, freedom) / freedom)
    edge = stats.t.ppf(1 - level / 2, freedom) * spread
    return float(np.mean(stats.norm.sf(edge - ratio) + stats.norm.cdf(-edge - ratio)))
