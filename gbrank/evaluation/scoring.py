"""scikit-learn's scorers by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from gbrank.common.checks import queries_needed
from gbrank.data.queries import QueryWeights
from gbrank.evaluation.scorable import predicted
from gbrank.measures.measure import Measure
from gbrank.measures.measure_registry import Metric, get_measure


@dataclass(frozen=True)
class Scorer:
    """A scorer of scikit-learn; made by `make_scorer`."""

    measure: Measure

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        query_weight: QueryWeights | None = None,
    ) -> float:
        """Return the mean over queries of the measure of an estimator's predictions."""
        if qid is None:
            raise queries_needed(f"scorer of {self.measure}", "qid= (one query id per row)")
        weights: Any = {"sample_weight": sample_weight, "query_weight": query_weight}
        return self.measure(y, predicted(estimator, X, qid), qid=qid, **weights, X=X)

    def get_metadata_routing(self) -> MetadataRequest:
        """Return the metadata that the scorer requests: queries and weights."""
        request = MetadataRequest(owner=self)
        for name in ("qid", "sample_weight", "query_weight"):
            request.score.add_request(param=name, alias=True)
        return request


def make_scorer(measure: Metric) -> Scorer:
    """Return a scorer for scikit-learn's searches and cross-validation.

    It takes any estimator that predicts scores, a regressor too, and requests qid, sample_weight
    and query_weight, which scikit-learn passes on where metadata routing is enabled.

    Parameters
    ----------
    measure : str, Measure or callable
        What the scores are judged by, such as "ndcg@10".

    Returns
    -------
    Scorer
        Callable with (estimator, X, y, qid).

    Raises
    ------
    ValueError
        If there is no such measure.

    Examples
    --------
    >>> from sklearn import config_context
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GroupKFold, cross_val_score
    >>> from gbrank import make_cubic
    >>> from gbrank.evaluation import make_scorer
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> options = {"scoring": make_scorer("ndcg@10"), "params": {"qid": qid, "groups": qid}}
    >>> with config_context(enable_metadata_routing=True):
    ...     cross_val_score(Ridge(), X, y, cv=GroupKFold(4), **options).shape
    (4,)
    """
    return Scorer(get_measure(measure))
