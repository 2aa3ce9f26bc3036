"""Data frames of three libraries, and what a schema makes of them."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from gbrank.data.schema import Schema

__all__ = ["FRAMES", "boosters", "frames", "read"]

FRAMES: dict[str, Callable[[Any], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
boosters = pytest.mark.parametrize("booster", ["lightgbm", "xgboost"])


def read(X: Any, categorical_feature: Any = None) -> NDArray[Any]:
    """Learn from X, and transform it."""
    return Schema.learn(X, categorical_feature).transform(X)
