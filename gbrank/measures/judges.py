"""Labels by a judge, such as a language model, beside people's: what both say together."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from gbrank.common.checks import check_labels, check_vector, quoted
from gbrank.common.errors import ArgumentError, warn_user
from gbrank.common.values import Vector
from gbrank.data.documents import Documents
from gbrank.data.ids import as_list
from gbrank.data.queries import Queries
from gbrank.measures.measure import Measure, bind_to_rows

PEOPLE, JUDGE = "people", "judge"  # the names of both labels
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
    """Return y, people's labels where there are any and else the judge's, and all other labels."""
    people = check_vector(y, "y", queries.n_documents)
    judge = check_labels(judge_labels, "judge_labels", queries.n_documents)
    taken = {PEOPLE, JUDGE} & set(labels or ())
    if taken:
        demand = f"must not be called {PEOPLE!r} or {JUDGE!r} beside judge_labels="
        raise ArgumentError("labels", demand, quoted(min(taken)))
    known = ~np.isnan(people)
    counts = np.bincount(queries.index[known], minlength=queries.n_queries)
    judged = int((counts > 0).sum())
    torn = (counts > 0) & (counts < queries.sizes)
    if torn.any():
        query = int(np.argmax(torn))
        demand = "must be missing (NaN) for all documents of a query, or for none"
        got = f"{counts[query]} labels of {queries.sizes[query]} documents in query "
        raise ArgumentError("y", demand, got + quoted(as_list(queries.ids)[query]))
    if judged < FEWEST:
        demand = f"must have at least {FEWEST} queries that people have judged"
        raise ArgumentError("y", demand, f"{judged}")
    if judged < SAFE:
        warn_user(
            f"people have judged {judged} queries: with fewer than {SAFE}, intervals of 95% hold "
            "somewhat less often than they say."
        )
    check_labels(people[known], "y")
    named = {**(labels or {}), PEOPLE: people, JUDGE: judge}
    return {"y": np.where(known, people, judge), "labels": named}


def refuse_weights(*weights: object) -> None:
    """Refuse weights, which have no part in what people and a judge say together."""
    if any(weight is not None for weight in weights):
        raise ArgumentError("judge_labels", "must be None where weights are given")


def of_y(measure: Measure) -> Measure:
    """Return a measure, which must be of y where a judge has judged, too."""
    if measure.label is not None:
        demand = "must be of y where judge_labels is given"
        raise ArgumentError("metric", demand, quoted(str(measure)))
    return measure


def both_values(
    measure: Measure, rows: Documents, scores: Vector, n_jobs: int | None = None
) -> tuple[Vector, Vector]:
    """Return the measure of each query by people's labels, and by the judge's."""
    of_y(measure)
    judge = bind_to_rows(replace(measure, label=JUDGE), rows, n_jobs).per_query(scores)
    if np.isnan(rows.labels[PEOPLE]).all():
        return np.full(len(judge), np.nan), judge
    people = bind_to_rows(replace(measure, label=PEOPLE), rows, n_jobs).per_query(scores)
    return people, judge


def queries_of_people(rows: Documents) -> NDArray[np.bool_]:
    """Return which queries people have judged."""
    known = rows.queries.index[~np.isnan(rows.labels[PEOPLE])]
    return np.bincount(known, minlength=rows.queries.n_queries) > 0


def powered_mean(people: Vector, judge: Vector, judged: NDArray[np.bool_]) -> Powered:
    r"""Return the mean over queries of what people say, made more certain by a judge.

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
    mean, n = float(np.nanmean(people)), int(judged.sum())
    h = np.nan_to_num(people[judged] - mean) * n / counted
    people_alone = Powered(mean, float(np.sqrt(h @ h / (n - 1) / n)), counted - 1, 0.0)
    every = np.nan_to_num(judge - np.nanmean(judge)) if not np.isnan(judge).all() else judge * 0
    difference = float(every[judged].mean() - every.mean())
    j = every[judged] - every[judged].mean()
    spread = float(j @ j)
    if counted < FEWEST or not spread > 0 or not h.any() or judged.all():
        return people_alone
    slope, freedom = float(j @ h) / spread, counted - 2
    left = h - slope * j
    gain, noise = slope**2 * spread, float(left @ left) / (n - 2)
    shrunk = gain / (gain + noise) if gain > 0 else 0.0
    left = h - shrunk * slope * j
    variance = float(left @ left) / (n - 2) * (1 / n + shrunk * difference**2 / spread)
    variance += (shrunk * slope) ** 2 * float(every.var(ddof=1)) / len(every)
    powered = Powered(mean - shrunk * slope * difference, float(np.sqrt(variance)), freedom, 0.0)
    if powered.margin >= people_alone.margin:
        return powered._replace(error=people_alone.margin / powered.margin * powered.error)
    worth = counted * ((people_alone.margin / powered.margin) ** 2 - 1)
    return powered._replace(worth=min(worth, len(judged) - n))
