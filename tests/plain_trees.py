"""Trees as LightGBM and XGBoost grow them by themselves, for tests that compare with these."""

from typing import Any

PLAIN: dict[str, Any] = {
    "learning_rate": 0.1, "num_leaves": 31, "colsample": 1.0, "extra_trees": False,
}  # fmt: skip
