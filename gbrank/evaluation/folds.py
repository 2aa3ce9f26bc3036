"""Data sets and their folds: which queries are trained on, validated on, and tested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.arrays import Positions
from gbrank.common.checks import check_labels, check_number
from gbrank.data.queries import Queries
from gbrank.data.rows import take_rows
from gbrank.data.sampling import query_keys, query_noise


class Fold(NamedTuple):
    """The row numbers of one fold; a query is in one of the three only."""

    train: Positions
    valid: Positions
    test: Positions


class Documents(NamedTuple):
    """Documents of whole queries, as `GBRanker.fit` takes them."""

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[Any]


Folds: TypeAlias = int | Sequence[Fold | tuple[ArrayLike, ArrayLike, ArrayLike]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Documents with labels, queries and folds.

    Parameters
    ----------
    name : str
        What the data set is called in results.
    X, y, qid
        Features, labels and queries, as for `GBRanker.fit`.
    folds : int or sequence of (train, valid, test)
        How many folds `split_folds` is to make, or row numbers of your own.

    Attributes
    ----------
    labels : ndarray, shape (n_documents,)
    queries : Queries
    splits : list of Fold
        The folds, as row numbers.

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable; among others, if a fold splits a query.

    Examples
    --------
    >>> from gbrank import Dataset, make_cubic
    >>> data = Dataset("cubic", *make_cubic(30, random_state=0), folds=3)
    >>> [len(rows) for rows in data.splits[0]]
    [500, 500, 500]
    """

    name: str
    X: Any = field(repr=False)
    y: ArrayLike = field(repr=False)
    qid: ArrayLike = field(repr=False)
    folds: Folds = field(default=5, repr=False)
    labels: NDArray[np.float64] = field(init=False, repr=False)
    queries: Queries = field(init=False, repr=False)
    splits: list[Fold] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"name must be a text that is not empty, got {self.name!r}.")
        X = self.X if hasattr(self.X, "shape") else np.asarray(self.X)
        labels = check_labels(self.y, "y", X.shape[0])
        queries = Queries.resolve(len(labels), self.qid)
        if len(set(map(str, queries.ids.tolist()))) < queries.n_queries:
            raise ValueError("qid must not hold ids that differ but read the same, as 1 and '1'.")
        if isinstance(self.folds, Sequence):
            if len(self.folds) == 0:
                raise ValueError("folds must hold at least one fold, got none.")
            splits = [_check_fold(fold, queries, i) for i, fold in enumerate(self.folds)]
        else:
            splits = split_folds(self.qid, self.folds)
        vars(self).update(X=X, labels=labels, queries=queries, splits=splits)

    def fold(self, number: int) -> tuple[Documents, Documents, Documents]:
        """Return the documents of a fold to train on, to validate on and to test on.

        Parameters
        ----------
        number : int
            Which fold, counted from 1.

        Returns
        -------
        train, valid, test : Documents

        Raises
        ------
        ValueError
            If there is no such fold.

        Examples
        --------
        >>> from gbrank import Dataset, GBRanker, make_cubic
        >>> data = Dataset("cubic", *make_cubic(30, n_documents=10, random_state=0))
        >>> train, valid, test = data.fold(1)
        >>> ranker = GBRanker(n_estimators=10, n_jobs=1).fit(train.X, train.y, qid=train.qid)
        >>> 0 < ranker.score(test.X, test.y, test.qid) < 1
        True
        """
        check_number(number, "number", 1, len(self.splits), integer=True)
        train, valid, test = map(self._documents, self.splits[number - 1])
        return train, valid, test

    def _documents(self, rows: Positions) -> Documents:
        qid = self.queries.ids[self.queries.index[rows]]
        return Documents(take_rows(self.X, rows), self.labels[rows], qid)


def _check_fold(fold: Any, queries: Queries, number: int) -> Fold:
    where = f"folds[{number}]"
    if len(fold) != 3:
        raise ValueError(f"{where} must be (train, valid, test), got {len(fold)} entries.")
    parts = Fold(*map(np.asarray, fold))
    part_of: dict[int, str] = {}
    for name, rows in zip(Fold._fields, parts, strict=True):
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
            raise ValueError(
                f"{where}.{name} must be a list of row numbers that is not empty, got "
                f"{rows.dtype} of shape {rows.shape}."
            )
        if rows.min() < 0 or rows.max() >= queries.n_documents:
            raise ValueError(
                f"{where}.{name} must hold rows from 0 to {queries.n_documents - 1}, got "
                f"{rows.min()} to {rows.max()}."
            )
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"{where}.{name} must not hold a row twice.")
        part_queries = dict.fromkeys(queries.index[rows].tolist(), name)
        for query in sorted(part_queries.keys() & part_of.keys()):
            raise ValueError(
                f"{where} must not split a query: {queries.ids[query]} is both in {part_of[query]} "
                f"and in {name}."
            )
        part_of |= part_queries
    return Fold(*(rows.astype(np.int64) for rows in parts))


def split_folds(qid: ArrayLike, n_folds: int = 5, *, random_state: int = 0) -> list[Fold]:
    """Shuffle queries, deal them into parts, and rotate the parts as LETOR does.

    With five parts, fold f trains on parts f, f + 1 and f + 2, validates on f + 3 and tests on
    f + 4 (modulo 5), so that every query is tested once and validated once. The shuffle depends
    on the seed and the queries' ids, not on the order of the rows.

    Parameters
    ----------
    qid : array-like, shape (n_documents,)
        The query of each row.
    n_folds : int, default 5
        Number of parts and of folds, at least 3.
    random_state : int, default 0
        Seed of the shuffle.

    Returns
    -------
    list of Fold

    Raises
    ------
    ValueError
        If there are fewer queries than folds.

    References
    ----------
    T. Qin, T.-Y. Liu. Introducing LETOR 4.0 datasets. arXiv:1306.2597, 2013 (table 3).

    Examples
    --------
    >>> from gbrank import split_folds
    >>> fold = split_folds(["a", "a", "b", "c", "d", "e"])[0]
    >>> [len(rows) for rows in fold]
    [3, 1, 2]
    """
    check_number(n_folds, "folds", 3, integer=True)
    check_number(random_state, "random_state", 0, integer=True)
    queries = Queries.from_qid(qid)
    if queries.n_queries < n_folds:
        raise ValueError(
            f"folds must be at most the number of queries, {queries.n_queries}, got {n_folds}."
        )
    shuffled = np.argsort(query_noise(query_keys(queries.ids), random_state, 0), kind="stable")
    part = np.empty(queries.n_queries, dtype=np.int64)
    part[shuffled] = np.arange(queries.n_queries) * n_folds // queries.n_queries
    return rotate(part[queries.index])


def rotate(part: Positions) -> list[Fold]:
    """Make as many folds as there are parts, as LETOR does, from the part of each row, from 0."""
    n = int(part.max()) + 1
    shifted = [(part - fold) % n for fold in range(n)]
    return [Fold(*map(np.flatnonzero, (t < n - 2, t == n - 2, t == n - 1))) for t in shifted]
