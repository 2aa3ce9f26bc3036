"""Several files as one set of documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gbrank.datasets.types import Features

__all__ = ["check_disjoint", "stack_features"]


def check_disjoint(paths: Sequence[Any], qids: Sequence[NDArray[Any]]) -> None:
    """Refuse files that share a query.

    Parameters
    ----------
    paths : sequence of path
    qids : sequence of ndarray
        The query of each row of each file.

    Raises
    ------
    ValueError
        If they do.

    Examples
    --------
    >>> check_disjoint(["a.txt", "b.txt"], [np.array([1, 1]), np.array([2])])
    """
    home: dict[str, Any] = {}
    for path, qid in zip(paths, qids, strict=True):
        queries = dict.fromkeys(map(str, np.unique(qid).tolist()), path)
        for query in sorted(queries.keys() & home.keys()):
            raise ValueError(
                f"query {query} is both in {home[query]} and in {path}: a query must not be split "
                "over files."
            )
        home |= queries


def stack_features(matrices: Sequence[Features]) -> Features:
    """Stack matrices, dense or sparse; a file need not mention the last features.

    Parameters
    ----------
    matrices : sequence of ndarray or csr_matrix

    Returns
    -------
    ndarray or csr_matrix

    Examples
    --------
    >>> stack_features([np.ones((1, 2)), np.ones((1, 1))])
    array([[1., 1.],
           [1., 0.]])
    """
    width = max(X.shape[1] for X in matrices)
    if sparse.issparse(matrices[0]):
        for X in matrices:
            X.resize(X.shape[0], width)
        return sparse.vstack(matrices, format="csr")
    return np.vstack([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X in matrices])
