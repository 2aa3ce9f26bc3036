"""Which rows belong to which query. Nothing else in gbrank looks at query ids or group sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.checks import (
    ArgumentError,
    Array,
    Keys,
    Mask,
    Positions,
    one_column,
    quoted,
    shortened,
)

from .ids import as_ids, as_list, codes_by_appearance, find_matches, key_of, missing_ids

Rows: TypeAlias = NDArray[np.signedinteger]
QueryWeights: TypeAlias = ArrayLike | Mapping[Any, float]  # in the order of the queries, or by id


@dataclass(frozen=True, eq=False)
class Queries:
    """The partition of rows (documents) into queries.

    Queries are in the order in which they first appear. The rows of a query, which need not be
    adjacent, are in input order. Made by `from_qid`, `from_sizes` or `resolve`.

    Parameters
    ----------
    order : ndarray of int32 or int64, shape (n_documents,)
        Row numbers, grouped by query.
    offsets : ndarray of int64, shape (n_queries + 1,)
        Rows of query q are ``order[offsets[q]:offsets[q + 1]]``.
    ids : ndarray, shape (n_queries,)
        The id of each query (its number, when made from sizes).

    Examples
    --------
    >>> from gbrank import Queries
    >>> queries = Queries.from_qid(["b", "a", "b"])
    >>> queries.ids.tolist(), queries.sizes.tolist(), queries.order.tolist()
    (['b', 'a'], [2, 1], [0, 2, 1])
    """

    order: Rows = field(repr=False)
    offsets: Positions = field(repr=False)
    ids: Array

    @classmethod
    def from_sizes(cls, sizes: ArrayLike) -> Queries:
        """Make queries from the sizes of consecutive groups of rows.

        Parameters
        ----------
        sizes : array-like of int, shape (n_queries,)
            How many rows each query has, at least 1.

        Returns
        -------
        Queries

        Raises
        ------
        ValueError
            If a size is not a positive integer.

        Examples
        --------
        >>> Queries.from_sizes([3, 2]).offsets.tolist()
        [0, 3, 5]
        """
        counts = _checked_sizes(sizes)
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return cls(_compact(np.arange(offsets[-1])), offsets, np.arange(len(counts)))

    @classmethod
    def from_qid(cls, qid: ArrayLike | Sequence[Any], name: str = "qid") -> Queries:
        """Make queries from one id per row, in any order.

        Parameters
        ----------
        qid : array-like, shape (n_documents,)
            The query of each row: integers or strings. Whole floats below 2**53 count as integers;
            anything else that can be hashed, such as a date or a tuple, is compared by its repr.
        name : str
            What errors call it.

        Returns
        -------
        Queries

        Raises
        ------
        ValueError
            If there is no row, or ids are missing (NaN, NaT, None), masked, or other floats.

        Examples
        --------
        >>> Queries.from_qid([7, 7, 3]).sizes.tolist()
        [2, 1]
        """
        values = as_ids(qid, name)
        if values.ndim != 1:
            raise ValueError(f"{name} must have one dimension, got shape {values.shape}.")
        if values.size == 0:
            raise ValueError(f"{name} must have at least one row, got none.")
        codes, ids = codes_by_appearance(values, name)
        missing = missing_ids(ids)
        if missing.any():
            row = int(np.argmax(missing[codes]))
            raise ValueError(f"{name} must not be missing, got {values[row]!r} in row {row}.")
        return cls._grouped(codes, ids)

    @classmethod
    def _grouped(cls, codes: Positions, ids: Array) -> Queries:
        """Make queries from the number of each row's query."""
        offsets = np.concatenate([[0], np.cumsum(np.bincount(codes), dtype=np.int64)])
        return cls(_compact(np.argsort(codes, kind="stable")), offsets, ids)

    @classmethod
    def resolve(
        cls, n_documents: int, qid: ArrayLike | None = None, group: ArrayLike | None = None
    ) -> Queries:
        """Make queries for `n_documents` rows from what a user passed.

        Parameters
        ----------
        n_documents : int
        qid : array-like, shape (n_documents,), optional
            One id per row.
        group : array-like of int, shape (n_queries,), optional
            Sizes of consecutive queries. With neither, all rows are one query.

        Returns
        -------
        Queries

        Raises
        ------
        ValueError
            If both are given, or they do not cover exactly `n_documents` rows.

        Examples
        --------
        >>> Queries.resolve(5, group=[3, 2]).n_queries
        2
        """
        if qid is not None and group is not None:
            raise ValueError("give either qid or group, not both.")
        if qid is None:
            sizes: Any = [n_documents] if group is None else group
            by_row = np.shape(sizes) == (n_documents,) and n_documents > 1
            if by_row and not np.array_equal(sizes, np.ones(n_documents)):
                raise ArgumentError(
                    "group",
                    "must be the sizes of consecutive queries",
                    "an entry per row",
                    " Pass query ids as qid=.",
                )
            counts = _checked_sizes(sizes)
            if counts.sum(dtype=np.float64) != n_documents:
                raise ArgumentError(
                    "group",
                    f"must add up to the number of rows, {n_documents}",
                    f"sizes that add up to {counts.sum(dtype=np.float64):g}",
                )
            return cls.from_sizes(counts)
        queries = cls.from_qid(qid)
        if queries.n_documents != n_documents:
            demand = f"must have one entry per row, {n_documents}"
            sizes = queries.qid
            hint = ""
            if sizes.dtype.kind in "iu" and sizes.sum() == n_documents:
                hint = " These are sizes of queries: pass them as group=."
            raise ArgumentError("qid", demand, f"{queries.n_documents}", hint)
        return queries

    @cached_property
    def sizes(self) -> Positions:
        """Number of documents of each query, shape (n_queries,)."""
        return np.diff(self.offsets)

    @property
    def n_documents(self) -> int:
        """Number of rows."""
        return len(self.order)

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.offsets) - 1

    @cached_property
    def index(self) -> Positions:
        """The query number of each row, shape (n_documents,)."""
        index = np.empty(self.n_documents, dtype=np.int64)
        index[self.order] = np.repeat(np.arange(self.n_queries), self.sizes)
        return index

    @property
    def id_list(self) -> list[Any]:
        """The id of each query, as Python's own objects; times as NumPy's, which are exact."""
        return as_list(self.ids)

    @cached_property
    def id_keys(self) -> Keys:
        """A hash of the id of each query, the same for integers and their text."""
        if self.ids.dtype.kind in "iub":
            return self.ids.astype(np.int64).view(np.uint64)
        return np.fromiter(map(key_of, self.id_list), np.uint64, self.n_queries)

    @property
    def qid(self) -> Array:
        """The query id of each row, shape (n_documents,)."""
        return self.ids[self.index]

    @property
    def starts(self) -> Positions:
        """Where each query begins in `order`, shape (n_queries,)."""
        return self.offsets[:-1]

    @property
    def places(self) -> Positions:
        """The number of each row of `order` within its query, from 0, shape (n_documents,)."""
        return np.arange(self.n_documents) - np.repeat(self.starts, self.sizes)

    def count(self, rows: Positions | Mask) -> Positions:
        """Count how many of some rows each query has.

        Parameters
        ----------
        rows : ndarray of int or bool
            The rows, or a mask of them.

        Returns
        -------
        ndarray of int64, shape (n_queries,)
        """
        return np.bincount(self.index[rows], minlength=self.n_queries)

    def rows(self, query: int) -> Rows:
        """List the rows of a query, in their order.

        Parameters
        ----------
        query : int
            Its number, from 0.

        Returns
        -------
        ndarray of int, shape (n_documents of the query,)

        Examples
        --------
        >>> Queries.from_qid(["b", "a", "b"]).rows(0).tolist()
        [0, 2]
        """
        return self.order[self.offsets[query] : self.offsets[query + 1]]

    @property
    def contiguous(self) -> bool:
        """Whether the rows are already grouped by query."""
        return bool((np.diff(self.order) == 1).all())

    def in_order(self, values: Any) -> Any:
        """Put one value per query in the order of the queries.

        Parameters
        ----------
        values : mapping of query id to value, pandas series, or anything else
            A series is taken by its index, as a mapping is, unless the index is pandas' default
            0, 1, ... of as many entries as there are queries, which says nothing of queries. Such
            a series, and what is neither, comes back as it is: one value per query in their order.

        Returns
        -------
        list, or `values`

        Raises
        ------
        ValueError
            If a query has no value or several, or ids are 0, 1, ... in another order where the
            index is the default one, so that it may be meant in either way.

        Examples
        --------
        >>> queries = Queries.from_qid(["b", "a", "b"])
        >>> queries.in_order({"a": 1.0, "b": 2.0, "c": 3.0})
        [2.0, 1.0]
        >>> import pandas as pd
        >>> queries.in_order(pd.Series([1.0, 2.0], index=["a", "b"]))
        [2.0, 1.0]
        """
        if nw.dependencies.is_pandas_dataframe(values) and values.shape[1] == 1:
            values = values.iloc[:, 0]
        series = nw.dependencies.is_pandas_series(values)
        if not series and not isinstance(values, Mapping):
            return values
        ids = self.id_list
        if series and _is_by_position(values.index, list(map(key_of, ids))):
            return values
        known, entries = zip(*values.items(), strict=True) if len(values) else ((), ())
        matches = find_matches(ids, known)
        for query, matching in zip(ids, matches, strict=True):
            if len(matching) != 1:
                raise ArgumentError(
                    "query_weight",
                    f"must have one entry for query {quoted(query)}",
                    f"{len(matching)}",
                    " For weights in the order of queries, pass their .to_numpy()."
                    if series
                    else "",
                )
        return [entries[index] for (index,) in matches]

    def reduce(self, function: np.ufunc, values: Array) -> Array:
        """Reduce the values of the rows of each query by a function such as np.add.

        Parameters
        ----------
        function : numpy.ufunc
        values : ndarray, shape (n_documents,)

        Returns
        -------
        ndarray, shape (n_queries,)
        """
        return function.reduceat(values[self.order], self.starts)

    def one_each(self, values: Array, name: str) -> Array:
        """Reduce values that repeat in the rows of a query to one per query.

        Parameters
        ----------
        values : ndarray, shape (n_documents,)
        name : str
            What they are called where a query has several.

        Returns
        -------
        ndarray, shape (n_queries,)

        Raises
        ------
        ValueError
            If a query has several.

        Examples
        --------
        >>> Queries.from_qid(["b", "a", "b"]).one_each(np.array([1, 2, 1]), "year")
        array([1, 2])
        """
        first = values[self.order[self.starts]]
        differs = values != first[self.index]
        if differs.any():
            row = int(np.argmax(differs))
            query = self.index[row]
            raise ArgumentError(
                name,
                "must be the same in all rows of a query",
                f"{first[query]} and {values[row]} in query {quoted(self.id_list[query])}",
            )
        return first

    def subset(self, keep: Mask) -> tuple[Queries, Positions]:
        """Keep some queries only.

        Parameters
        ----------
        keep : ndarray of bool, shape (n_queries,)

        Returns
        -------
        queries : Queries
        rows : ndarray of int64
            The rows that are kept, in their order.

        Examples
        --------
        >>> kept, rows = Queries.from_qid(["b", "a", "b"]).subset(np.array([True, False]))
        >>> kept.sizes.tolist(), rows.tolist()
        ([2], [0, 2])
        """
        return self.select(keep[self.index])[:2]

    def select(self, keep: Mask) -> tuple[Queries, Positions, Mask]:
        """Select some of the rows, with their queries.

        Parameters
        ----------
        keep : ndarray of bool, shape (n_documents,)
            Which rows to keep.

        Returns
        -------
        queries : Queries
            The queries of the kept rows, in their order.
        rows : ndarray of int64
            The rows that are kept, in their order.
        kept : ndarray of bool, shape (n_queries,)
            Which queries have a row that is kept.

        Examples
        --------
        >>> queries = Queries.from_qid(["b", "a", "b"])
        >>> queries.select(np.array([True, False, True]))[0].ids.tolist()
        ['b']
        """
        rows = np.flatnonzero(keep)
        kept = self.count(rows) > 0
        codes = (np.cumsum(kept) - 1)[self.index[rows]]
        return self._grouped(codes, self.ids[kept]), rows, kept


def _compact(rows: Rows) -> Rows:
    return rows.astype(np.int32 if len(rows) <= np.iinfo(np.int32).max else np.int64, copy=False)


def _checked_sizes(sizes: ArrayLike) -> Positions:
    counts = one_column(np.asarray(sizes))
    numbers = counts.ndim == 1 and counts.size > 0 and counts.dtype.kind in "iuf"
    if not numbers or ((counts < 1) | (counts != np.floor(counts))).any():
        raise ArgumentError(
            "group",
            "must be a list of query sizes, integers of at least 1",
            shortened(f"{counts!r}"),
            " Leave out queries without documents.",
        )
    return counts.astype(np.int64)


def _is_by_position(index: Any, keys: list[int]) -> bool:
    """Whether the index of a series holds no query ids; raise if it may or may not."""
    positions = range(len(keys))
    default = type(index).__name__ == "RangeIndex" and index.name is None
    if not default or range(index.start, index.stop, index.step) != positions:
        return False
    if sorted(keys) == list(positions) != keys:
        raise ValueError(
            "query_weight is ambiguous: its index 0, 1, ... has the query ids in another order. "
            "Pass query_weight.to_dict() to match weights by query id, or query_weight.to_numpy() "
            "for weights in the order in which queries first appear."
        )
    return True
