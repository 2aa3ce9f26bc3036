"""How the columns of X are read: learnt in `fit`, and the same way every time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from gbrank.common.checks import (
    ArgumentError,
    Array,
    Matrix,
    Vector,
    check_column_list,
    check_integer,
    check_known_name,
    listed,
    plain,
    quoted,
)

from .feature_matrix import (
    Features,
    as_dense,
    check_matrix,
    check_no_infinity,
    dense_column,
    objects_of,
)
from .frames import (
    VECTOR_HINT,
    VECTORS,
    FeatureTable,
    as_numbers,
    describe_problem,
    feature_table,
    is_numeric,
)
from .ids import as_list, is_missing

LARGEST_CODE = 2**24  # boosters keep codes in single precision
NUMBERS = {int, float, bool, type(None)}  # None becomes NaN
NOT_NUMERIC_HINT = " Drop it, or name it in categorical_feature."


@dataclass(frozen=True)
class Schema:
    """The columns of X: their names, and which hold categories; saved with the model."""

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

    @property
    def texts(self) -> list[str]:
        """The columns whose categories are text."""
        return [
            self.names[i]
            for i, values in self.categories.items()
            if self.names and all(isinstance(value, str) for value in values)
        ]

    @classmethod
    def learn(cls, X: Any, categorical_feature: Sequence[int | str] | None = None) -> Schema:
        """Learn the columns from training data."""
        wanted = () if categorical_feature is None else categorical_feature
        check_column_list(wanted, "categorical_feature")
        table = feature_table(X)
        names = None if table is None else table.names
        n_features = check_matrix(X).shape[1] if names is None else len(names)
        categorical = {*find_columns(wanted, "categorical_feature", names, n_features)}
        if table is None:
            start = getattr(X, "counted_from", 0)
            return cls(n_features, None, sorted(categorical), {}, counted_from=start)
        categories: dict[int, list[Any]] = {}
        empty: list[int] = []
        problems: list[str] = []
        for index in sorted(categorical.union(table.others)):
            column = table.column(index)
            if column.null_count() == len(column):
                empty.append(index)
            if is_numeric(column.dtype):
                continue
            if index in categorical or column.dtype in (nw.Categorical, nw.Enum):
                categories[index] = _known_categories(column)
            elif problem := describe_problem(column, NOT_NUMERIC_HINT):
                problems.append(problem)
        if problems:
            lines = "\n".join(problems + _infinite_columns(table))
            raise ValueError(f"X must hold numbers, booleans or categories; {lines}")
        return cls(n_features, names, sorted(categorical | {*categories}), categories, empty)

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> Schema:
        """Restore the schema of a saved model."""
        categories = {int(key): values for key, values in saved["categories"].items()}
        return cls(**{**saved, "categories": categories})

    @classmethod
    def union(cls, schemas: Sequence[Schema]) -> Schema:
        """Merge the schemas of parts of all rows."""
        first = schemas[0]
        for part in schemas:
            if (part.n_features, part.names) != (first.n_features, first.names):
                raise ArgumentError(
                    "X",
                    "must have the same columns in all partitions",
                    f"{listed(first.feature_names)} and {listed(part.feature_names)}",
                )
        categorical: list[int] = []
        categories: dict[int, list[Any]] = {}
        for index in sorted({*chain(*(part.categorical for part in schemas))}):
            parts = [part for part in schemas if index not in part.empty] or schemas[:1]
            kinds = sorted({part._kind_of(index) for part in parts})
            if len(kinds) > 1:
                raise ArgumentError(
                    "X",
                    "must hold the same types in all partitions",
                    f"{' and '.join(kinds)} in column {first._name(index)!r}",
                )
            if kinds != ["numbers"]:
                categorical.append(index)
            if kinds == ["categories"]:
                categories[index] = _sorted({*chain(*(part.categories[index] for part in parts))})
        return replace(first, categorical=categorical, categories=categories, empty=[])

    def transform(self, X: Any) -> Features:
        """Convert X to a float array, or a CSR matrix if it is sparse."""
        if (table := feature_table(X)) is None:
            if not self.categories:
                return self._checked(check_matrix(X))
            values = objects_of(X)
            if values.ndim != 2 or values.shape[1] != self.n_features:
                raise ArgumentError(
                    "X", f"must have {self.n_features} columns, as in fit", f"shape {values.shape}"
                )
            return self._of_columns(values.T.tolist())
        indices = self.columns_in(table)
        codes = {
            indices[position]: np.array(
                self._coded(table.values(indices[position]), position), np.float64
            )
            for position in self.categories
        }
        return self._checked(table.matrix(indices, codes))

    def including(self, other: Schema) -> Schema:
        """Add the categories of another schema, in columns where both have some."""
        categories = dict(self.categories)
        for position, column in enumerate(other.columns_in(self)):
            if column in categories:
                known = {*categories[column], *other.categories.get(position, ())}
                categories[column] = _sorted(known)
        return replace(self, categories=categories)

    def columns_in(self, other: Schema | FeatureTable) -> list[int]:
        """Find the columns in another table: by name, or by order where one has no names."""
        if self.names is None or other.names is None or self.names == other.names:
            n = self.n_features if isinstance(other, Schema) else other.shape[1]
            return [*range(n)]
        column_of_name = {name: column for column, name in enumerate(other.names)}
        if missing := [name for name in self.names if name not in column_of_name]:
            problem = f"it lacks {listed(missing)}, and has {listed(other.names)}"
            raise ValueError(f"X must have the columns of fit, in any order: {problem}.")
        return [column_of_name[name] for name in self.names]

    def convert(self, features: Features, other: Schema) -> Features:
        """Convert what another schema has read: other columns, and other codes of categories."""
        if other == self:
            return features
        columns = self.columns_in(other)
        features = features[:, columns]
        for position, column in enumerate(columns):
            known = other.categories.get(column)
            if known == self.categories.get(position):
                continue
            values = features[:, position].tolist()
            if known:
                values = [None if code != code else known[int(code)] for code in values]
            features[:, position] = np.array(self._coded(values, position), float)
        return self._checked(features)

    def in_order(self, X: Any) -> Any:
        """Order the columns of a data frame as in fit; return anything else unchanged."""
        table = feature_table(X) if self.names else None
        if table is None or table.names == self.names:
            return X
        return table.take(self.columns_in(table))

    def of_rows(self, rows: Sequence[Mapping[Any, Any]]) -> Features:
        """Convert rows, each a mapping with a value for each name, to an array."""
        if self.names is None:
            raise ArgumentError("X", "must be an array, as in fit", "mappings")
        try:
            columns = [[row[name] for row in rows] for name in self.names]
        except KeyError:
            texts = [{str(key): value for key, value in row.items()} for row in rows]
            for number, row in enumerate(texts):
                if lacking := sorted(set(self.names) - row.keys()):
                    demand = f"must have {quoted(lacking[0])} in every mapping, None where it is"
                    raise ArgumentError("X", f"{demand} missing; row {number} lacks it") from None
            return self.of_rows(texts)
        return self._of_columns(columns)

    def _of_columns(self, columns: list[list[Any]]) -> Matrix:
        """Convert each column of fit to numbers and codes of categories."""
        numbers = [self._coded(values, position) for position, values in enumerate(columns)]
        return self._checked(np.array(numbers, np.float64).T.copy())

    def _coded(self, values: list[Any], position: int) -> list[Any]:
        """Convert a column to numbers or codes of categories; NaN where missing or unknown."""
        codes = self._codes_of.get(position)
        kinds = {"numbers", "Decimal"}
        expected = "numbers"
        if codes is not None:
            kinds = {_kind(value) for value in codes} or {"text", "numbers"}
            expected = f"categories that are {' or '.join(sorted(kinds))}"
        elif set(map(type, values)) <= NUMBERS:
            return values
        for value in _distinct(values):
            if _kind(value) not in kinds:
                raise ValueError(
                    f"X must hold the types of fit; column {self._name(position)!r} holds "
                    f"{quoted(value)} ({type(value).__name__}), expected {expected}."
                )
        if codes is None:
            return [np.nan if is_missing(value) else value for value in values]
        return [codes.get(value, np.nan) for value in values]

    def _checked(self, matrix: Features) -> Features:
        """Check the number of columns, infinite values, and codes of categories."""
        if matrix.shape[1] != self.n_features:
            raise ValueError(
                f"X has {matrix.shape[1]} features, but gbrank is expecting {self.n_features} "
                "features as input, as in fit."
            )
        check_no_infinity(matrix, self.names)
        for position in set(self.categorical) - set(self.categories):
            values = dense_column(matrix, position)
            wrong = (values < 0) | (values != np.floor(values)) | (values >= LARGEST_CODE)
            for value in values[wrong & ~np.isnan(values)]:
                demand = f"must hold integers from 0 to {LARGEST_CODE - 1} in the categorical"
                raise ArgumentError("X", f"{demand} column {self._name(position)!r}", f"{value}")
        return matrix

    def _name(self, position: int) -> str:
        return str(position) if self.names is None else self.names[position]

    def _kind_of(self, position: int) -> str:
        """Describe what a column holds."""
        if position in self.categories:
            return "categories"
        return "codes" if position in self.categorical else "numbers"

    @cached_property
    def _codes_of(self) -> dict[int, dict[Any, int]]:
        """The codes of the categories of each column that has some."""
        return {
            position: {value: code for code, value in enumerate(known)}
            for position, known in self.categories.items()
        }


def _infinite_columns(table: FeatureTable) -> list[str]:
    numeric = {*range(table.shape[1])} - {*table.others}
    return [
        f"column {table.names[index]!r} has infinite values. Use NaN for missing ones."
        for index in sorted(numeric)
        if np.isinf(as_numbers(table.column(index), "")).any()
    ]


def _known_categories(column: nw.Series[Any]) -> list[Any]:
    """List the categories in a column, in the order of their codes."""
    values = [plain(value) for value in _distinct(column.to_list())]
    for value in values:
        if not isinstance(value, str | int | float | bool):
            remedy = "Convert them, for example with astype(str)."
            raise ArgumentError(
                "X",
                "must have categories that are text or numbers",
                f"{quoted(value)} ({type(value).__name__}) in column {column.name!r}",
                f" {VECTOR_HINT if isinstance(value, VECTORS) else remedy}",
            )
    return _sorted(set(values))


def _kind(value: object) -> str:
    """Return the kind of a value: 3, 3.0 and True are numbers."""
    if isinstance(value, str):
        return "text"
    return "numbers" if isinstance(value, Real | np.bool_) else type(value).__name__


def _distinct(values: list[Any]) -> list[Any]:
    """List the distinct values that are not missing; all if some cannot be hashed."""
    with suppress(TypeError):
        values = list(dict.fromkeys(values))
    return [value for value in values if not is_missing(value)]


def _sorted(categories: set[Any]) -> list[Any]:
    return sorted(categories, key=lambda value: (str(type(value)), value))


def feature_columns(X: Any, wanted: Sequence[int | str]) -> Vector:
    """Convert columns of a table to numbers, shape (n_columns, n_documents)."""
    if (table := feature_table(X)) is None:
        matrix = check_matrix(X)
        chosen = matrix[:, find_columns(wanted, "columns", None, matrix.shape[1])]
        return np.ascontiguousarray(as_dense(chosen).T, float)
    indices = find_columns(wanted, "columns", table.names, len(table.names))
    demand = f"columns {list(wanted)} of X must hold numbers"
    return np.array([as_numbers(table.column(index), demand) for index in indices], float)


def find_columns(
    wanted: Iterable[int | str], argument: str, names: Sequence[str] | None, n_features: int
) -> list[int]:
    """Resolve columns named by an argument, or by position, to positions."""
    indices = []
    for item in wanted:
        if not isinstance(item, str):
            position = f"a column number in {argument}"
            indices.append(check_integer(item, position, 0, n_features - 1))
        elif names is None:
            raise ArgumentError(
                "X", f"must be a data frame for {argument} by name, such as {quoted(item)}"
            )
        else:
            check_known_name(f"name in {argument}", item, names)
            indices.append(names.index(item))
    return indices


def column_of(X: Any, name: str, argument: str) -> Array:
    """Look up a column of X by its name (see `Schema.feature_names`); None is missing."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} must be the name of a column of X, got {quoted(name)}.")
    table = feature_table(X)
    names = Schema.learn(X).feature_names if table is None else table.names
    check_known_name(f"column ({argument})", name, names)
    index = names.index(name)
    values = table.values(index) if table else as_list(dense_column(check_matrix(X), index))
    known = (None if is_missing(value) else value for value in values)
    return np.fromiter(known, object, len(values))
