"""What the numbers of a unit depend on, as one short text."""

import functools
import hashlib
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import joblib
from sklearn.base import BaseEstimator

import gbrank
from gbrank.evaluation.folds import Dataset
from gbrank.evaluation.units import Work

__all__ = ["code_version", "data_fingerprint", "fingerprint"]


def fingerprint(work: Work, data: str) -> str:
    """Return a hash of all that the numbers of a unit depend on.

    That is the unit, the ranker's class and parameters, the data and the fold, the measures,
    gbrank's source and the versions of the boosters. Of a user's function the code counts, but
    not that of what it calls; of a user's class, the name.

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


def describe(value: Any) -> Any:
    """Return a value in types that are hashed alike in every process.

    Parameters
    ----------
    value : object

    Returns
    -------
    object

    Examples
    --------
    >>> from gbrank import NDCG
    >>> describe(NDCG(k=10))[1:]
    ['NDCG', {'ties': 'average', 'no_relevant': 'skip', 'k': 10, ...}]
    """
    value = getattr(value, "py_func", value)  # a function that numba has compiled
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return describe([value.__qualname__, value.__code__, value.__defaults__, cells])
    if isinstance(value, CodeType):
        return describe([value.co_code, value.co_names, value.co_consts])
    if isinstance(value, BaseEstimator):
        return _of_class(value, value.get_params(deep=False))
    if is_dataclass(value) and not isinstance(value, type):
        own = {item.name: getattr(value, item.name) for item in fields(value) if item.compare}
        return _of_class(value, own)
    if isinstance(value, Mapping):
        return {name: describe(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [describe(item) for item in value]
    return value


def _of_class(value: Any, content: Mapping[str, Any]) -> Any:
    return [type(value).__module__, type(value).__qualname__, describe(content)]


@functools.cache
def code_version() -> list[str]:
    """Return a hash of gbrank's source, and the versions of what it trains with.

    Returns
    -------
    list of str
    """
    source = hashlib.sha256()
    for file in sorted(Path(gbrank.__file__).parent.rglob("*.py")):
        if file.parent.name != "commands":
            source.update(file.read_bytes())
    packages = ("lightgbm", "xgboost", "catboost", "numpy")
    return [source.hexdigest(), *map(_version, packages)]


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"
