"""Data and options of the smallest comparisons that tests make, and what runs have in common."""

from typing import Any

import pandas as pd

from gbrank import make_cubic

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)

QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False}
TINY: dict[str, Any] = {"n_estimators": 5, "min_child_samples": 3}


def without_seconds(records: dict[str, list[Any]]) -> pd.DataFrame:
    """Return records but for what differs from run to run."""
    return pd.DataFrame(records).drop(columns="cpu_seconds")
