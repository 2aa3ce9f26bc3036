"""Intervals and paired tests of means over queries, and how many queries they need."""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from gbrank.common.checks import (
    ArgumentError,
    Mask,
    Matrix,
    Vector,
    check_finite,
    check_number,
    check_vector,
)
from gbrank.measures.judges import powered_mean

RESAMPLES = 9999
MANY = 2000  # queries from which the t interval is as good as the bootstrap's, and cheap
CELLS = 2**22  # numbers in memory, for resamples that are computed together
SEED = 0
POWER = 0.8
LEVEL = 0.05
MOST_QUERIES = 10**9
SHARES = (np.arange(1000) + 0.5) / 1000  # of the distribution of a standard deviation
SIGNS = 1.0 - 2.0 * (np.arange(256)[:, None] >> np.arange(8) & 1)  # of eight queries, by byte


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


class Comparisons(NamedTuple):
    """Of each ranker: means, and tests of the difference from the reference; NaN for none."""

    means: Means
    p_randomization: Vector
    p_t: Vector
    error: Vector  # of the difference: its standard error, and the degrees of freedom of t
    freedom: Vector
    worth: Vector  # how many queries of people the judge is worth to the difference


def common_queries(values: Matrix) -> Matrix:
    """Select the queries that have a value for all rankers, a row for each."""
    return values[:, ~np.isnan(values).any(axis=0)]


def means(values: Matrix, reference: int = -1) -> Means:
    """Compute the means of rankers, a row for each, and their differences from the reference."""
    if not values.size:
        return Means(*np.full((6, len(values)), np.nan))
    both = np.stack([values, values - values[reference]])
    low, high = interval(both)
    mean = both.mean(axis=-1)
    return Means(mean[0], low[0], high[0], mean[1], low[1], high[1])


def compared(values: Matrix, reference: int = -1) -> Comparisons:
    """Compare rankers, a row for each, with the reference."""
    tests = Comparisons(means(values, reference), *np.full((5, len(values)), np.nan))
    others = np.delete(np.arange(len(values)), reference)
    if others.size and values.size:
        differences = values[others] - values[reference]
        tests.p_randomization[others] = randomization_test(differences)
        tests.p_t[others], tests.error[others], tests.freedom[others] = t_test(differences)
    return tests


def compared_with_judge(people: Matrix, judge: Matrix, judged: Mask, reference: int) -> Comparisons:
    """Compare rankers, a row for each, by people's values and a judge's: `powered_mean`.

    `judged` marks the queries that people have judged.
    """
    # Of each row, in arrays: mean, error, freedom, worth.
    powered = np.vectorize(powered_mean, otypes="dddd", signature="(n),(n),(n)->(),(),(),()")
    mean, error, freedom, worth = powered(people, judge, judged)
    low, high = t_interval(mean, error, freedom)
    difference, error, freedom, worth_of_difference = powered(
        people - people[reference], judge - judge[reference], judged
    )
    ends = t_interval(difference, error, freedom)
    p = p_of_t(difference, error, freedom)
    for of_tests in (p, error, freedom):
        of_tests[reference] = np.nan
    worth_of_difference[reference] = worth[reference]
    return Comparisons(
        means=Means(mean, low, high, difference, *ends),
        p_randomization=np.full(len(people), np.nan),
        p_t=p,
        error=error,
        freedom=freedom,
        worth=worth_of_difference,
    )


def interval(values: Matrix) -> tuple[Vector, Vector]:
    """Compute 95% intervals of means over queries; NaN for one query.

    They are percentiles of bootstrapped means (B. Efron, R. Tibshirani. An Introduction to the
    Bootstrap. 1993, chapter 13), and those of t from `MANY` queries on, which agree.
    """
    n_queries = values.shape[-1]
    if n_queries < 2:
        unknown = np.full(values.shape[:-1], np.nan)
        return unknown, unknown
    if n_queries < MANY:
        return stats.bootstrap(
            (values,),
            np.mean,
            n_resamples=RESAMPLES,
            batch=max(1, CELLS // values.size),
            vectorized=True,
            axis=-1,
            method="percentile",
            random_state=np.random.default_rng(SEED),
        ).confidence_interval
    return t_interval(values.mean(axis=-1), stats.sem(values, axis=-1), n_queries - 1)


def t_interval(mean: Vector, error: Vector, freedom: Vector | int) -> tuple[Vector, Vector]:
    """Compute 95% intervals of means by their standard errors."""
    margin = np.where(error == 0, 0.0, stats.t.ppf(0.975, freedom) * error)
    return mean - margin, mean + margin


def randomization_test(differences: Matrix) -> Vector:
    """Compute p-values of the paired randomization test that the mean difference is zero.

    If two rankers are equally good, the sign of a query's difference is a toss of a coin. (M.
    Smucker, J. Allan, B. Carterette. A comparison of statistical significance tests for
    information retrieval evaluation. CIKM 2007.)
    """
    total = np.abs(differences).sum(axis=1, keepdims=True)
    shares = np.divide(differences, total, out=np.zeros_like(differences), where=total > 0)
    return np.array(list(map(_share_as_extreme, shares)))


def _share_as_extreme(values: Vector) -> float:
    """Count how often sums with random signs are at least as far from zero as the sum itself.

    Of few values all signs are tried. A byte has the signs of eight values.
    """
    rng = np.random.default_rng(SEED)  # the same tosses for all rankers
    exact = 2 ** len(values) <= RESAMPLES
    sums = np.zeros(2 ** len(values) if exact else RESAMPLES)
    for start in range(0, len(values), 8):
        if exact:
            tosses = np.arange(len(sums)) >> start & 255
        else:
            tosses = rng.integers(256, size=RESAMPLES, dtype=np.uint8)
        block = values[start : start + 8]
        sums += (SIGNS[:, : len(block)] @ block)[tosses]
    # Rounded: sums of the same numbers in another order may differ in the last digits.
    extreme = np.abs(sums).round(12) >= np.abs(values.sum()).round(12)
    if exact:
        return float(extreme.mean())
    return float((extreme.sum() + 1) / (RESAMPLES + 1))


def t_test(differences: Matrix) -> tuple[Vector, Vector, Vector]:
    """Compute p-values of the paired t test, standard errors, and degrees of freedom."""
    freedom = np.full(len(differences), differences.shape[1] - 1.0)
    with np.errstate(invalid="ignore"):  # one query has no error
        error = np.sqrt(differences.var(axis=1) / freedom)
    return p_of_t(differences.mean(axis=1), error, freedom), error, freedom


def p_of_t(mean: Vector, error: Vector, freedom: Vector) -> Vector:
    """Compute p-values of means; 1 where there is nothing but zeros."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stats.t.sf(np.abs(mean) / error, freedom)
    return np.where((error == 0) & (mean == 0), 1.0, p)


def holm(p: Vector) -> Vector:
    """Correct p-values for their number: at 0.05, at most one family in twenty errs.

    NaN stands for no test.
    """
    # S. Holm. A simple sequentially rejective multiple test procedure. Scand. J. Statist. 6, 1979.
    order = np.argsort(p)[: np.count_nonzero(~np.isnan(p))]  # NaN is last
    corrected = np.full(len(p), np.nan)
    factors = np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return corrected


def required_queries(
    differences: ArrayLike,
    *,
    target_difference: float = 0.01,
    power: float = POWER,
    level: float = LEVEL,
) -> int:
    r"""Compute how many queries the paired t test needs to detect a difference.

    The smallest n for which the test at this level detects a true mean difference of this size with
    this power, if further queries differ as these do: with their standard deviation s, and T the
    noncentral t distribution with n − 1 degrees of freedom,

    .. math:: P\left(|T_{n - 1}(\delta \sqrt n / s)| > t_{1 - \alpha/2,\, n - 1}\right) \ge
        \text{power}

    Parameters
    ----------
    differences : array-like, shape (n_queries,)
        The difference of two rankers on each query, as from `Measure.per_query`; NaN where the
        metric is undefined.
    target_difference : float
        The mean difference to detect.
    power : float in ]0, 1[
        The probability of detecting it.
    level : float in ]0, 1[
        The significance level α.

    Returns
    -------
    int
        At least 2.

    Raises
    ------
    ValueError
        If there are fewer than two queries, an argument is out of range, or more than a billion
        queries would be needed.

    Examples
    --------
    >>> from gbrank.evaluation import required_queries
    >>> required_queries([0.1, -0.1, 0.0, 0.2, -0.2], target_difference=0.05)
    81
    """
    check_number(target_difference, "target_difference", above=0)
    for name, share in (("power", power), ("level", level)):
        check_number(share, name, above=0, below=1)
    values = check_vector(differences, "differences")
    values = check_finite(values[~np.isnan(values)], "differences")
    if len(values) < 2:
        raise ArgumentError(
            "differences", "must have values of at least 2 queries", f"{len(values)}"
        )
    deviation = float(values.std(ddof=1))
    needed = queries_needed_for(target_difference, deviation, power, level)
    if needed > MOST_QUERIES:
        raise ArgumentError(
            "target_difference",
            f"must be detectable with {MOST_QUERIES:,} queries",
            f"{target_difference:g}",
        )
    return int(needed)


def queries_needed_for(
    difference: float, deviation: float, power: float = POWER, level: float = LEVEL
) -> float:
    """Compute the queries that a difference needs; NaN if unknown, infinity beyond the most."""
    if math.isnan(deviation):
        return math.nan

    def enough(n: int) -> bool:
        return _power(difference / deviation * math.sqrt(n), n - 1, level) >= power

    if deviation == 0:
        return 2
    n_queries = 2 + bisect_left(range(2, MOST_QUERIES + 1), True, key=enough)
    return n_queries if n_queries <= MOST_QUERIES else math.inf


def minimum_detectable(error: float, freedom: float) -> float:
    """Compute the difference that a t test detects with this standard error; NaN if unknown."""
    if math.isnan(error) or not freedom > 0:
        return math.nan
    most = 10 * float(stats.t.ppf([1 - LEVEL / 2, POWER], freedom).sum())
    ratio = optimize.brentq(lambda ratio: _power(ratio, freedom, LEVEL) - POWER, 0.0, most)
    return error * float(ratio)


def _power(ratio: float, freedom: float, level: float) -> float:
    """Compute how often a two-sided t test detects a mean of so many standard errors."""
    # SciPy's noncentral t distribution is NaN for few degrees of freedom.
    spread = np.sqrt(stats.chi2.ppf(SHARES, freedom) / freedom)
    edge = stats.t.ppf(1 - level / 2, freedom) * spread
    return float(np.mean(stats.norm.sf(edge - ratio) + stats.norm.cdf(-edge - ratio)))
