"""Query ids of any type: none are merged on the way to NumPy, and equal ones have the same key."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta, timezone
from hashlib import blake2b
from numbers import Number
from typing import Any

import narwhals as nw
import numpy as np

from gbrank.common.checks import check_unmasked
from gbrank.common.errors import ArgumentTypeError
from gbrank.common.values import Array, Mask, Positions, one_column

NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,20})?(e[+-][0-9]{1,3})?")
TIMES = date, timedelta, np.datetime64, np.timedelta64


def as_ids(qid: Any, name: str = "qid") -> Array:
    """Return ids as an array that keeps apart what NumPy would make equal."""
    check_unmasked(qid, name)
    if not isinstance(qid, np.ndarray | list | tuple):
        qid = _from_column(qid)
    if isinstance(qid, Sequence) and not isinstance(qid, str | bytes):
        return one_column(_from_sequence(qid))
    values = one_column(np.asarray(qid))
    return values.astype(object) if values.dtype.kind == "T" else values


def _from_column(qid: Any) -> Any:
    """Return a column of any library as an array, and anything else as it is."""
    if nw.dependencies.is_into_dataframe(qid):
        frame = nw.from_native(qid, eager_only=True)
        qid = frame[:, 0].to_native() if frame.shape[1] == 1 else qid
    arrow = nw.dependencies.get_pyarrow()
    if arrow is not None and isinstance(qid, arrow.Array):
        qid = arrow.chunked_array([qid])
    series = nw.from_native(qid, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return qid
    # NumPy has no like of these: it would cut final NULs, make matrices, or refuse.
    as_objects = (nw.String, nw.Time, nw.Int128, nw.UInt128, nw.Struct, nw.Array)
    at_once = series.dtype not in as_objects
    return np.asarray(series.to_native()) if at_once else _objects(series.to_list())


def _from_sequence(values: Sequence[Any]) -> Array:
    """Return NumPy's array of the values if it holds the same ones, else one of objects."""
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
    """Return ids as Python's own objects; times as NumPy's, of which Python would lose a part."""
    return list(ids) if ids.dtype.kind in "mM" else ids.tolist()


def missing_ids(ids: Array) -> Mask:
    """Return which ids are missing, or have a missing part."""
    if ids.dtype == object:
        return np.fromiter(map(_has_missing, ids), bool, len(ids))
    return np.isnan(ids) if ids.dtype.kind in "fcmM" else np.zeros(len(ids), bool)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN, NaT or NA."""
    if value is None:
        return True
    differs = value != value  # as NaN and NaT do; for NA it is NA
    return bool(differs) if isinstance(differs, bool | np.bool_) else differs is value


def _has_missing(value: object) -> bool:
    """Return whether an id is missing, or a tuple with NaN, NaT or NA, which equal nothing."""
    if isinstance(value, tuple):
        return any(item is not None and is_missing(item) for item in value)
    return is_missing(value)


def codes_by_appearance(values: Array, name: str) -> tuple[Positions, Array]:
    """Return for each value its number among the different ones, and these as they appear."""
    if values.dtype == object:
        codes: dict[Any, int] = {}
        try:
            inverse = np.array([codes.setdefault(value, len(codes)) for value in values])
        except TypeError as error:  # of lists and mappings
            demand = "must hold values that can be hashed, such as numbers, text or tuples"
            raise ArgumentTypeError(name, demand, str(error)) from None
        return inverse, _objects(codes)
    starts = np.concatenate([[True], values[1:] != values[:-1]])
    ids, first, inverse = np.unique(values[starts], return_index=True, return_inverse=True)
    rank = np.empty(len(ids), dtype=np.int64)
    by_appearance = np.argsort(first)
    rank[by_appearance] = np.arange(len(ids))
    return rank[inverse][np.cumsum(starts) - 1], ids[by_appearance]


def key_of(value: object) -> int:
    """Return a number of 64 bits that equal ids of all types share, in every process."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    if isinstance(value, str):
        text = str.__str__(value)
        if NUMBER.fullmatch(text):  # files of text hold ids like that
            number = int(text) if text.lstrip("-").isdecimal() else float(text)
            if str(number) == text:  # as Python writes it
                return _key_of_number(number)
        return _digest(repr(text))
    if isinstance(value, TIMES):
        return _key_of_time(value)
    if isinstance(value, Number):
        return _key_of_number(value)
    if isinstance(value, tuple):
        return _digest(repr([key_of(item) for item in value]))
    return _digest(repr(value))


def places_among(
    wanted: Sequence[Any], known: Sequence[Any], key: Callable[[Any], Any] = key_of
) -> list[list[int]]:
    """Return the places of each wanted id among the known ones.

    They are of those that equal it. If none does, they are of those with the same key, unless
    another wanted id has this key too.
    """
    equal: dict[Any, list[int]] = {}
    alike: dict[Any, list[int]] = {}
    for place, value in enumerate(known):
        equal.setdefault(value, []).append(place)
    if all(value in equal for value in wanted):
        return [equal[value] for value in wanted]
    for value, places in equal.items():
        alike.setdefault(key(value), []).extend(places)
    keys = {value: key(value) for value in wanted}
    sharing = Counter(keys.values())
    return [
        equal.get(value) or (alike.get(keys[value], []) if sharing[keys[value]] == 1 else [])
        for value in wanted
    ]


def _key_of_number(value: Any) -> int:
    """Return an integer of up to 64 bits as it is, and a hash of others."""
    real = value.real
    if value == real and -(2.0**63) <= real < 2.0**64 and real % 1 == 0:
        return int(real) & (2**64 - 1)
    return _digest(f"number {hash(value)}")  # the same for equal numbers of all types


def _key_of_time(value: Any) -> int:
    """Return a hash of a moment, or of how long it is after another one."""
    if isinstance(value, datetime) and value.tzinfo is not None and not hasattr(value, "asm8"):
        value = value.astimezone(timezone.utc).replace(tzinfo=None)
    kind = "m" if isinstance(value, timedelta | np.timedelta64) else "M"
    make: Any = np.timedelta64 if kind == "m" else np.datetime64
    exact = make(getattr(value, "asm8", value))  # pandas has nanoseconds
    unit = f"{kind}8[us]"
    if np.can_cast(exact.dtype, unit, "same_kind") and exact.astype(unit) == exact:
        exact = exact.astype(unit)
    return _digest(str(exact))


def _digest(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
