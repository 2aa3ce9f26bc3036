"""Saved models of any class."""

import os
from pathlib import Path
from typing import Any, TypeVar

from gbrank.fit.storage import DESCRIPTION, Saved, read_saved

T = TypeVar("T")

RANKERS: dict[str, Any] = {}


def loadable(cls: type[T]) -> type[T]:
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
    saved = read_saved(path)
    name = saved.description["estimator"]
    if name not in RANKERS:
        raise ValueError(
            f"{path} must hold one of {', '.join(sorted(RANKERS))}, got a {name}: load it by "
            f"{name}.load."
        )
    return _restored(RANKERS[name], path, saved)


def load_as(cls: type[T], path: str | os.PathLike[str]) -> T:
    """Read a model of one class."""
    saved = read_saved(path)
    saved_class = saved.description["estimator"]
    if saved_class != cls.__name__:
        raise ValueError(
            f"{Path(path) / DESCRIPTION} holds a {saved_class}: load it by {saved_class}.load, not "
            f"{cls.__name__}.load."
        )
    return _restored(cls, path, saved)


def restore_start(saved: Saved) -> Any:
    """Return the ranker that another one boosts from; None if there is none."""
    start = saved.description["init"]
    if start is None:
        return None
    return RANKERS[start["estimator"]]._from_saved(Saved(start, saved.files))


def _restored(cls: Any, path: str | os.PathLike[str], saved: Saved) -> Any:
    try:
        return cls._from_saved(saved)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error!r}.") from None
