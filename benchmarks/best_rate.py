"""A ranker at the learning rate that is best on validation queries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from gbrank.common.checks import check_number
from gbrank.fit.interrupted import as_part


class BestRate(BaseEstimator):
    """Trains a ranker at each of several learning rates, and keeps the one that validates best.

    To compare rankers at one common rate would favour longer steps where rounds are few.

    Parameters
    ----------
    ranker : estimator
        An unfitted ranker with a `learning_rate`, that stops early.
    learning_rates : sequence of float

    Attributes
    ----------
    ranker_, learning_rate_, cpu_seconds_
        The fitted ranker, its learning rate and the CPU seconds of its fit.
    best_iteration_, best_score_
        The ranker's.

    Examples
    --------
    >>> from benchmarks.best_rate import BestRate
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(30, n_documents=10, n_features=5, random_state=0)
    >>> ranker = GBRanker("ranknet", n_estimators=20, early_stopping_rounds=5, random_state=0)
    >>> chosen = BestRate(ranker, [0.001, 0.1]).fit(
    ...     X[:200], y[:200], qid=qid[:200], eval_set=[(X[200:], y[200:])], eval_qid=[qid[200:]]
    ... )
    >>> chosen.learning_rate_
    0.1
    """

    def __init__(
        self, ranker: object, learning_rates: Sequence[float] = (0.03, 0.06, 0.12)
    ) -> None:
        self.ranker = ranker
        self.learning_rates = learning_rates

    def fit(
        self,
        X: object,
        y: ArrayLike,
        *,
        qid: ArrayLike,
        eval_set: Sequence[tuple[Any, ArrayLike]],
        eval_qid: Sequence[ArrayLike],
    ) -> BestRate:
        """Train the ranker at each rate.

        Parameters
        ----------
        X, y, qid, eval_set, eval_qid
            As for `GBRanker.fit`.

        Returns
        -------
        BestRate
            Itself.

        Raises
        ------
        ValueError
            If there is no rate, or one is not above 0.
        """
        rates = [check_number(rate, "learning_rates", above=0) for rate in self.learning_rates]
        if not rates:
            raise ValueError("learning_rates must hold at least one rate, got none.")

        def trained(rate: float) -> tuple[Any, float, float]:
            start = time.process_time()
            ranker = clone(self.ranker).set_params(learning_rate=rate)
            as_part(lambda: ranker.fit(X, y, qid=qid, eval_set=eval_set, eval_qid=eval_qid))
            return ranker, rate, time.process_time() - start

        best = max(map(trained, rates), key=lambda fit: fit[0].best_score_)  # only the best is kept
        self.ranker_, self.learning_rate_, self.cpu_seconds_ = best
        for name in ("best_iteration_", "best_score_"):
            setattr(self, name, getattr(self.ranker_, name, None))
        return self

    def predict(self, X: object) -> NDArray[Any]:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)

        Returns
        -------
        ndarray, shape (n_documents,)
        """
        check_is_fitted(self)
        return np.asarray(self.ranker_.predict(X))
