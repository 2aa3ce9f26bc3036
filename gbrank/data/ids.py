"""Query ids: integers and text, whole floats as integers, and anything else by its repr."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

import narwhals as nw
import numpy as np

from gbrank.common.checks import (
    ArgumentTypeError,
    Array,
    Mask,
    Positions,
    check_entries,
    check_unmasked,
    one_column,
)

INTEGER = re.compile(r"(-?[0-9]{1,40})(\.0)?")  # also as pandas writes a column with missing values
EXACT = 2**53  # floats from here on skip integers


def as_ids(qid: Any, name: str = "qid") -> Array:
    """Convert ids to an array in which different ids differ."""
    check_unmasked(qid, name)
    if not isinstance(qid, np.ndarray | list | tuple):
        qid = _from_column(qid)
    listed = isinstance(qid, Sequence) and not isinstance(qid, str | bytes)
    values = one_column(_from_sequence(qid) if listed else np.asarray(qid))
    if values.dtype.kind == "f":
        check_whole(values, name)
        return values if np.isnan(values).any() else values.astype(np.int64)
    return values if values.dtype.kind in "biuUSmM" else values.astype(object)


def check_whole(values: Array, name: str) -> None:
    """Raise if a float is no integer, or too large to stand for one integer only."""
    values = values.ravel()
    wrong = ~((values == np.floor(values)) & (np.abs(values) < EXACT) | np.isnan(values))
    demand = "must hold integers or text (or whole floats below 2**53)"
    hint = (
        " Large integers that became floats, as in a join with missing rows, may have merged: "
        "join on text, or on pandas' Int64."
    )
    check_entries(wrong, values, name, demand, hint=hint)


def _from_column(qid: Any) -> Any:
    """Convert a column of any data frame library; return anything else unchanged."""
    if nw.dependencies.is_into_dataframe(qid):
        frame = nw.from_native(qid, eager_only=True)
        qid = frame[:, 0].to_native() if frame.shape[1] == 1 else qid
    arrow = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(qid, arrow.Array):
        qid = arrow.chunked_array([qid])
    series = nw.from_native(qid, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return qid
    # NumPy would cut final NULs of text, and has no integers of 128 bits.
    exact = series.dtype.is_numeric() and series.dtype not in (nw.Int128, nw.UInt128)
    exact |= series.dtype in (nw.Boolean, nw.Date, nw.Datetime, nw.Duration)
    return np.asarray(series.to_native()) if exact else _objects(series.to_list())


def _from_sequence(values: Sequence[Any]) -> Array:
    """Convert to NumPy's array of the values if it holds the same ones, else to one of objects."""
    objects = _objects(values)
    if any(isinstance(value, tuple) for value in objects):  # an id each, and not a row of a matrix
        return objects
    try:
        array = np.asarray(objects.tolist())
    except ValueError:  # sequences of several lengths
        return objects
    return array if array.ndim != 1 or array.tolist() == objects.tolist() else objects


def _objects(values: Any) -> Array:
    return np.fromiter(values, object, len(values))


def as_list(ids: Array) -> list[Any]:
    """List ids as Python's own objects; times as NumPy's, of which Python would lose a part."""
    return list(ids) if ids.dtype.kind in "mM" else ids.tolist()


def missing_ids(ids: Array) -> Mask:
    """Find the ids that are missing, or tuples with a missing part."""
    if ids.dtype == object:
        parts = (value if isinstance(value, tuple) else (value,) for value in ids)
        return np.array([any(map(is_missing, part)) for part in parts], bool)
    return np.isnan(ids) if ids.dtype.kind in "fmM" else np.zeros(len(ids), bool)


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    if value is None:
        return True
    differs = value != value  # as NaN and NaT do; for NA it is NA
    return bool(differs) if isinstance(differs, bool | np.bool_) else differs is value


def codes_by_appearance(values: Array, name: str) -> tuple[Positions, Array]:
    """Find the code of each value, and the distinct values in order of appearance."""
    if values.dtype == object:
        codes: dict[Any, int] = {}
        try:
            inverse = np.array(
                [codes.setdefault(_identity(value, name), len(codes)) for value in values]
            )
        except TypeError as error:  # of lists and mappings
            raise ArgumentTypeError(
                name, "must hold hashable values, such as numbers, text or tuples", str(error)
            ) from None
        return inverse, values[np.unique(inverse, return_index=True)[1]]
    starts = np.concatenate([[True], values[1:] != values[:-1]])
    ids, first, inverse = np.unique(values[starts], return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    rank = np.argsort(by_appearance)
    return rank[inverse][np.cumsum(starts) - 1], ids[by_appearance]


def _identity(value: Any, name: str = "qid") -> Any:
    """Convert an id to what it is compared by: an integer, a text, or the repr of others."""
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        value = value.item()
    if isinstance(value, str | int):
        return value
    hash(value)  # others cannot be looked up
    if isinstance(value, float):
        check_whole(np.array([value]), name)
        return value if is_missing(value) else int(value)
    return (repr(value),)


def key_of(value: Any) -> int:
    """Hash an id to 64 bits, in every process alike; an integer and its text are the same."""
    value = _identity(value)
    if isinstance(value, str):
        match = INTEGER.fullmatch(value)  # files of text hold ids like that
        if match is None or str(int(match[1])) != match[1]:
            return _digest(repr(str.__str__(value)))
        value = int(match[1])
    if isinstance(value, int):
        small = -(2**63) <= value < 2**64
        return int(value) & (2**64 - 1) if small else _digest(f"number {hash(value)}")
    return _digest(value[0])


def find_matches(
    wanted: Sequence[Any], known: Sequence[Any], key: Callable[[Any], Any] = key_of
) -> list[list[int]]:
    """Find each wanted id among the known ones.

    The result has the indices of those that equal it; if none does, of those with the same key,
    unless another wanted id has this key too.
    """
    equal: dict[Any, list[int]] = {}
    alike: dict[Any, list[int]] = {}
    for index, value in enumerate(known):
        equal.setdefault(value, []).append(index)
    if all(value in equal for value in wanted):
        return [equal[value] for value in wanted]
    for value, indices in equal.items():
        alike.setdefault(key(value), []).extend(indices)
    keys = {value: key(value) for value in wanted}
    sharing = Counter(keys.values())
    return [
        equal.get(value) or (alike.get(keys[value], []) if sharing[keys[value]] == 1 else [])
        for value in wanted
    ]


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
