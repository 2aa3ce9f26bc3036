"""A warning of queries that a split by row has torn into trained and tested documents."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.common.warnings import warn_user
from gbrank.data.queries import Queries
from gbrank.data.sampling import query_keys

# A torn query has fewer documents in the test part; another query of the same id has about as many.
LARGEST_SHARE = 0.75


class TrainedQueries(NamedTuple):
    """The queries that a ranker was trained on: hashes of their ids, sorted, and their sizes."""

    keys: NDArray[np.uint64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, queries: Queries) -> "TrainedQueries":
        """Return queries, sorted by the hashes of their ids."""
        keys = query_keys(queries.ids)
        order = np.argsort(keys)
        return cls(keys[order], queries.sizes[order])


def warn_of_torn_queries(trained: TrainedQueries, queries: Queries, where: str) -> None:
    """Warn if queries look as if a split by row had held out some of their documents."""
    keys = query_keys(queries.ids)
    place = np.minimum(np.searchsorted(trained.keys, keys), len(trained.keys) - 1)
    known = trained.keys[place] == keys
    resized = known & (trained.sizes[place] != queries.sizes)
    share = queries.sizes[known].sum() / max(trained.sizes[place][known].sum(), 1)
    if resized.any() and (share <= LARGEST_SHARE or known.sum() <= queries.n_queries / 2):
        warn_user(
            f"{where}: {resized.sum()} of {queries.n_queries} queries were trained on with other "
            "documents. If a split has torn them apart, the score is too high: split whole "
            "queries, as QueryKFold and query_train_test_split do. If they are other queries, give "
            "them ids of their own."
        )
