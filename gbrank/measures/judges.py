"""Labels by a judge, such as a language model, beside people's: what both say together."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from gbrank.common.checks import (
    ArgumentError,
    Mask,
    Vector,
    check_labels,
    check_vector,
    quoted,
    warn_user,
)
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries

from .measure import Measure, bind_to_rows

PEOPLE = "people"
JUDGE = "judge"
LEVEL = 0.05
FEWEST = 3  # queries that people must have judged
SAFE = 10  # with fewer, intervals are somewhat too narrow


class Powered(NamedTuple):
    """A mean over queries, its standard error, and what the judge adds to it."""

    mean: float
    error: float
    freedom: float  # of the t distribution of the mean
    worth: float  # how many more queries people would have to judge for an interval as narrow

    @property
    def margin(self) -> float:
        """Half the width of the 95% interval."""
        return float(stats.t.ppf(1 - LEVEL / 2, self.freedom) * self.error)


def with_judge(
    y: ArrayLike, judge_labels: ArrayLike, queries: Queries, labels: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Combine people's labels, and the judge's where people have none, with all other labels."""
    people = check_vector(y, "y", queries.n_documents)
    judge = check_labels(judge_labels, "judge_labels", queries.n_documents)
    taken = {PEOPLE, JUDGE} & set(labels or ())
    if taken:
        raise ArgumentError(
            "labels",
            f"must not use the names {PEOPLE!r} and {JUDGE!r} together with judge_labels=",
            quoted(min(taken)),
        )
    known = ~np.isnan(people)
    counts = queries.count(known)
    judged = int((counts > 0).sum())
    torn = (counts > 0) & (counts < queries.sizes)
    if torn.any():
        query = int(np.argmax(torn))
        got = f"{counts[query]} labels of {queries.sizes[query]} documents in query "
        raise ArgumentError(
            "y",
            "must be missing (NaN) for all documents of a query, or for none",
            got + quoted(queries.id_list[query]),
        )
    if judged < FEWEST:
        raise ArgumentError(
            "y", f"must have at least {FEWEST} queries that people have judged", f"{judged}"
        )
    if judged < SAFE:
        warn_user(
            f"people have judged {judged} queries: with fewer than {SAFE}, 95% intervals "
            "cover somewhat less than 95%."
        )
    check_labels(people[known], "y")
    named = {**(labels or {}), PEOPLE: people, JUDGE: judge}
    return {"y": np.where(known, people, judge), "labels": named}


def check_of_y(measure: Measure) -> Measure:
    """Check that a measure is of y, which a judge has labelled, too."""
    if measure.label is not None:
        raise ArgumentError(
            "metric", "must use the labels y if judge_labels= is passed", quoted(str(measure))
        )
    return measure


def both_values(measure: Measure, rows: Documents, scores: Vector) -> tuple[Vector, Vector]:
    """Compute the measure of each query by people's labels, and by the judge's.

    The last axis of `scores` is that of the documents; queries take its place.
    """

    def by_label(label: str) -> Vector:
        bound = bind_to_rows(replace(measure, label=label), rows)
        return np.apply_along_axis(bound.per_query, -1, scores)

    check_of_y(measure)
    judge = by_label(JUDGE)
    if np.isnan(rows.labels[PEOPLE]).all():
        return np.full_like(judge, np.nan), judge
    return by_label(PEOPLE), judge


def queries_of_people(rows: Documents) -> Mask:
    """Mark the queries that people have judged."""
    return rows.queries.count(~np.isnan(rows.labels[PEOPLE])) > 0


def powered_mean(people: Vector, judge: Vector, judged: Mask) -> Powered:
    r"""Estimate the mean over queries of people's values, with a narrower interval by a judge's.

    With values h by people in n of N queries and j by the judge in all (each less its mean, and 0
    where the measure has none), and b the slope of h on j,

    .. math::
        \hat\theta = \bar h - b' (\bar j_n - \bar j_N), \quad b' = b\,\frac{F}{1 + F}, \quad
        \hat s^2 = s^2 \Bigl(\frac1n + \frac{F}{1 + F}\,
        \frac{(\bar j_n - \bar j_N)^2}{\sum_n (j - \bar j_n)^2}\Bigr) + \frac{b'^2 s_j^2}{N}

    b n/N less is the tuned λ of PPI++: Cov(h, j) / ((1 + n/(N − n)) Var(j)). For few queries, the
    slope is shrunk by its own F = (b / its standard error)²; s², of h − b' j, has n − 2 degrees of
    freedom, as the interval's t has; the second term is the slope's own error; and the interval
    is at most that of people alone. (A. Angelopoulos, J. Duchi, T. Zrnic. PPI++: efficient
    prediction-powered inference. arXiv:2311.01453; W. Cochran. Sampling techniques. 1977, 12.6.)
    """
    counted = int((judged & ~np.isnan(people)).sum())
    if counted < 2:
        mean = float(np.nanmean(people)) if counted else np.nan
        return Powered(mean, np.nan, np.nan, np.nan)
    n = int(judged.sum())
    mean = float(np.nanmean(people))
    centered = np.nan_to_num(people[judged] - mean) * n / counted
    error = float(np.sqrt(centered @ centered / (n - 1) / n))
    people_alone = Powered(mean, error, counted - 1, 0.0)
    if counted < FEWEST or judged.all() or not centered.any() or np.isnan(judge).all():
        return people_alone
    with_judge = _add_judge(people_alone, centered, judge, judged)
    gained = people_alone.margin / with_judge.margin
    if gained <= 1:
        return with_judge._replace(error=gained * with_judge.error)
    return with_judge._replace(worth=min(counted * (gained**2 - 1), len(judged) - n))


def _add_judge(people_alone: Powered, people: Vector, judge: Vector, judged: Mask) -> Powered:
    """Correct people's mean, of values `people` less their mean, by the judge's regression."""
    n = len(people)
    judge_all = np.nan_to_num(judge - np.nanmean(judge))
    judge_labelled = judge_all[judged]
    shift = float(judge_labelled.mean() - judge_all.mean())
    judge_labelled = judge_labelled - judge_labelled.mean()
    spread = float(judge_labelled @ judge_labelled)
    if not spread > 0:
        return people_alone
    slope = float(judge_labelled @ people) / spread
    residual = people - slope * judge_labelled
    explained = slope**2 * spread
    unexplained = float(residual @ residual) / (n - 2)
    shrinkage = explained / (explained + unexplained) if explained > 0 else 0.0
    slope *= shrinkage
    residual = people - slope * judge_labelled
    variance = float(residual @ residual) / (n - 2) * (1 / n + shrinkage * shift**2 / spread)
    variance += slope**2 * float(judge_all.var(ddof=1)) / len(judge_all)
    mean = people_alone.mean - slope * shift
    return Powered(mean, float(np.sqrt(variance)), people_alone.freedom - 1, 0.0)
