"""What rankers are worth on the test queries, their parameters chosen on the validation queries."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gbrank import Comparison
from gbrank.evaluation import Outcome

__all__ = ["best_on_validation", "fits_of", "values_by_fold"]


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
    """Return each test query's value, fold by fold, averaged over seeds; NaN where skipped."""
    return [np.mean([fit.test.values[measure] for fit in fold], axis=0) for fold in _by_fold(fits)]


def _by_fold(fits: Sequence[Outcome]) -> list[list[Outcome]]:
    folds: dict[int, list[Outcome]] = {}
    for fit in fits:
        folds.setdefault(fit.trial.fold, []).append(fit)
    return list(folds.values())
