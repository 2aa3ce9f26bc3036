"""Intervals and paired tests of means over queries, of one data set or of several at once.

All take one array per data set (stratum), shape (n_tests, n_queries). The mean over several is
that of the data sets' means: each data set has the same weight, however many queries it has.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from gbrank.common.arrays import Matrix, Vector
from gbrank.measures.judges import powered_mean

RESAMPLES = 9999
CELLS = 2**22  # how many numbers in memory, for resamples that are computed together
SEED = 0


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


def common_queries(values: Matrix) -> Matrix:
    """Return the values, a row for each ranker, of the queries that have one for all."""
    return values[:, ~np.isnan(values).any(axis=0)]


def means(strata: Sequence[Matrix], reference: int = -1) -> Means:
    """Return the means of rankers, a row for each, and their differences from the reference."""
    if not all(values.size for values in strata):
        return Means(*np.full((6, len(strata[0])), np.nan))
    differences = [values - values[reference] for values in strata]
    return Means(
        stratified_mean(strata),
        *interval(strata),
        stratified_mean(differences),
        *interval(differences),
    )


class Both(NamedTuple):
    """Values of one data set by people and by a judge, a row a ranker, and whom people judged."""

    people: Matrix
    judge: Matrix
    judged: NDArray[np.bool_]  # of each query


class Comparisons(NamedTuple):
    """Of each ranker: means, and tests of the difference from the reference; NaN for none."""

    means: Means
    p_randomisation: Vector
    p_t: Vector
    error: Vector  # of the difference: its standard error, and the degrees of freedom of t
    freedom: Vector
    worth: Vector  # how many queries of people the judge is worth to the difference


def compared(strata: Sequence[Matrix | Both], reference: int = -1) -> Comparisons:
    """Compare rankers, a row each, with the reference; by people and a judge where both are."""
    both = [values for values in strata if isinstance(values, Both)]
    if both:
        return _powered(both, reference)
    plain = [values for values in strata if not isinstance(values, Both)]
    n_rankers = len(plain[0])
    found = np.full((5, n_rankers), np.nan)
    others = np.delete(np.arange(n_rankers), reference)
    if others.size and all(values.size for values in plain):
        differences = [values[others] - values[reference] for values in plain]
        found[:4, others] = randomisation_test(differences), *t_test(differences)
    return Comparisons(means(plain, reference), *tuple(found))


def _powered(strata: Sequence[Both], reference: int) -> Comparisons:
    """Compare rankers by people's judgements, made more certain by a judge's: `powered_mean`."""
    n_rankers = len(strata[0].people)
    reference %= n_rankers
    mean, error, freedom, worth = np.transpose(
        [_combined(strata, ranker) for ranker in range(n_rankers)]
    )
    difference, own_error, own_freedom, gain = np.transpose(
        [_combined(strata, ranker, reference) for ranker in range(n_rankers)]
    )
    ends = _ends(mean, error, freedom), _ends(difference, own_error, own_freedom)
    p = _p_of_t(difference, own_error, own_freedom)
    gain[reference] = worth[reference]
    for values in (p, own_error, own_freedom):
        values[reference] = np.nan
    means = Means(mean, *ends[0], difference, *ends[1])
    return Comparisons(means, np.full(n_rankers, np.nan), p, own_error, own_freedom, gain)


def _combined(strata: Sequence[Both], ranker: int, other: int | None = None) -> list[float]:
    """Return a mean or a difference, its error and degrees of freedom, and the judge's worth."""
    found = []
    for people, judge, judged in strata:
        own = people[ranker], judge[ranker]
        if other is not None:
            own = people[ranker] - people[other], judge[ranker] - judge[other]
        found.append(powered_mean(*own, judged))
    means, errors, freedoms, worths = np.transpose([[list(one)] for one in found])[:, 0]
    error, freedom = _welch(errors[:, None], freedoms[:, None])
    return [float(means.mean()), error.item(), freedom.item(), float(worths.sum())]


def _ends(mean: Vector, error: Vector, freedom: Vector) -> tuple[Vector, Vector]:
    """Return the ends of the 95% interval of t."""
    margin = np.where(error == 0, 0.0, stats.t.ppf(0.975, freedom) * error)
    return mean - margin, mean + margin


def stratified_mean(strata: Sequence[Matrix]) -> Vector:
    """Return the mean over data sets of the mean over queries."""
    return np.mean([values.mean(axis=-1) for values in strata], axis=0)


def interval(strata: Sequence[Matrix]) -> tuple[Vector, Vector]:
    """Return a 95% bootstrap interval of the mean; queries are resampled within their data set."""
    # B. Efron, R. Tibshirani. An Introduction to the Bootstrap. 1993, chapter 13. One query says
    # nothing of how queries differ.
    if min(values.shape[1] for values in strata) < 2:
        low, high = np.full((2, len(strata[0])), np.nan)
        return low, high
    return stats.bootstrap(
        strata,
        lambda *resampled, axis: stratified_mean(resampled),
        n_resamples=RESAMPLES,
        batch=max(1, CELLS // sum(values.size for values in strata)),
        vectorized=True,
        axis=-1,
        confidence_level=0.95,
        method="percentile",
        random_state=np.random.default_rng(SEED),
    ).confidence_interval


def randomisation_test(strata: Sequence[Matrix]) -> Vector:
    """Return p-values of the paired randomisation test that the mean difference is zero.

    If two rankers are equally good, the sign of a query's difference is a toss of a coin. (M.
    Smucker, J. Allan, B. Carterette. A comparison of statistical significance tests for
    information retrieval evaluation. CIKM 2007.)
    """
    weighted = np.concatenate([values / values.shape[1] for values in strata], axis=1)
    total = np.abs(weighted).sum(axis=1, keepdims=True)
    shares = np.divide(weighted, total, out=np.zeros_like(weighted), where=total > 0)
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
        n_resamples=RESAMPLES,
        batch=max(1, CELLS // n_queries),
        vectorized=True,
        axis=-1,
        random_state=np.random.default_rng(SEED),
    ).pvalue


def t_test(strata: Sequence[Matrix]) -> tuple[Vector, Vector, Vector]:
    r"""Return p-values of the paired t test, standard errors, and degrees of freedom.

    With mean difference d_s, variance v_s and n_s queries in each of S data sets,

    .. math:: t = \frac{\sum_s d_s}{\sqrt{\sum_s v_s / n_s}}

    and Welch's degrees of freedom. p is 1 where all differences are 0. (B. L. Welch. The
    generalization of "Student's" problem when several different population variances are
    involved. Biometrika 34, 1947.)
    """
    sizes = np.array([[values.shape[1]] for values in strata])
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(np.array([values.var(axis=1) for values in strata]) / (sizes - 1))
    error, freedom = _welch(errors, np.broadcast_to(sizes - 1, errors.shape))
    return _p_of_t(stratified_mean(strata), error, freedom), error, freedom


def _welch(errors: Matrix, freedom: Matrix) -> tuple[Vector, Vector]:
    """Return the standard error of a mean over data sets, a row each, and degrees of freedom."""
    squares = errors**2
    with np.errstate(divide="ignore", invalid="ignore"):
        together = squares.sum(axis=0) ** 2 / (squares**2 / freedom).sum(axis=0)
    return np.sqrt(squares.sum(axis=0)) / len(errors), together


def _p_of_t(mean: Vector, error: Vector, freedom: Vector) -> Vector:
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
