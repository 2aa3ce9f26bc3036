"""Data whose models are the same on one machine and on several workers."""

from typing import Any

from gbrank import make_cubic
from plain_trees import PLAIN

X, Y, QID = make_cubic(60, n_documents=12, n_features=8, random_state=0)
X = X.round(1)  # few values, so that both boosters have the same bins wherever rows are

# LightGBM knows how many documents are in a leaf only where it has all of them.
LEAVES: dict[str, dict[str, Any]] = {
    "lightgbm": {
        **PLAIN,  # each worker draws thresholds of its own
        "min_child_samples": 0,
        "booster_params": {"min_sum_hessian_in_leaf": 5},
    },
    "xgboost": {**PLAIN, "min_child_samples": 5},
}


def dask(values: Any, rows: int = 100) -> Any:
    """Cut an array into blocks, most of which end amid a query."""
    from dask import array

    return array.from_array(values, chunks=(rows, *values.shape[1:]))
