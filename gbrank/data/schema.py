"""Feature matrices: what users pass as X becomes one numeric array, the same way every time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gbrank.common.checks import (
    check_number,
    listed,
    quoted,
    refuse_masked,
    refuse_text,
    unknown_name,
)
from gbrank.common.on_use import ModuleOnUse
from gbrank.common.plain import plain
from gbrank.data.frames import (
    as_block,
    as_frame,
    as_numbers,
    has_no_value,
    is_numeric,
    is_stored_index,
    numpy_types,
)
from gbrank.data.ids import is_missing

if TYPE_CHECKING:
    import narwhals as nw
else:
    nw = ModuleOnUse("narwhals")

ABSENT: Any = object()  # what a mapping of a row does not hold
LARGEST_CODE = 2**24  # boosters keep codes in single precision
NUMBERS = {int, float, bool, type(None)}  # None becomes NaN
AT_ONCE = 2**20  # how many numbers are copied together, beside the matrix that they go to
BLOCK = 2**22  # how many numbers of a sparse matrix are an array at once

Features: TypeAlias = Any  # ndarray or csr_matrix: SciPy has no types of its own


class LetorArray(np.ndarray):
    """Features of a LETOR file; parts of them keep the class."""


class LetorMatrix(sp.csr_matrix):
    """Sparse features of a LETOR file."""


def counted_from(X: Any) -> int:
    """Return the number of the first column."""
    return int(isinstance(X, LetorArray | LetorMatrix))


@dataclass(frozen=True)
class Schema:
    """How the columns of X are read; learnt in `fit`, saved with the model."""

    n_features: int
    names: list[str] | None  # of the columns; None unless X was a data frame
    categorical: list[int]  # columns whose values are categories
    # Of the columns of a data frame that hold no numbers: the code of a category is its index in
    # the list; an unknown category is read as missing.
    categories: dict[int, list[Any]]
    # Columns without a value, of which other rows say what they hold: see `union`.
    empty: list[int] = field(default_factory=list)
    counted_from: int = 0  # the number of the first column: 1 in LETOR files

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns; f0, f1, ... where they have none, f1, ... of LETOR files."""
        start = self.counted_from
        return self.names or [f"f{column}" for column in range(start, start + self.n_features)]

    @classmethod
    def learn(cls, X: Any, categorical_feature: Sequence[int | str] | None = None) -> Schema:
        """Learn the columns from training data."""
        refuse_text(categorical_feature, "categorical_feature")
        frame = checked_frame(X)
        names = None if frame is None else column_names(frame)
        n_features = checked_matrix(X).shape[1] if names is None else len(names)
        asked = set(
            column_places(categorical_feature or (), "categorical_feature", names, n_features)
        )
        categories: dict[int, list[Any]] = {}
        empty = []
        for position, column in enumerate(frame.iter_columns() if frame is not None else ()):
            numeric = is_numeric(column.dtype)
            if numeric and position not in asked:
                continue
            if column.dtype.is_temporal() and not has_no_value(column):
                raise ValueError(
                    f"X must hold numbers, booleans or categories; column {column.name!r} has "
                    f"dtype {column.dtype}: drop it, or turn it into numbers, such as days."
                )
            if has_no_value(column):
                empty.append(position)
            if not numeric and (position in asked or column.dtype in (nw.Categorical, nw.Enum)):
                categories[position] = _categories(column)
            elif not numeric and position not in empty:
                hint = " Drop it, or name it in categorical_feature."
                as_numbers(column, "X must hold numbers, booleans or categories", hint)
        special = sorted(asked | set(categories))
        return cls(n_features, names, special, categories, empty, counted_from(X))

    @property
    def texts(self) -> list[str]:
        """The columns whose categories are text."""
        return [
            self.names[i]
            for i, values in self.categories.items()
            if self.names and all(isinstance(value, str) for value in values)
        ]

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> Schema:
        """Return the schema in a saved model."""
        categories = {int(key): values for key, values in saved["categories"].items()}
        schema = cls(**{**saved, "categories": categories})
        for position in (*schema.categorical, *categories, *schema.empty):
            check_number(position, "a column", 0, schema.n_features - 1, integer=True)
        return schema

    @classmethod
    def union(cls, schemas: Sequence[Schema]) -> Schema:
        """Return the schema of all rows, from those of parts of them."""
        first = schemas[0]
        for part in schemas:
            if (part.n_features, part.names) != (first.n_features, first.names):
                one, other = (
                    f"{schema.n_features} columns" if schema.names is None else listed(schema.names)
                    for schema in (first, part)
                )
                raise ValueError(
                    f"X must have the same columns in all partitions, got {one} and {other}."
                )
        special = sorted({position for part in schemas for position in part.categorical})
        roles = {position: _role(schemas, position) for position in special}
        known = {
            position: {value for part in schemas for value in part.categories.get(position, ())}
            for position, role in roles.items()
            if role == "categories"
        }
        return replace(
            first,
            categorical=[position for position, role in roles.items() if role != "numbers"],
            categories={position: _sorted(values) for position, values in known.items()},
            empty=[],
        )

    def _role(self, position: int) -> str:
        """Return what a column holds: numbers, codes of categories, or categories."""
        if position in self.categories:
            return "categories"
        return "codes" if position in self.categorical else "numbers"

    def transform(self, X: Any) -> Features:
        """Return X as a float array, or as a CSR matrix if it is sparse."""
        frame = checked_frame(X)
        if frame is None:
            values = self._values_of(X)
            matrix = checked_matrix(X) if values is None else self._from_values(values)
        else:
            names = column_names(frame)
            matrix = self._from_frame(frame, _places(self.names or names, names))
        if matrix.shape[1] != self.n_features:
            raise ValueError(
                f"X has {matrix.shape[1]} features, but gbrank is expecting {self.n_features} "
                "features as input, as in fit."
            )
        self._refuse_infinite(matrix)
        for position in set(self.categorical) - set(self.categories):
            _check_codes(matrix[:, [position]], (self.names or range(self.n_features))[position])
        return matrix

    def in_order(self, X: Any) -> Any:
        """Return a data frame with the columns of fit, as there; anything else as it is."""
        frame = checked_frame(X) if self.names else None
        if frame is None or column_names(frame) == self.names:
            return X
        return frame[:, _places(self.names or [], column_names(frame))].to_native()

    def _values_of(self, X: Any) -> list[list[Any]] | None:
        """Return the values of each column of fit; None of X that is an array of numbers."""
        if isinstance(X, list) and not X:
            _refuse_empty((0, self.n_features))
        if self.names and (found := values_by_name(X, self.names)) is not None:
            columns = list(found.values())
            return [columns[place] for place in _places(self.names, list(found))]
        if not self.categories:
            return None
        if sp.issparse(X) or getattr(X, "dtype", np.dtype(object)).kind not in "OU":
            raise ValueError(
                "X must be a data frame, as in fit, whose categories have no numbers; "
                f"got {type(X).__name__}."
            )
        values = np.array(X, dtype=object)
        if values.ndim != 2 or values.shape[1] != self.n_features:
            raise ValueError(
                f"X must have {self.n_features} columns, as in fit, got shape {values.shape}."
            )
        return values.T.tolist()

    def _from_values(self, columns: list[list[Any]]) -> NDArray[np.float64]:
        """Return columns, in the order of fit, as numbers and codes of categories."""
        names = self.names or [str(position) for position in range(self.n_features)]
        _refuse_empty((len(columns[0]), len(columns)))
        coded = {
            position: _codes(columns[position], names[position], known)
            for position, known in self._known.items()
        }
        numbers = {place: own for place, own in enumerate(columns) if place not in coded}
        try:
            if not set(map(type, chain(*numbers.values()))) <= NUMBERS:
                coded |= {place: _numbers(own, names[place]) for place, own in numbers.items()}
            values = [coded.get(place, own) for place, own in enumerate(columns)]
            return np.array(values, np.float64).T.copy()
        except OverflowError as error:
            raise ValueError(f"X must hold numbers: {error}.") from None

    def _refuse_infinite(self, matrix: Features) -> None:
        values = matrix.data if sp.issparse(matrix) else matrix
        infinite = np.isinf(values)
        if not np.count_nonzero(infinite):  # much faster than any() for a few rows
            return
        place = int(np.argmax(infinite))
        row, column = divmod(place, self.n_features)
        if sp.issparse(matrix):
            row = int(np.searchsorted(matrix.indptr, place, "right")) - 1
            column = int(matrix.indices[place])
        name = column if self.names is None else self.names[column]
        raise ValueError(
            "X must not hold infinite values; use NaN for missing ones. Got one in row "
            f"{row} of column {name!r}."
        )

    def _from_frame(self, frame: nw.DataFrame[Any], places: list[int]) -> NDArray[Any]:
        """Return the columns at these places of a frame, those of plain numbers in blocks."""
        columns = {  # that are converted one by one
            position: _codes(frame[:, places[position]].to_list(), self._name(position), known)
            for position, known in self._known.items()
        }
        numbers = [position for position in range(len(places)) if position not in columns]
        types = numpy_types(frame, [places[position] for position in numbers])
        in_blocks = []
        for position, dtype in zip(numbers, types, strict=True):
            if dtype is not None:
                in_blocks.append(position)
            else:
                column = frame[:, places[position]]
                columns[position] = as_numbers(column, "X must hold the types of fit, numbers")
        kinds = {dtype for dtype in types if dtype is not None}
        kinds |= {values.dtype for values in columns.values()}
        single = kinds == {np.dtype(np.float32)}
        matrix = np.empty((len(frame), len(places)), np.float32 if single else np.float64)
        for position, values in columns.items():
            matrix[:, position] = values
        step = max(1, AT_ONCE // len(frame))
        for start in range(0, len(in_blocks), step):
            block = in_blocks[start : start + step]
            matrix[:, block] = as_block(frame, [places[i] for i in block], matrix.dtype)
        return matrix

    def _name(self, position: int) -> str:
        return str(position) if self.names is None else self.names[position]

    @cached_property
    def _known(self) -> dict[int, dict[Any, int]]:
        """The codes of the categories of each column that has some."""
        return {
            position: {value: code for code, value in enumerate(known)}
            for position, known in self.categories.items()
        }


def _role(schemas: Sequence[Schema], position: int) -> str:
    """Return what a column holds in the parts that have a value in it, or might hold in all."""
    roles = {part._role(position) for part in schemas if position not in part.empty}
    roles = roles or {min(part._role(position) for part in schemas)}  # "categories" is first
    if len(roles) > 1:
        name = (schemas[0].names or {position: position})[position]
        raise ValueError(
            f"X must hold the same types in all partitions, got {' and '.join(sorted(roles))} in "
            f"column {name!r}."
        )
    return roles.pop()


def _categories(column: nw.Series[Any]) -> list[Any]:
    found = [plain(value) for value in _distinct(column.to_list()) if not is_missing(value)]
    for value in found:
        if not isinstance(value, str | int | float | bool):
            raise ValueError(
                f"X must have categories that are text or numbers; column {column.name!r} holds "
                f"{quoted(value)} ({type(value).__name__}). Convert them, for example with "
                "astype(str)."
            )
    return _sorted(set(found))


def _codes(values: list[Any], name: str, codes: dict[Any, int]) -> NDArray[np.float64]:
    """Return the codes of known categories; NaN for others of their kind and for missing ones."""
    kinds = {_kind(value) for value in codes} or {"text", "numbers"}
    for value in _distinct(values):
        if not is_missing(value) and _kind(value) not in kinds:
            raise ValueError(
                f"X must hold the types of fit; column {name!r} holds {quoted(value)} "
                f"({type(value).__name__}), expected categories that are "
                f"{' or '.join(sorted(kinds))}."
            )
    return np.array([codes.get(value, np.nan) for value in values])


def _kind(category: object) -> str:
    """Return what kind a category is of: 3, 3.0 and True are numbers."""
    if isinstance(category, str):
        return "text"
    return "numbers" if isinstance(category, Real | np.bool_) else type(category).__name__


def _distinct(values: list[Any]) -> Iterable[Any]:
    """Return the different values as they appear; all if some cannot be hashed."""
    try:
        return dict.fromkeys(values)
    except TypeError:
        return values


def values_by_name(X: Any, needed: Iterable[str]) -> dict[str, list[Any]] | None:
    """Return the columns of a mapping of lists, or of a list of mappings; None for others."""
    if isinstance(X, Mapping):
        keys, found = [*X], _of_lists(X)
    elif isinstance(X, list) and X and all(isinstance(row, Mapping) for row in X):
        if set(map(type, X)) == {dict}:  # others may make up what they lack
            with suppress(KeyError):
                return {name: [row[name] for row in X] for name in needed}
        keys = [*dict.fromkeys(chain(*X))]
        found = {str(name): [row.get(name, ABSENT) for row in X] for name in keys}
        _check_present(found, needed)
    else:
        return None
    if len(found) < len(keys):
        raise ValueError(f"X must have names that differ, which are taken as text, got {keys}.")
    if len(sizes := {len(values) for values in found.values()}) > 1:
        raise ValueError(f"X must have columns of one length, got {sorted(sizes)}.")
    return found


def _of_lists(X: Mapping[Any, Any]) -> dict[str, list[Any]]:
    """Return the columns of a mapping of lists."""
    for name, values in X.items():
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise ValueError(
                f"X must hold a list of values for each name, got {quoted(values)} for "
                f"{quoted(name)}. One document is a list of one mapping."
            )
    return {str(name): list(values) for name, values in X.items()}


def _check_present(found: Mapping[str, list[Any]], needed: Iterable[str]) -> None:
    """Refuse mappings that lack a name which others have."""
    for name in filter(found.get, needed):
        lacking = [place for place, value in enumerate(found[name]) if value is ABSENT]
        if lacking:
            raise ValueError(
                f"X must have {quoted(name)} in every mapping, None where it is missing; that "
                f"in row {lacking[0]} lacks it."
            )


def _numbers(values: list[Any], name: str) -> NDArray[np.float64]:
    """Return values as numbers, NaN for missing ones."""
    for value in values:
        if not (is_missing(value) or isinstance(value, Real | Decimal | np.bool_)):
            raise ValueError(
                f"X must hold the types of fit; column {name!r} holds {quoted(value)} "
                f"({type(value).__name__}), expected numbers."
            )
    return np.array([np.nan if is_missing(value) else value for value in values], np.float64)


def _sorted(categories: set[Any]) -> list[Any]:
    return sorted(categories, key=lambda value: (str(type(value)), value))


def _check_codes(column: Features, name: int | str) -> None:
    values = column.data if sp.issparse(column) else column.ravel()
    values = values[~np.isnan(values)]
    bad = (values < 0) | (values != np.floor(values)) | (values >= LARGEST_CODE)
    if bad.any():
        raise ValueError(
            f"X must hold integers from 0 to {LARGEST_CODE - 1} in the categorical column "
            f"{name!r}, got {values[bad][0]}."
        )


def _places(wanted: list[str], names: list[str]) -> list[int]:
    """Return the position among a frame's columns of each column of fit."""
    place_of, known = {name: place for place, name in enumerate(names)}, set(wanted)
    missing = [name for name in wanted if name not in place_of]
    if missing:
        others = [name for name in names if name not in known]
        problem = f"it lacks {listed(missing)}"
        problem += f" and it has {listed(others)} besides" if others else ""
        raise ValueError(f"X must have the columns of fit, in any order: {problem}.")
    return [place_of[name] for name in wanted]


def column_names(frame: nw.DataFrame[Any]) -> list[str]:
    """Return the names of columns as text, in which they must differ."""
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        same = " and ".join(repr(own) for own in frame.columns if str(own) == twice)
        raise ValueError(
            f"X must have a name of its own for each column, which are taken as text, got {same}."
        )
    if "" in names:
        raise ValueError(
            f"X must have a name for each column, got '' for column {names.index('')}. An index "
            "that was written to a file comes back like that: drop it, or give it a name."
        )
    return names


def checked_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return features as a data frame if they are one, not empty, without a stored index."""
    frame = as_frame(X, "X")
    if frame is None:
        return None
    if nw.dependencies.is_pandas_dataframe(X):
        sparse = nw.dependencies.get_pandas().SparseDtype
        for place, dtype in enumerate(list(X.dtypes)):
            if isinstance(dtype, sparse):
                raise ValueError(
                    f"X must not have sparse pandas columns, got {dtype} in column "
                    f"{X.columns[place]!r}: pass X.sparse.to_coo() in fit and predict, or "
                    "X.sparse.to_dense()."
                )
    if index := [name for name in frame.columns if is_stored_index(name)]:
        frame = frame.drop(index)
    _refuse_empty(frame.shape)
    return frame


def _refuse_empty(shape: tuple[int, ...]) -> None:
    n_rows, n_columns = shape
    if n_rows == 0 or n_columns == 0:
        raise ValueError(
            f"X must have at least one row and one column, got {n_rows} row(s) and {n_columns} "
            f"feature(s) (shape={shape}) while a minimum of 1 is required."
        )


def checked_matrix(X: Any) -> Features:
    """Return features of an array or a sparse matrix, in two dimensions, as real numbers."""
    refuse_masked(X, "X", "fill it with NaN, which is missing")
    matrix = X if sp.issparse(X) else np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(
            f"X must have two dimensions, got shape {matrix.shape} of a {type(X).__name__}. "
            "Reshape your data: one document is X.reshape(1, -1), one feature X.reshape(-1, 1)."
        )
    if sp.issparse(X):
        matrix = _as_canonical(X)
    _refuse_empty(matrix.shape)
    kind = matrix.dtype.kind
    if kind == "O":
        try:
            return np.asarray(matrix.astype(np.float64))
        except (TypeError, ValueError, OverflowError) as error:
            kind_of_error = TypeError if isinstance(error, TypeError) else ValueError
            raise kind_of_error(f"X must hold numbers: {error}.") from None
    if kind not in "biuf":
        note = " Complex data not supported." if kind == "c" else ""
        raise ValueError(f"X must hold real numbers, got dtype {matrix.dtype}.{note}")
    wanted = np.float32 if matrix.dtype == np.float32 else np.float64
    return matrix.astype(wanted, copy=False)


def as_dense(X: Features) -> Features:
    """Return a sparse matrix as an array, and anything else as it is."""
    return X.toarray() if sp.issparse(X) else X


def dense_blocks(X: Features) -> Iterator[Features]:
    """Yield the rows of a sparse matrix as arrays, some at a time; an array as it is."""
    step = max(1, BLOCK // X.shape[1]) if sp.issparse(X) else max(1, X.shape[0])
    for start in range(0, max(1, X.shape[0]), step):
        yield as_dense(X[start : start + step])


def feature_columns(X: Any, wanted: Sequence[int | str]) -> NDArray[np.float64]:
    """Return columns of a table as numbers, shape (n_columns, n_documents)."""
    frame = checked_frame(X)
    if frame is None:
        matrix = checked_matrix(X)
        chosen = matrix[:, list(column_places(wanted, "columns", None, matrix.shape[1]))]
        return np.ascontiguousarray(as_dense(chosen).T, float)
    places = column_places(wanted, "columns", column_names(frame), frame.shape[1])
    demand = f"columns {list(wanted)} of X must hold numbers"
    return np.array([as_numbers(frame[:, place], demand) for place in places])


def _as_canonical(X: Any) -> Features:
    """Return a checked sparse matrix as CSR, each entry once: compiled code trusts its indices."""
    try:
        if hasattr(X, "check_format"):
            X.check_format(full_check=True)
        elif X.format == "coo":
            for name, places, size in (("row", X.row, X.shape[0]), ("col", X.col, X.shape[1])):
                if places.size and not 0 <= places.min() <= places.max() < size:
                    raise ValueError(f"{name} must be from 0 to {size - 1}")
    except ValueError as error:
        raise ValueError(f"X is a damaged {X.format.upper()} matrix: {error}.") from None
    matrix = sp.csr_matrix(X)
    # Made anew, since SciPy's flags on the order of entries may be outdated.
    matrix = sp.csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def column_places(
    wanted: Iterable[int | str], argument: str, names: Sequence[str] | None, n_features: int
) -> tuple[int, ...]:
    """Return the positions of the columns that an argument gives by name or position."""
    places = []
    for item in wanted:
        if isinstance(item, str):
            if names is None:
                raise ValueError(
                    f"X must be a data frame for {argument} by name, such as {quoted(item)}."
                )
            if item not in names:
                raise unknown_name(f"name in {argument}", item, names)
            places.append(names.index(item))
        elif (
            not isinstance(item, int | np.integer)
            or isinstance(item, bool)
            or not (0 <= item < n_features)
        ):
            raise ValueError(
                f"{argument} must hold positions from 0 to {n_features - 1}, got {quoted(item)}."
            )
        else:
            places.append(int(item))
    return tuple(places)
