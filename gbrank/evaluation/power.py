"""How large a difference so many queries can tell, and how many it takes for another."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_finite, check_number, check_vector

POWER, LEVEL = 0.8, 0.05
MOST_QUERIES = 10**9
SHARES = (np.arange(1000) + 0.5) / 1000  # of the distribution of a standard deviation


def how_many_queries(
    differences: ArrayLike, *, difference: float = 0.01, power: float = POWER, level: float = LEVEL
) -> int:
    r"""Return how many queries it takes for the paired t test to tell a difference.

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
    difference : float
        The mean difference that is to be told.
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
    >>> how_many_queries([0.1, -0.1, 0.0, 0.2, -0.2], difference=0.05)
    81
    """
    check_number(difference, "difference", 0, open_low=True)
    for name, share in (("power", power), ("level", level)):
        check_number(share, name, 0, 1, open_low=True, open_high=True)
    values = check_vector(differences, "differences")
    values = check_finite(values[~np.isnan(values)], "differences")
    if len(values) < 2:
        raise ArgumentError("differences", "must be of at least 2 queries", f"{len(values)}")
    deviation = float(values.std(ddof=1))
    needed = queries_needed_for(difference, deviation, power, level)
    if needed > MOST_QUERIES:
        demand = f"must be one that {MOST_QUERIES:,} queries can tell"
        raise ArgumentError("difference", demand, f"{difference:g}")
    return int(needed)


def power_sentence(n_queries: int, smallest: float, needed: float, asked: float) -> str:
    """Return the sentence on the difference that so many queries tell, and on the one asked for."""
    if math.isnan(smallest):
        return "These are too few queries to say what difference they tell."
    takes = f"{needed:,.0f}" if needed <= MOST_QUERIES else f"more than {MOST_QUERIES:,}"
    return (
        f"These {n_queries:,} queries tell a difference of {smallest:.4f} (power {POWER:g}, level "
        f"{LEVEL:g}); one of {asked:g} takes {takes}."
    )


def queries_needed_for(
    difference: float, deviation: float, power: float = POWER, level: float = LEVEL
) -> float:
    """Return how many queries tell a difference; NaN if unknown, infinity beyond the most."""
    if math.isnan(deviation):
        return math.nan

    def enough(n: int) -> bool:
        return _power(difference / deviation * math.sqrt(n), n - 1, level) >= power

    if deviation == 0:
        return 2
    n_queries = 2 + bisect_left(range(2, MOST_QUERIES + 1), True, key=enough)
    return n_queries if n_queries <= MOST_QUERIES else math.inf


def smallest_difference(
    error: float, freedom: float, power: float = POWER, level: float = LEVEL
) -> float:
    """Return the difference that a t test tells, by the standard error; NaN where none is known."""
    if error == 0:
        return 0.0
    if math.isnan(error) or not freedom > 0:
        return math.nan
    edges = stats.t.ppf([1 - level / 2, power], freedom)
    most = 10 * float(edges.sum())
    ratio = optimize.brentq(lambda ratio: _power(ratio, freedom, level) - power, 0.0, most)
    return error * float(ratio)


def _power(ratio: float, freedom: float, level: float) -> float:
    """Return how often a two-sided t test finds a mean of so many standard errors."""
    # SciPy's noncentral t distribution is NaN for few degrees of freedom.
    spread = np.sqrt(stats.chi2.ppf(SHARES, freedom) / freedom)
    edge = stats.t.ppf(1 - level / 2, freedom) * spread
    return float(np.mean(stats.norm.sf(edge - ratio) + stats.norm.cdf(-edge - ratio)))
