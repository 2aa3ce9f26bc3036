"""Data and options of the smallest comparisons that tests make."""

from typing import Any

from gbrank import make_cubic

X, Y, QID = make_cubic(12, n_documents=8, n_features=4, random_state=0)

QUIET: dict[str, Any] = {"n_jobs": 1, "progress": False}
TINY: dict[str, Any] = {"n_estimators": 5, "min_child_samples": 3}
