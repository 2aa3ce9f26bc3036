"""How far each feature agrees with the labels of each query."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from gbrank.common.arrays import Matrix
from gbrank.data.rows import Rows
from gbrank.data.schema import as_dense

WIDE = 10_000  # features from which nobody asks


def rank_correlations(rows: Rows) -> tuple[Matrix, NDArray[np.int64]]:
    """Return Spearman's correlations of features with y in queries that tell, and these queries.

    A query tells if its labels differ. A feature that is missing in it, or does not vary, has 0
    there. Documents of weight 0 do not count.
    """
    X = as_dense(rows.X)
    weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
    found, telling = [np.zeros((0, X.shape[1]))], []
    for query in range(rows.queries.n_queries):
        chosen = rows.queries.rows(query)
        chosen = chosen[weights[chosen] > 0]
        labels, features = _centred_ranks(rows.y[chosen, None]), _centred_ranks(X[chosen])
        if labels.any():
            scale = np.sqrt((labels**2).sum() * (features**2).sum(axis=0))
            products = (labels * features).sum(axis=0)
            found.append(np.divide(products, scale, np.zeros_like(scale), where=scale > 0)[None])
            telling.append(query)
    return np.vstack(found), np.array(telling, np.int64)


def _centred_ranks(values: Matrix) -> Matrix:
    """Return the ranks of each column's values, less their mean; 0 for those that are missing."""
    ranks = rankdata(values, axis=0, nan_policy="omit")
    n_known = (~np.isnan(ranks)).sum(axis=0)
    return np.nan_to_num(ranks - (n_known + 1) / 2)
