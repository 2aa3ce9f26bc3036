"""Train and test data that share no query."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, indexable

from gbrank.data.queries import Queries


def query_train_test_split(
    *arrays: Any,
    qid: ArrayLike,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: int | np.random.RandomState | None = None,
    shuffle: bool = True,
) -> list[Any]:
    """Split arrays into train and test parts, as scikit-learn's `train_test_split`, by query.

    All rows of a query are in one part, in the order that they had.

    Parameters
    ----------
    *arrays : array-like, sparse matrix or data frame, of n_documents rows
        Features, labels, weights, ...
    qid : array-like, shape (n_documents,)
        The query of each row; it is split too.
    test_size, train_size : float or int, optional
        Share or number of the queries in each part. What is not given is the complement of the
        other; a quarter is tested on by default.
    random_state : int, RandomState or None
        Seed of the shuffle.
    shuffle : bool, default True
        Whether chance chooses the queries. Otherwise the last ones to appear are the test part.

    Returns
    -------
    list
        The train and the test part of each array, then those of qid.

    Raises
    ------
    ValueError
        If there is no array, lengths differ, or a part would have no query.

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
    if not arrays:
        raise ValueError("arrays must hold at least one array to split, got none.")
    arrays = tuple(indexable(*arrays, qid))
    queries = Queries.from_qid(qid)
    sizes = {"test_size": test_size, "train_size": train_size}
    numbers = train_test_split(
        np.arange(queries.n_queries), **sizes, random_state=random_state, shuffle=shuffle
    )
    rows = [np.flatnonzero(np.isin(queries.index, part)) for part in numbers]
    return [_safe_indexing(array, part) for array in arrays for part in rows]
