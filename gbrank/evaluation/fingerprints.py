"""What the numbers of a unit depend on, as one short text."""

import functools
import hashlib
import pickle
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import joblib

from gbrank.common.describe import describe
from gbrank.evaluation.folds import Dataset
from gbrank.evaluation.units_of_work import Work

__all__ = ["code_version", "data_fingerprint", "fingerprint"]


def fingerprint(work: Work, data: str) -> str:
    """Return a hash of all that the numbers of a unit depend on.

    That is the unit, the ranker's class and parameters, the data and the fold, the measures,
    gbrank's source and the versions of the boosters. Of a user's function the code counts, but
    not what it calls or reads from its module; of a user's class, the name.

    Parameters
    ----------
    work : Work
    data : str
        The `data_fingerprint`.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If a parameter cannot be pickled.
    """
    parts = [work.unit, work.ranker, work.measures, work.fold, data, code_version()]
    try:
        return str(joblib.hash(describe(parts)))
    except (pickle.PicklingError, TypeError) as error:
        raise ValueError(
            f"results needs rankers and measures that can be pickled: {work.unit}: {error.args[0]}"
        ) from None


def data_fingerprint(data: Dataset) -> str:
    """Return a hash of features, labels and queries.

    Parameters
    ----------
    data : Dataset

    Returns
    -------
    str
    """
    queries = data.queries
    return str(joblib.hash((data.X, data.labels, queries.ids, queries.order, queries.offsets)))


@functools.cache
def code_version() -> list[str]:
    """Return a hash of gbrank's source, and the versions of what it trains with.

    Returns
    -------
    list of str
    """
    source = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        if file.parent.name != "commands":
            source.update(file.read_bytes())
    packages = ("lightgbm", "xgboost", "catboost", "numpy")
    return [source.hexdigest(), *map(_version, packages)]


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"
