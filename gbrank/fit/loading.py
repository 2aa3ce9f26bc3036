"""Saved models of any class."""

import os
from typing import Any, TypeVar

from gbrank.fit.storage import estimator_of

__all__ = ["load_ranker", "loadable"]

T = TypeVar("T", bound=type)

RANKERS: dict[str, Any] = {}


def loadable(cls: T) -> T:
    """Let `load_ranker` find the models of a class by its name; a class decorator."""
    RANKERS[cls.__name__] = cls
    return cls


def load_ranker(path: str | os.PathLike[str]) -> Any:
    """Read a model of any class from the folder where its `save` wrote it.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    GBRanker, LinearRanker, SLAMPerceptron or PretrainedRanker

    Raises
    ------
    FileNotFoundError
        If there is no model.
    ValueError
        If a file is cut short or damaged, or the model's class is not of gbrank.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank import LinearRanker, load_ranker, make_cubic
    >>> X, y, qid = make_cubic(20, n_documents=10, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LinearRanker("regression").fit(X, y, qid=qid).save(folder)
    ...     load_ranker(folder)
    LinearRanker(objective='regression')
    """
    name = estimator_of(path)
    if name not in RANKERS:
        raise ValueError(
            f"{path} must hold one of {', '.join(sorted(RANKERS))}, got a {name}: load it by "
            f"{name}.load."
        )
    return RANKERS[name].load(path)
