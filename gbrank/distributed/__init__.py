"""Training on several machines, with Dask."""

from gbrank.distributed.dask_ranker import DaskGBRanker

__all__ = ["DaskGBRanker"]
