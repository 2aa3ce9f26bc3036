"""Scores in services: a saved ranker, loaded with NumPy, SciPy's matrices and its booster alone."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .common.checks import ArgumentError, Vector
from .common.files import StrPath
from .data.schema import Schema
from .fit.chain import Link, check_readable, scores_by, scores_of
from .fit.storage import Saved, model_of, read_saved, restoring
from .linear.features import weighted_sum

__all__ = ["Predictor", "load_predictor"]


class Predictor:
    """The scores of a ranker, for one list of documents at a time.

    They are those of its `predict`, bit for bit. It stores nothing of its input, so threads may
    share it; each call runs on one thread. Made by `load_predictor`, or by the method `predictor`
    of a fitted GBRanker.

    Examples
    --------
    >>> import pandas as pd
    >>> from gbrank import GBRanker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, n_features=2, random_state=0)
    >>> frame = pd.DataFrame(X, columns=["bm25", "price"])
    >>> predictor = GBRanker(n_estimators=5).fit(frame, y, qid=qid).predictor()
    >>> len(predictor.predict([{"bm25": 1.5, "price": 0.2}, {"bm25": 0.5, "price": None}]))
    2
    """

    def __init__(self, links: Sequence[Link]) -> None:
        self._links = links

    def predict(self, X: Any) -> Vector:
        """Return the score of each document; higher ranks earlier within its list.

        Parameters
        ----------
        X : list of mapping, array-like or data frame, shape (n_documents, n_features)
            The documents, as for the ranker's `predict`. A mapping has a value for each name of the
            data frame in `fit`; None is missing, and categories are what they were there.

        Returns
        -------
        ndarray, shape (n_documents,)

        Raises
        ------
        ValueError
            If X has not the columns of `fit`.
        """
        if isinstance(X, list) and X and isinstance(X[0], Mapping):
            schema: Any = self._links[0].schema
            return scores_by(self._links, schema, schema.of_rows(X), X)
        return scores_of(self._links, X)


def load_predictor(path: StrPath) -> Predictor:
    """Load a saved ranker, of any class, for a serving process.

    Loading imports NumPy, and LightGBM or XGBoost if the model consists of its trees; no compiler,
    no scikit-learn and no other booster. docs/howto/deploy.md lists the packages.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    Predictor

    Raises
    ------
    FileNotFoundError
        If there is no model.
    ValueError
        If a file is truncated or damaged.
    ArgumentError
        If it is a booster alone; if the model has categories, and continues a model of LightGBM or
        XGBoost, which does not say what its codes stand for; or if it is a
        ``LinearRanker(by_query=True)``, whose scores depend on the other documents of a query.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank import GBRanker, make_cubic
    >>> from gbrank.serving import load_predictor
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> ranker = GBRanker(n_estimators=5).fit(X, y, qid=qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ranker.save(folder)
    ...     predictor = load_predictor(folder)
    >>> bool((predictor.predict(X) == ranker.predict(X)).all())
    True
    """
    saved = read_saved(path)
    links: list[Link] = []
    schema: Schema | None = None
    part: Saved | None = saved
    while part is not None:
        if part["fitted"].get("by_query"):
            raise ArgumentError(
                "path",
                "must hold a ranker that scores documents one by one; use load_ranker",
                f"{part['estimator']}(by_query=True)",
            )
        if part["schema"]:
            schema = Schema.restored(part["schema"])
        else:  # a booster alone has that of the model before
            check_readable(schema, part["estimator"])
        with restoring(path, saved):
            if "booster" in part:
                score = partial(model_of(part, n_jobs=1).predict, n_jobs=1)
            else:
                score = partial(weighted_sum, coef=np.array(part["fitted"]["coef"]))
        links.append(Link(schema, score))
        part = part.get("init")
    return Predictor(links)
