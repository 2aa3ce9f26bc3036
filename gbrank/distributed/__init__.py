"""Training on several machines, with Dask."""

from gbrank.distributed.ranker import DaskGBRanker

__all__ = ["DaskGBRanker"]
