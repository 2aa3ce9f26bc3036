"""Rankers that take all rows for one query, as scikit-learn's checks need it."""

from functools import wraps
from typing import Any

import numpy as np

from gbrank import GBRanker, LinearRanker, SLAMPerceptron


def of_one_list(method: Any) -> Any:
    """Let `fit` or `score` take the rows for one query, as scikit-learn's checks need it."""

    @wraps(method)
    def wrapped(self: Any, X: Any, y: Any = None, **others: Any) -> Any:
        if y is not None:
            others["group"] = [len(np.asarray(y))]
        return method(self, X, y, **others)

    return wrapped


class Unskipped:
    """Lets the checks run."""

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the ranker, but that none is passed over."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        assert tags._skip_test
        tags._skip_test = False
        return tags


class TreesOfOneList(Unskipped, GBRanker):
    """GBRanker on one list."""

    fit = of_one_list(GBRanker.fit)
    score = of_one_list(GBRanker.score)


class LinearOfOneList(Unskipped, LinearRanker):
    """LinearRanker on one list."""

    fit = of_one_list(LinearRanker.fit)
    score = of_one_list(LinearRanker.score)


class PerceptronOfOneList(Unskipped, SLAMPerceptron):
    """SLAMPerceptron on one list."""

    fit = of_one_list(SLAMPerceptron.fit)
    score = of_one_list(SLAMPerceptron.score)
