"""Several files as one set of documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gbrank.datasets.text_files import StrPath


def stack_files(paths: Sequence[StrPath], parts: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return what `read_letor` found in several files as if it were one."""
    if len(parts) == 1:
        return parts[0]
    matrices, *columns = zip(*parts, strict=True)
    refuse_shared_queries(paths, columns[1])
    width = max(X.shape[1] for X in matrices)  # a file need not mention the last features
    if sparse.issparse(matrices[0]):
        for X in matrices:
            X.resize(X.shape[0], width)
        stacked = sparse.vstack(matrices, format="csr")
    else:
        stacked = np.vstack([np.pad(X, ((0, 0), (0, width - X.shape[1]))) for X in matrices])
    return stacked, *map(np.concatenate, columns)


def refuse_shared_queries(paths: Sequence[StrPath], qids: Sequence[Any]) -> None:
    """Refuse queries that are in more than one file."""
    path_of: dict[str, StrPath] = {}
    for path, qid in zip(paths, qids, strict=True):
        queries = dict.fromkeys(map(str, np.unique(qid).tolist()), path)
        for query in sorted(queries.keys() & path_of.keys()):
            raise ValueError(
                f"query {query} is both in {path_of[query]} and in {path}: a query must not be "
                "split over files."
            )
        path_of |= queries
