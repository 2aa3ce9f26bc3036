"""What rankers are worth on the test queries, their parameters chosen on the validation queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.paper_rows import as_letor
from gbrank.common.checks import Vector
from gbrank.evaluation import Comparison
from gbrank.measures.measure import Measure

__all__ = ["Outcome", "best_on_validation", "fits_of", "means_of", "values_by_fold"]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fit, with the values of the queries of its fold by measure."""

    ranker: str
    seed: int
    fold: int  # counted from 1
    rounds: float
    valid: dict[str, Vector]
    test: dict[str, Vector]


def best_on_validation(comparison: Comparison, measure: str) -> list[Outcome]:
    """Return, of each fold, the fit that is best on its validation queries."""
    return [
        max(fits, key=lambda fit: float(np.nanmean(fit.valid[measure])))
        for fits in _by_fold(fits_of(comparison))
    ]


def fits_of(comparison: Comparison, ranker: str | None = None) -> list[Outcome]:
    """Return the fits of one ranker, or of all, seed by seed and fold by fold."""
    rankers, seeds, rounds = comparison.rankers, comparison.seeds, comparison.rounds
    chosen = [i for i, name in enumerate(rankers) if ranker in (None, name)]
    outcomes = []
    for j, fold, i in product(range(len(seeds)), range(rounds.shape[2]), chosen):
        valid, test = (
            {
                measure: cube[i, j, scores.folds == fold + 1]
                for measure, cube in scores.values.items()
            }
            for scores in map(comparison.parts.__getitem__, ("valid", "test"))
        )
        place = rankers[i], seeds[j], fold + 1
        outcomes.append(Outcome(*place, rounds[i, j, fold], valid, test))
    return outcomes


def values_by_fold(fits: Sequence[Outcome], measure: str) -> list[NDArray[np.float64]]:
    """Return each test query's value, fold by fold, averaged over seeds."""
    return [
        as_letor(np.mean([fit.test[measure] for fit in fold], axis=0)) for fold in _by_fold(fits)
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
        folds.setdefault(fit.fold, []).append(fit)
    return list(folds.values())
