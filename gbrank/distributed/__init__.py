"""Training on several machines, with Dask or Spark."""

import importlib
from typing import TYPE_CHECKING, Any

from gbrank.common.runtime import import_optional

from .dask_ranker import DaskGBRanker

if TYPE_CHECKING:
    from .spark_ranker import SparkGBRanker, SparkGBRankerModel

__all__ = ["DaskGBRanker", "SparkGBRanker", "SparkGBRankerModel"]


def __getattr__(name: str) -> Any:
    """Import what inherits from Spark's classes on first use."""
    if name not in {"SparkGBRanker", "SparkGBRankerModel"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for package in ("pyspark", "pandas", "pyarrow"):
        import_optional(package, "spark")
    return getattr(importlib.import_module("gbrank.distributed.spark_ranker"), name)
