"""What rankers are worth on the test queries, their parameters chosen on the validation queries."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.paper_rows import as_letor
from gbrank.evaluation import Comparison, Outcome
from gbrank.measures.measure import Measure

__all__ = ["best_on_validation", "fits_of", "means_of", "values_by_fold"]


def best_on_validation(comparison: Comparison, measure: str) -> list[Outcome]:
    """Return, of each fold, the fit that is best on its validation queries."""
    return [
        max(fits, key=lambda fit: float(np.nanmean(fit.valid.values[measure])))
        for fits in _by_fold(comparison.outcomes)
    ]


def fits_of(comparison: Comparison, ranker: str) -> list[Outcome]:
    """Return the fits of one ranker."""
    return [fit for fit in comparison.outcomes if fit.trial.ranker == ranker]


def values_by_fold(fits: Sequence[Outcome], measure: str) -> list[NDArray[np.float64]]:
    """Return each test query's value, fold by fold, averaged over seeds."""
    return [
        as_letor(np.mean([fit.test.values[measure] for fit in fold], axis=0))
        for fold in _by_fold(fits)
    ]


def means_of(
    fits: Mapping[str, Sequence[Outcome]], measures: Sequence[Measure]
) -> dict[str, list[float]]:
    """Return each ranker's mean over folds of the mean over test queries, by measure."""
    return {
        name: [
            float(np.mean([np.mean(fold) for fold in values_by_fold(own, str(measure))]))
            for measure in measures
        ]
        for name, own in fits.items()
    }


def _by_fold(fits: Sequence[Outcome]) -> list[list[Outcome]]:
    folds: dict[int, list[Outcome]] = {}
    for fit in fits:
        folds.setdefault(fit.trial.fold, []).append(fit)
    return list(folds.values())
