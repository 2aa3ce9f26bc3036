"""Trees as LightGBM and XGBoost grow them by themselves, for tests that compare with these."""

import inspect
from typing import Any

import lightgbm as lgb

PLAIN: dict[str, Any] = {
    "learning_rate": 0.1, "num_leaves": 31, "colsample": 1.0, "extra_trees": False,
}  # fmt: skip


def lightgbm_valid(X: Any, y: Any) -> dict[str, Any]:
    """Return the arguments of `LGBMRanker.fit` for a validation set, by its version's names."""
    if "eval_X" in inspect.signature(lgb.LGBMRanker.fit).parameters:
        return {"eval_X": (X,), "eval_y": (y,)}
    return {"eval_set": [(X, y)]}  # before LightGBM 4.7
