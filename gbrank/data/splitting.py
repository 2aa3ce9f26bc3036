"""Parts of data that share no query: one split, and splitters for searches and comparisons."""

from __future__ import annotations  # short signatures in the documentation

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import KFold, TimeSeriesSplit, train_test_split
from sklearn.utils import indexable

from gbrank.common.checks import ArgumentError, Positions, check_integer, queries_needed

from .documents import take_rows
from .queries import Queries
from .sampling import query_noise


class Fold(NamedTuple):
    """The row numbers of one fold; a query is in one of the three only."""

    train: Positions
    valid: Positions
    test: Positions


def query_train_test_split(
    *arrays: Any,
    qid: ArrayLike,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: int | np.random.RandomState | None = None,
    shuffle: bool = True,
) -> list[Any]:
    """Split arrays into training and test parts by query, like scikit-learn's `train_test_split`.

    All rows of a query are in one part, in their original order.

    Parameters
    ----------
    *arrays : array-like, sparse matrix or data frame, of n_documents rows
        Features, labels, weights, ...
    qid : array-like, shape (n_documents,)
        Query id of each row; it is split too.
    test_size, train_size : float or int, optional
        Fraction or number of the queries in each part. By default each complements the other, and a
        quarter is for testing.
    random_state : int, RandomState or None
        Seed of the shuffle.
    shuffle : bool, default True
        Whether queries are chosen at random. Otherwise the last ones to appear form the test part.

    Returns
    -------
    list
        The training and the test part of each array, then those of qid.

    Raises
    ------
    ValueError
        If lengths differ, or a part would have no query.

    Examples
    --------
    >>> from gbrank import make_cubic, query_train_test_split
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    ...     X, y, qid=qid, test_size=0.1, random_state=0
    ... )
    >>> X_test.shape[0], len(set(qid_train) & set(qid_test))
    (40, 0)
    """
    queries = Queries.from_qid(qid)
    numbers = train_test_split(
        np.arange(queries.n_queries),
        test_size=test_size,
        train_size=train_size,
        random_state=random_state,
        shuffle=shuffle,
    )
    rows = [np.flatnonzero(np.isin(queries.index, part)) for part in numbers]
    return [take_rows(array, part) for array in indexable(*arrays, qid) for part in rows]


class _Splitter:
    """The number of splits, and the request for queries, of all splitters."""

    n_splits: int

    __metadata_request__split: ClassVar[dict[str, bool]] = {"qid": True}

    def get_n_splits(
        self, X: Any = None, y: Any = None, qid: Any = None, *, groups: Any = None
    ) -> int:
        """Return the number of splits."""
        return int(self.n_splits)

    def _queries(self, qid: ArrayLike | None, groups: object) -> Queries:
        if qid is None or groups is not None:
            raise queries_needed(f"{type(self).__name__}.split", "qid= (one query id per row)")
        return Queries.from_qid(qid)


class _ByQuery(_Splitter):
    """Turns the next base class, a splitter of rows, into one of queries, which requests qid."""

    def split(
        self, X: Any, y: Any = None, qid: ArrayLike | None = None, *, groups: Any = None
    ) -> Iterator[tuple[Positions, Positions]]:
        """Yield the rows to train on and those to test on, each in the order that they had.

        Parameters
        ----------
        X, y : any
            Not looked at.
        qid : array-like, shape (n_documents,)
            The query of each row; with metadata routing, scikit-learn's ``params={"qid": qid}``.
        groups : None
            What scikit-learn passes where metadata routing is not enabled; refused.

        Yields
        ------
        train, test : ndarray of int64

        Raises
        ------
        ValueError
            If qid is missing, or there are too few queries.
        """
        queries = self._queries(qid, groups)
        for parts in super().split(np.empty((queries.n_queries, 0))):  # type: ignore[misc]
            train, test = (np.flatnonzero(np.isin(queries.index, part)) for part in parts)
            yield train, test


class QueryKFold(_ByQuery, KFold):
    """K folds of whole queries, as scikit-learn's `KFold` of rows; it requests qid by itself.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds, at least 2.
    shuffle : bool, default False
        Whether queries are dealt by chance. Otherwise folds are consecutive, as queries appear.
    random_state : int, RandomState or None
        Seed of the shuffle.

    Examples
    --------
    >>> import sklearn
    >>> from sklearn.model_selection import cross_validate
    >>> from gbrank import GBRanker, make_cubic
    >>> from gbrank.evaluation import QueryKFold
    >>> X, y, qid = make_cubic(40, n_documents=10, random_state=0)
    >>> ranker = GBRanker(n_estimators=10, n_jobs=1)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     result = cross_validate(ranker, X, y, cv=QueryKFold(4), params={"qid": qid})
    >>> result["test_score"].shape
    (4,)
    """


class QueryTimeSeriesSplit(_ByQuery, TimeSeriesSplit):
    """Trains on the queries up to some time and tests on the next, as `TimeSeriesSplit` of rows.

    Queries are in the order in which they first appear: sort the rows by time. It requests qid by
    itself.

    Parameters
    ----------
    n_splits : int, default 5
        Number of splits, at least 2.
    max_train_size : int, optional
        Largest number of queries to train on, the latest ones; all by default.
    test_size : int, optional
        Number of queries to test on; by default the queries are divided evenly.
    gap : int, default 0
        Number of queries to leave out between the two.

    Examples
    --------
    >>> from gbrank.evaluation import QueryTimeSeriesSplit
    >>> qid = ["monday", "monday", "tuesday", "wednesday", "wednesday"]
    >>> for train, test in QueryTimeSeriesSplit(2).split(None, qid=qid):
    ...     print(train.tolist(), test.tolist())
    [0, 1] [2]
    [0, 1, 2] [3, 4]
    """


class LetorFolds(_Splitter):
    """Splits into queries to train, validate and test on, as LETOR's folds: parts that rotate.

    With five parts, fold f trains on parts f, f + 1 and f + 2, validates on f + 3 and tests on
    f + 4 (modulo 5), so that every query is tested once and validated once. The shuffle depends
    on the seed and the queries' ids, not on the order of the rows.

    Parameters
    ----------
    n_splits : int, default 5
        Number of parts and of folds, at least 3.
    random_state : int, default 0
        Seed of the shuffle.

    References
    ----------
    T. Qin, T.-Y. Liu. Introducing LETOR 4.0 datasets. arXiv:1306.2597, 2013 (table 3).

    Examples
    --------
    >>> from gbrank.evaluation import LetorFolds
    >>> fold = next(LetorFolds().split(None, qid=["a", "a", "b", "c", "d", "e"]))
    >>> [len(rows) for rows in fold]
    [3, 1, 2]
    """

    def __init__(self, n_splits: int = 5, *, random_state: int = 0) -> None:
        self.n_splits = check_integer(n_splits, "n_splits", 3)
        self.random_state = check_integer(random_state, "random_state", 0)

    def split(
        self, X: Any, y: Any = None, qid: ArrayLike | None = None, *, groups: Any = None
    ) -> Iterator[Fold]:
        """Yield the rows to train, to validate and to test on, each in the order that they had.

        Parameters
        ----------
        X, y : any
            Not looked at.
        qid : array-like, shape (n_documents,)
            The query of each row.
        groups : None
            Refused: queries are `qid`.

        Yields
        ------
        train, valid, test : ndarray of int64

        Raises
        ------
        ValueError
            If qid is missing, or there are too few queries.
        """
        queries = self._queries(qid, groups)
        if queries.n_queries < self.n_splits:
            raise ArgumentError(
                "n_splits",
                f"must be at most the number of queries, {queries.n_queries}",
                f"{self.n_splits}",
            )
        noise = query_noise(queries.id_keys, self.random_state)
        rank = np.argsort(np.argsort(noise, kind="stable"))
        part = rank * self.n_splits // queries.n_queries
        yield from rotations(part[queries.index])


def rotations(part: Positions) -> Iterator[Fold]:
    """Yield as many folds as there are parts, as LETOR does, from the part of each row, from 0."""
    n = int(part.max()) + 1
    for fold in range(n):
        turn = (part - fold) % n
        yield Fold(*map(np.flatnonzero, (turn < n - 2, turn == n - 2, turn == n - 1)))
