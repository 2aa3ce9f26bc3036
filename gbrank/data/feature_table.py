"""Features in data frames: all columns as one block of numbers, categories as codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.on_use import nw
from gbrank.data.feature_matrix import refuse_data_set, refuse_empty
from gbrank.data.frames import as_frame, as_numbers, is_numeric, is_stored_index

DEMAND = "X must hold the types of fit, numbers"


class FeatureTable:
    """The columns of a data frame, by name; those of pandas without narwhals where time counts."""

    def __init__(self, frame: Any) -> None:
        self._native = frame  # of pandas, or of narwhals
        self._pandas = not isinstance(frame, nw.DataFrame)
        self.names = column_names(list(frame.columns))
        self.shape: tuple[int, int] = frame.shape
        refuse_empty(self.shape)

    @cached_property
    def _frame(self) -> nw.DataFrame[Any]:
        return nw.from_native(self._native, eager_only=True)

    @cached_property
    def _types(self) -> list[np.dtype[Any] | None]:
        """NumPy's types of the columns of a pandas frame; None where they are no numbers."""
        return [_numpy_type(dtype) for dtype in self._native.dtypes.tolist()]

    @property
    def others(self) -> list[int]:
        """The columns whose type is none of numbers."""
        if self._pandas:
            return [place for place, dtype in enumerate(self._types) if dtype is None]
        types = enumerate(self._frame.schema.values())
        return [place for place, dtype in types if not is_numeric(dtype)]

    def column(self, place: int) -> nw.Series[Any]:
        """Return a column."""
        return self._frame[:, place]

    def values(self, place: int) -> list[Any]:
        """Return the values of a column."""
        if not self._pandas:
            return self.column(place).to_list()
        column = self._native.iloc[:, place]
        codes = getattr(column.array, "codes", None)
        if codes is None:
            return list(column.tolist())
        categories = [*column.array.categories, None]  # the last one is that of code -1
        return [categories[code] for code in codes.tolist()]

    def take(self, places: list[int]) -> Any:
        """Return a data frame of some columns."""
        return self._frame[:, places].to_native()

    def matrix(self, places: list[int], codes: Mapping[int, Vector]) -> NDArray[Any]:
        """Return the columns at these places as numbers, but the codes for some of them."""
        if self._pandas:
            return self._pandas_matrix(places, {places[i]: values for i, values in codes.items()})
        if not codes:
            return _block(self._frame, places)
        matrix = np.empty((self.shape[0], len(places)))
        if numbers := [position for position in range(len(places)) if position not in codes]:
            matrix[:, numbers] = _block(self._frame, [places[position] for position in numbers])
        for position, values in codes.items():
            matrix[:, position] = values
        return matrix

    def _pandas_matrix(self, places: list[int], codes: dict[int, Vector]) -> NDArray[Any]:
        for place in set(self.others).intersection(places) - codes.keys():
            codes[place] = as_numbers(self.column(place), DEMAND)
        frame = self._native
        if codes:
            frame = frame.copy(deep=False)
            for place, values in codes.items():
                frame.isetitem(place, values)
        if places != [*range(len(self.names))]:
            frame = frame.take(places, axis=1)
        types = {codes[place].dtype if place in codes else self._types[place] for place in places}
        dtype = np.float32 if types == {np.dtype(np.float32)} else np.float64
        return _by_row(frame.to_numpy(dtype=dtype, na_value=np.nan))


def feature_table(X: Any) -> FeatureTable | None:
    """Return the columns of a data frame, but for a stored index; None of anything else."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    refuse_data_set(X)
    frame = X if nw.dependencies.is_pandas_dataframe(X) else as_frame(X, "X")
    if frame is None:
        return None
    if index := [name for name in frame.columns if is_stored_index(name)]:
        frame = nw.from_native(frame, eager_only=True).drop(index)
    return FeatureTable(frame)


def _block(frame: nw.DataFrame[Any], places: list[int]) -> NDArray[Any]:
    """Return columns as numbers, in single precision where all are."""
    frame = frame if places == [*range(frame.shape[1])] else frame[:, places]
    block: NDArray[Any] = np.empty(0, object)
    with suppress(Exception):  # of dates, and of integers that NumPy has no like of
        block = frame.to_numpy()
    if block.dtype.kind not in "biuf":  # NumPy has no missing truth values, and text is refused
        block = np.column_stack([as_numbers(column, DEMAND) for column in frame.iter_columns()])
    elif block.dtype == np.float32:
        numbers = filter(is_numeric, frame.schema.values())
        block = block.astype(np.float32 if {*numbers} == {nw.Float32} else np.float64)
    return _by_row(block)


def _by_row(block: NDArray[Any]) -> NDArray[Any]:
    """Return numbers row by row in an array that compiled code may take."""
    single = block.dtype == np.float32
    return np.require(block, np.float32 if single else np.float64, ["C", "W"])


def _numpy_type(dtype: Any) -> np.dtype[Any] | None:
    """Return NumPy's type of the numbers in a column of pandas; None where there are none."""
    if hasattr(dtype, "fill_value"):
        hint = " Pass X.sparse.to_coo() in fit and predict, or X.sparse.to_dense()."
        raise ArgumentError("X", "must not have sparse pandas columns", f"{dtype}", hint)
    numbers = dtype if isinstance(dtype, np.dtype) else getattr(dtype, "numpy_dtype", None)
    return numbers if numbers is not None and numbers.kind in "biuf" else None


def column_names(columns: Sequence[Any]) -> list[str]:
    """Return the names of columns as text, in which they must differ."""
    names = [str(name) for name in columns]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        same = " and ".join(repr(name) for name in columns if str(name) == twice)
        demand = "must have a name of its own for each column, which are taken as text"
        raise ArgumentError("X", demand, same)
    if "" in names:
        hint = " An index that was written to a file comes back like that: drop it, or name it."
        place = names.index("")
        raise ArgumentError("X", "must have a name for each column", f"'' for column {place}", hint)
    return names
