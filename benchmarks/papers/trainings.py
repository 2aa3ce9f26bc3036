"""Means over several trainings, with intervals and p-values that know how much trainings vary."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.papers.paper_rows import AVERAGE, PaperRow, as_letor
from benchmarks.papers.selection import Outcome
from gbrank.evaluation.statistics import holm
from gbrank.measures.measure import Measure

__all__ = [
    "Estimate",
    "Trainings",
    "difference_rows",
    "estimate",
    "mean_row",
    "trainings_of",
    "values_of",
]

Matrix: TypeAlias = NDArray[np.float64]
Trainings: TypeAlias = Sequence[Sequence[Outcome]]  # of each training, the fits of all folds


class Estimate(NamedTuple):
    """A mean over folds, queries and trainings, its 95% interval, and the p-value of 0."""

    mean: float
    low: float
    high: float
    p: float


def trainings_of(fits: Iterable[Outcome]) -> Trainings:
    """Return the fits of a ranker, seed by seed."""
    seeds: dict[int, list[Outcome]] = {}
    for fit in fits:
        seeds.setdefault(fit.seed, []).append(fit)
    return list(seeds.values())


def estimate(ours: Sequence[Matrix], base: Sequence[Matrix] | None = None) -> Estimate:
    """Return by how much the first mean is above the second, or above 0.

    Each is of shape (n_trainings, n_queries), fold by fold. The variance of the mean has a part
    from queries, that of their means over trainings, and one from each ranker's trainings, unless
    there is one only. (Both hold the noise of single values: the interval is rather too wide.) The
    degrees of freedom are Satterthwaite's.
    """
    folds = [[values] for values in ours]
    if base is not None:
        folds = [[*one, other] for one, other in zip(folds, base, strict=True)]
    means, parts = [], []
    for rankers in folds:
        by_query = rankers[0].mean(axis=0) - sum(values.mean(axis=0) for values in rankers[1:])
        means.append(by_query.mean())
        parts.append((by_query.var(ddof=1) / len(by_query), len(by_query) - 1))
        parts += [
            (values.mean(axis=1).var(ddof=1) / len(values), len(values) - 1)
            for values in rankers
            if len(values) > 1
        ]
    mean = float(np.mean(means))
    variance = sum(part for part, _ in parts)
    if variance == 0:
        return Estimate(mean, mean, mean, 1.0 if mean == 0 else 0.0)
    freedom = variance**2 / sum(part**2 / free for part, free in parts)
    error = np.sqrt(variance) / len(folds)
    width = float(stats.t.ppf(0.975, freedom) * error)
    p = float(2 * stats.t.sf(abs(mean) / error, freedom))
    return Estimate(mean, mean - width, mean + width, p)


def mean_row(
    paper: str, data: str, figure: str, ours: Trainings, measure: str, said: float | str | None,
    note: str = "",
) -> PaperRow:  # fmt: skip
    """Return a row of a mean over trainings."""
    return _row(paper, data, figure, estimate(values_of(ours, measure)), said, note)


def difference_rows(
    paper: str, data: str, figure: str, ours: Trainings, base: Trainings,
    measures: Sequence[Measure], said: str,
) -> Iterator[PaperRow]:  # fmt: skip
    """Yield rows of differences, with both means and the p-value of none, corrected by Holm."""
    values = [[values_of(fits, str(measure)) for fits in (ours, base)] for measure in measures]
    differences = [estimate(*both) for both in values]
    corrected = holm(np.array([found.p for found in differences]))
    for measure, both, found, p in zip(measures, values, differences, corrected, strict=True):
        one, other = (estimate(own).mean for own in both)
        note = f"{one:.4f} and {other:.4f}; p = {p:.2g} (Holm, of {len(measures)})"
        title = f"{str(measure).partition('(')[0].upper()} of {figure}"
        yield _row(paper, data, title, found, said, note)


def _row(
    paper: str, data: str, figure: str, found: Estimate, said: float | str | None, note: str
) -> PaperRow:
    ours = found.mean, said, found.low, found.high
    return PaperRow(paper, data, figure, *ours, note, average=AVERAGE)


def values_of(trainings: Trainings, measure: str) -> list[Matrix]:
    """Return each fold's values of the test queries, shape (n_trainings, n_queries)."""
    folds = zip(*trainings, strict=True)
    return [as_letor(np.array([fit.test[measure] for fit in fold])) for fold in folds]
