"""Features relative to the other documents of the query: which are added, and their numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gbrank.common.arrays import Matrix, Positions, Single, Vector
from gbrank.common.checks import check_choice, queries_needed, quoted
from gbrank.common.plain import plain
from gbrank.data.queries import Queries
from gbrank.data.schema import Features, Schema, as_dense, column_places

SIZE = "size"
KINDS = ("difference", "rank", "zscore", "mean", "gap", SIZE)  # the size, of no column, is last
LARGEST = float(np.finfo(np.float32).max)
BLOCK = 2**18  # how many numbers are computed at a time, if queries are not longer

Columns: TypeAlias = Sequence[int | str] | None
Kinds: TypeAlias = str | Sequence[str] | Mapping[str, Columns]


@dataclass(frozen=True)
class Context:
    """What is added to the columns of X."""

    columns: dict[str, list[int]] = field(default_factory=dict)  # by kind; of size none

    @classmethod
    def of(cls, kinds: Kinds | None, schema: Schema, argument: str = "context") -> "Context":
        """Return what is to be added to columns, given as users may give it."""
        given = checked_kinds(kinds, argument)
        context = cls(
            {kind: _places(kind, given[kind], schema, argument) for kind in KINDS if kind in given}
        )
        if given and not context:
            raise ValueError(f"{argument} must be None where X has no columns of numbers.")
        own = column_names_of(schema)
        if taken := [name for name in context.names(own) if name in set(own)]:
            raise ValueError(
                f"X must not have a column {taken[0]!r}, the name of a feature that {argument} "
                "adds: rename it."
            )
        return context

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> "Context":
        """Return the context in a saved model, which keeps no order of kinds."""
        columns = saved["columns"]
        return cls({kind: columns[kind] for kind in KINDS if kind in columns})

    @property
    def n_added(self) -> int:
        """How many features are added."""
        return sum(map(len, self.columns.values())) + (SIZE in self.columns)

    def __bool__(self) -> bool:
        """Say whether anything is added."""
        return self.n_added > 0

    def names(self, own: Sequence[str]) -> list[str]:
        """Return the names of the added features, from those of the columns."""
        return [
            name
            for kind, places in self.columns.items()
            for name in ([SIZE] if kind == SIZE else [f"{kind}({own[place]})" for place in places])
        ]

    def feature_names(self, schema: Schema) -> list[str]:
        """Return the names of all features of the trees."""
        own = column_names_of(schema)
        return [*own, *self.names(own)]

    def widened(self, schema: Schema) -> Schema:
        """Return the schema of columns with what is added."""
        names = None if schema.names is None else [*schema.names, *self.names(schema.names)]
        return replace(schema, n_features=schema.n_features + self.n_added, names=names)

    def widen(self, X: Features, queries: Queries) -> Features:
        """Return the columns of X, as a schema gives them, and after these what is added."""
        if not self:
            return X
        if sp.issparse(X):
            return self._widen_sparse(X, queries)
        wide = np.empty((X.shape[0], X.shape[1] + self.n_added), X.dtype)
        wide[:, : X.shape[1]] = X
        for rows, numbers in self.numbers(X, queries):
            wide[rows, X.shape[1] :] = numbers
        return wide

    def _widen_sparse(self, X: Features, queries: Queries) -> Features:
        parts, order = [], []
        for rows, numbers in self.numbers(X, queries):
            parts.append(sp.csr_matrix(numbers.astype(X.dtype)))
            order.append(rows)
        back = np.argsort(np.concatenate(order), kind="stable")
        return sp.hstack([X, sp.vstack(parts, format="csr")[back]], format="csr")

    def numbers(self, X: Features, queries: Queries) -> Iterator[tuple[NDArray[Any], Single]]:
        """Yield rows, some whole queries at a time, and what is added to them."""
        used = sorted({place for places in self.columns.values() for place in places})
        for first, last in _spans(queries.offsets, max(1, BLOCK // max(1, len(used)))):
            offsets = queries.offsets[first : last + 1]
            rows = queries.order[offsets[0] : offsets[-1]]
            block = X[rows] if len(used) == X.shape[1] else X[rows][:, used]
            values = np.asarray(as_dense(block), np.float64) + 0.0  # −0 is 0
            parts = [
                relative(kind, values[:, np.searchsorted(used, places)], offsets - offsets[0])
                for kind, places in self.columns.items()
                if kind != SIZE
            ]
            if SIZE in self.columns:
                sizes = queries.sizes[first:last]
                parts.append(np.repeat(sizes, sizes)[:, None].astype(np.float64))
            numbers = np.hstack(parts).clip(-LARGEST, LARGEST).astype(np.float32)
            yield rows, numbers


def relative(kind: str, values: Matrix, offsets: Positions) -> Matrix:
    """Return what each value is beside the others of its column and query; NaN is missing.

    The rows of a query stand together. Sums are of integers, so that the order of rows changes no
    bit: values, below 2 to the power of `exponent`, are scaled to `bits` bits.
    """
    sizes = np.diff(offsets)

    def each(function: np.ufunc, of: NDArray[Any]) -> NDArray[Any]:
        """Reduce the values of each query, and repeat the result in its rows."""
        return np.repeat(function.reduceat(of, offsets[:-1], axis=0), sizes, axis=0)

    count = each(np.add, (~np.isnan(values)).astype(np.int64))
    with np.errstate(all="ignore"):
        if kind == "rank":
            starts = np.repeat(offsets[:-1], sizes)
            ranks = np.array([_mid_ranks(column, starts) for column in values.T]).T
            return np.where(np.isnan(values), np.nan, ranks / count)
        low, high = each(np.fmin, values), each(np.fmax, values)
        if kind == "gap":
            return values - high
        exponent = np.frexp(np.nan_to_num(np.fmax(-low, high)))[1]
        bits = 62 - np.frexp(count.astype(np.float64))[1]
        fixed = np.rint(np.ldexp(values, bits - exponent))
        mean = np.ldexp(each(np.add, np.nan_to_num(fixed).astype(np.int64)) / count, -bits)
        if kind == "mean":
            shown = np.where(low == high, low, np.ldexp(mean, exponent))
            return np.where(np.isnan(values), np.nan, shown)
        away = np.where(low == high, values - low, np.ldexp(values, -exponent) - mean)
        if kind == "difference":
            return np.ldexp(away, exponent)
        share = away / each(np.fmax, np.abs(away))
        squares = np.nan_to_num(np.rint(np.ldexp(share * share, bits))).astype(np.int64)
        deviation = np.sqrt(np.ldexp(each(np.add, squares) / count, -bits))
        return np.where(low == high, away, share / deviation)


def _mid_ranks(column: Vector, starts: Positions) -> Vector:
    """Return the rank of each value of a query from the smallest, 1; equal ones share their mean.

    `starts` holds the first row of the query of each row.
    """
    order = np.lexsort((column, starts))
    ordered, queries = column[order], starts[order]
    differs = (ordered[1:] != ordered[:-1]) | (queries[1:] != queries[:-1])
    first = np.flatnonzero(np.append(True, differs))
    middle = first + (np.diff(first, append=len(order)) - 1) / 2
    ranks = np.empty(len(order))
    ranks[order] = middle[np.append(0, np.cumsum(differs))] - queries + 1
    return ranks


def checked_kinds(kinds: Kinds | None, argument: str) -> dict[str, Columns]:
    """Return the columns of each kind that is given: None for all that hold numbers."""
    given: Any = plain(kinds)
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        columns = dict(given)
    elif isinstance(given, Sequence):
        columns = dict.fromkeys(given) if all(isinstance(kind, str) for kind in given) else {}
        if len(columns) < len(given):
            raise ValueError(f"{argument} must name different kinds, got {quoted(kinds)}.")
    else:
        columns = {}
    if not columns:
        raise ValueError(
            f"{argument} must be one of {', '.join(KINDS)}, some of them, a mapping of them to "
            f"columns, or None, got {quoted(kinds)}."
        )
    for kind, chosen in columns.items():
        check_choice(kind, argument, KINDS)
        if chosen is not None and kind == SIZE:
            raise ValueError(f"{argument} must give None for {SIZE!r}, which is of no column.")
        listed = isinstance(chosen, Sequence) and not isinstance(chosen, str) and len(chosen) > 0
        if chosen is not None and not listed:
            raise TypeError(
                f"{argument} must give a list of columns for {kind!r}, by position or name, or "
                f"None for all that hold numbers, got {quoted(chosen)}."
            )
    return columns


def _places(kind: str, chosen: Columns, schema: Schema, argument: str) -> list[int]:
    """Return the positions of the columns of a kind, in ascending order."""
    if kind == SIZE:
        return []
    numbers = sorted(set(range(schema.n_features)) - set(schema.categorical))
    if chosen is None:
        return numbers
    places = sorted(set(column_places(chosen, argument, schema.names, schema.n_features)))
    if wrong := sorted(set(places) - set(numbers)):
        name = (schema.names or range(schema.n_features))[wrong[0]]
        raise ValueError(
            f"{argument} must name columns of numbers, got the categorical column {name!r} for "
            f"{kind!r}."
        )
    return places


def column_names_of(schema: Schema) -> list[str]:
    """Return the names of columns; f0, f1, ... where they have none."""
    return schema.names or [f"f{column}" for column in range(schema.n_features)]


def needed_queries(
    what: str, n_documents: int, qid: ArrayLike | None, group: ArrayLike | None
) -> Queries:
    """Return the queries of rows, or say what must be given."""
    if qid is None and group is None:
        raise queries_needed(
            what,
            "qid= (one query id per row) or group= (query sizes; a single list: group=[len(X)])",
        )
    return Queries.resolve(n_documents, qid, group)


def _spans(offsets: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Yield the first query and the one after the last of runs with at most so many rows."""
    first = 0
    while first < len(offsets) - 1:
        last = int(np.searchsorted(offsets, offsets[first] + most, "right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last
