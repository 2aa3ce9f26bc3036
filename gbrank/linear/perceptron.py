"""SLAMPerceptron: a linear ranker that learns from one query at a time."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import Vector
from gbrank.common.fields import Integer, Real, checked_fields
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import n_rows
from gbrank.fit.arguments import Ids, TableLike, checked_documents, training_documents
from gbrank.fit.fitted import Fitted, Published, saved, vector_of
from gbrank.fit.known_elsewhere import explains_parameters
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import get_measure
from gbrank.objectives.slam import SLAM

from .features import learn_numbers, weighted_sum, with_numbers
from .linear_ranker import LinearModel

ROUNDING = 1e-12  # a ranking of measured loss up to this is perfect


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedPerceptron(Fitted):
    """Results of the queries that SLAMPerceptron has seen."""

    coef: Vector = saved(vector_of)
    cumulative_loss: Vector = saved(vector_of)


@explains_parameters
@dataclass(eq=False, repr=False)
class SLAMPerceptron(LinearModel[FittedPerceptron]):
    """Perceptron for rankings: after each query that is not ranked perfectly, a step along SLAM.

    Queries are processed one by one. Each is ranked by the current weights, and its measured loss
    is 1 − metric. If that is positive, w ← w − η ∇, with the subgradient of the upper bound
    Σ_i v_i max(0, max_{y_j < y_i} (Δ + s_j − s_i)) of the measured loss (see `SLAM`); among several
    j with the largest score, those with the largest label share the step equally. If some weights
    rank all queries correctly, by a margin, the cumulative loss stops growing.

    The paper states that rankings do not depend on η. This holds only if Δ is scaled with η:
    scaling both scales the weights and nothing else.

    Parameters
    ----------
    measure : {"ndcg", "ap"}, NDCG or AP
        The metric of the loss; "ndcg@10" evaluates, and learns from, the first ten positions.
    learning_rate : float
        η, the length of a step.
    margin : float
        Δ, the required score difference to documents with smaller labels.
    max_iter : int
        Number of passes of `fit` over the queries.

    Attributes
    ----------
    coef_ : ndarray, shape (n_features,)
        The weights w.
    cumulative_loss_ : ndarray, shape (n_rounds,)
        The sum of the measured losses up to each query. Queries that the metric skips have no loss.
    n_features_in_, feature_names_in_
        As for `GBRanker`.

    References
    ----------
    Chaudhuri & Tewari 2014, "Perceptron-like algorithms and generalization bounds for learning to
    rank", section 5.

    Examples
    --------
    >>> from gbrank import SLAMPerceptron, make_cubic
    >>> X, y, qid = make_cubic(60, n_documents=20, n_features=5, random_state=0)
    >>> ranker = SLAMPerceptron("ndcg@10").fit(X[:800], y[:800], qid=qid[:800])
    >>> len(ranker.cumulative_loss_)
    40
    >>> ranker.score(X[800:], y[800:], qid[800:]) > 0.45
    True
    """

    __metadata_request__partial_fit: ClassVar[dict[str, bool]] = {"qid": True}

    _makes = FittedPerceptron

    cumulative_loss_ = Published[Vector]()

    measure: str | Measure = "ndcg"
    _: KW_ONLY
    learning_rate: float = Real(1.0, above=0)
    margin: float = 1.0
    max_iter: int = Integer(1, low=1)

    def fit(
        self, X: TableLike, y: ArrayLike, qid: Ids | None = None, *, group: ArrayLike | None = None
    ) -> SLAMPerceptron:
        """Learn anew from queries, in the order in which they first appear.

        Parameters
        ----------
        X, y, qid, group
            As for `GBRanker.fit`, except that no feature may be missing.

        Returns
        -------
        SLAMPerceptron
            Itself.

        Raises
        ------
        ValueError, TypeError
            If an argument is not usable; the message names it.
        """
        train = training_documents(X, y, qid, group)
        return self._publish(self._learn(_untrained(train.X), train, self.max_iter))

    def partial_fit(
        self, X: TableLike, y: ArrayLike, qid: Ids | None = None, *, group: ArrayLike | None = None
    ) -> SLAMPerceptron:
        """Continue to learn, from one query or several.

        Parameters
        ----------
        X, y, qid, group
            As for `fit`; with neither qid nor group, all rows are one query.

        Returns
        -------
        SLAMPerceptron
            Itself.

        Raises
        ------
        ValueError, TypeError
            If an argument is not usable; the message names it.

        Examples
        --------
        >>> from gbrank import SLAMPerceptron
        >>> ranker = SLAMPerceptron().partial_fit([[1.0, 0.0], [0.0, 1.0]], [1, 0])
        >>> ranker.coef_.tolist()
        [1.0, -1.0]
        """
        documents = checked_documents(X, y=y, qid=qid, group=group)
        learned = self._published or _untrained(documents.X)
        return self._publish(self._learn(learned, documents, 1))

    def predict(self, X: TableLike) -> Vector:
        """Return the score of each row; higher ranks earlier within its query.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
            Features, none missing.

        Returns
        -------
        ndarray, shape (n_documents,)
        """
        fitted = self._fitted  # once: another thread may publish the next fit meanwhile
        if not n_rows(X):
            return np.empty(0)
        return weighted_sum(fitted.schema.transform(X), fitted.coef)

    def _measures(self) -> list[Measure]:
        return [get_measure(self.measure)]

    def _learn(
        self, learned: FittedPerceptron, documents: Documents, passes: int
    ) -> FittedPerceptron:
        """Go through some more queries, so many times."""
        checked_fields(self)
        (measure,) = self._measures()
        bound = SLAM(measure, margin=self.margin, smooth=False)
        rows = with_numbers(learned.schema, documents)
        coef = learned.coef
        total = learned.cumulative_loss
        for _ in range(passes):
            losses = []
            for part in rows.each_query():
                with np.errstate(over="ignore", invalid="ignore"):
                    scores = part.X @ coef
                if not np.isfinite(scores).all():
                    raise ValueError("X must be scaled: the scores of a query are not finite.")
                (value,) = measure.bind(part.y, part.queries, n_jobs=1).per_query(scores)
                loss = 1.0 - value if value < 1.0 - ROUNDING else 0.0  # NaN where it is skipped
                losses.append(loss)
                if loss > 0:
                    gradient, _ = bound.bind(part.y, part.queries, n_jobs=1).gradients(scores)
                    coef = coef - self.learning_rate * (part.X.T @ gradient)
            total = np.append(total, total[-1:].sum() + np.cumsum(losses))
        return replace(learned, coef=coef, cumulative_loss=total)


def _untrained(X: TableLike) -> FittedPerceptron:
    """Return weights of 0."""
    schema = learn_numbers(X)
    zeros = np.zeros(schema.n_features)
    return FittedPerceptron(schema=schema, coef=zeros, cumulative_loss=np.empty(0))
