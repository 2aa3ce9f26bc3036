"""What rankers are worth on the test queries, their parameters chosen on the validation queries."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gbrank.evaluation import Comparison
from gbrank.evaluation.trial import Outcome

__all__ = ["best_on_validation", "fits_of", "values_by_fold"]


def best_on_validation(comparison: Comparison, measure: str) -> list[Outcome]:
    """Return, of each fold, the fit that is best on its validation queries.

    Parameters
    ----------
    comparison : Comparison
        Of rankers that differ in what is to be chosen.
    measure : str
        What to choose by.

    Returns
    -------
    list of Outcome

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic
    >>> X, y, qid = make_cubic(9, n_documents=10, n_features=5, random_state=0)
    >>> rankers = {f"{n} trees": GBRanker(n_estimators=n) for n in (1, 20)}
    >>> options = {"folds": 3, "seeds": 1, "n_jobs": 1, "progress": False}
    >>> comparison = cross_validate_rankers(rankers, X, y, qid, **options)
    >>> [fit.trial.fold for fit in best_on_validation(comparison, "ndcg@10")]
    [1, 2, 3]
    """
    return [
        max(fits, key=lambda fit: float(np.nanmean(fit.valid.values[measure])))
        for fits in _by_fold(comparison.outcomes)
    ]


def fits_of(comparison: Comparison, ranker: str) -> list[Outcome]:
    """Return the fits of one ranker.

    Parameters
    ----------
    comparison : Comparison
    ranker : str

    Returns
    -------
    list of Outcome

    Examples
    --------
    >>> from gbrank import LinearRanker, cross_validate_rankers, make_cubic
    >>> X, y, qid = make_cubic(9, n_documents=10, n_features=5, random_state=0)
    >>> rankers = {f"{x}": LinearRanker("regression", ridge=x) for x in (1.0, 2.0)}
    >>> options = {"folds": 3, "seeds": 2, "n_jobs": 1, "progress": False}
    >>> fits = fits_of(cross_validate_rankers(rankers, X, y, qid, **options), "2.0")
    >>> [(fit.trial.seed, fit.trial.fold) for fit in fits]
    [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3)]
    """
    return [fit for fit in comparison.outcomes if fit.trial.ranker == ranker]


def values_by_fold(fits: Sequence[Outcome], measure: str) -> list[NDArray[np.float64]]:
    """Return what each test query is worth, fold by fold, averaged over seeds.

    Parameters
    ----------
    fits : sequence of Outcome
    measure : str

    Returns
    -------
    list of ndarray, shape (n_queries,)
        NaN where a query is skipped.

    Examples
    --------
    >>> from gbrank import LinearRanker, cross_validate_rankers, make_cubic
    >>> X, y, qid = make_cubic(9, n_documents=10, n_features=5, random_state=0)
    >>> options = {"folds": 3, "seeds": 2, "n_jobs": 1, "progress": False}
    >>> rankers = {"regression": LinearRanker("regression")}
    >>> fits = fits_of(cross_validate_rankers(rankers, X, y, qid, **options), "regression")
    >>> [values.shape for values in values_by_fold(fits, "ndcg@10")]
    [(3,), (3,), (3,)]
    """
    return [np.mean([fit.test.values[measure] for fit in fold], axis=0) for fold in _by_fold(fits)]


def _by_fold(fits: Sequence[Outcome]) -> list[list[Outcome]]:
    folds: dict[int, list[Outcome]] = {}
    for fit in fits:
        folds.setdefault(fit.trial.fold, []).append(fit)
    return list(folds.values())
