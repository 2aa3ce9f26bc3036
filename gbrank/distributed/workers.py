"""One fit on several Dask workers: they meet, each works on its own queries, the first reports."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any
from urllib.parse import urlparse

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from xgboost import collective
from xgboost.collective import CommunicatorContext, Op
from xgboost.tracker import RabitTracker

from gbrank.boosters.lightgbm.trainer import lightgbm_network
from gbrank.parallel.collective import joined

__all__ = ["RabitWorkers", "run_on_workers"]

POLL_SECONDS = 1
# How long workers get to end by themselves once one of them is lost or has failed.
GRACE_SECONDS = 10


class RabitWorkers:
    """The workers of a fit, connected by XGBoost's collective, as one of them sees them.

    Attributes
    ----------
    size : int
        How many there are.
    """

    def __init__(self) -> None:
        self.size: int = collective.get_world_size()

    def total(self, values: Any) -> Any:
        """Return the sum of each number over all workers."""
        return _reduced(values, Op.SUM)

    def largest(self, values: Any) -> Any:
        """Return the largest of each number over all workers."""
        return _reduced(values, Op.MAX)

    def gather(self, value: Any) -> list[Any]:
        """Return the values of all workers, by rank."""
        return [collective.broadcast((value,), rank)[0] for rank in range(self.size)]


def _reduced(values: Any, operation: Op) -> Any:
    array = np.asarray(values)
    result = collective.allreduce(array, operation).reshape(array.shape)
    return result if array.ndim else result[()]


def run_on_workers(
    client: Any,
    task: Callable[..., Any],
    shards: Mapping[str, Sequence[Any]],
    *,
    lightgbm: bool = False,
) -> Any:
    """Call a function on several workers at once, each with its own shards of the data.

    Parameters
    ----------
    client : distributed.Client
    task : callable
        Called with the shards. What it asks of `gbrank.parallel.collective` is of all workers.
    shards : mapping of str to sequence of Future
        The shards of each worker, by its address.
    lightgbm : bool
        Whether LightGBM is to grow trees.

    Returns
    -------
    object
        What the function returned on the first of the workers.

    Raises
    ------
    RuntimeError
        If a worker was lost.
    Exception
        What the function raised on a worker.
    """
    hosts = [urlparse(address).hostname for address in shards]
    first = next(iter(shards))
    tracker = client.submit(
        RabitTracker, n_workers=len(hosts), host_ip=hosts[0], sortby="task",
        workers=first, actor=True, pure=False,
    ).result()  # fmt: skip
    tracker.start().result()
    meeting = tracker.worker_args().result()
    futures = {
        address: client.submit(
            _take_part, task, meeting, rank, host, lightgbm, *own,
            workers=address, pure=False, retries=0,
        )
        for rank, (host, (address, own)) in enumerate(zip(hosts, shards.items(), strict=True))
    }  # fmt: skip
    try:
        _wait(client, futures, tracker)
        return futures[first].result()
    finally:
        _stop(client, futures)


def _take_part(
    task: Callable[..., Any],
    meeting: dict[str, Any],
    rank: int,
    host: str,
    lightgbm: bool,
    *shards: Any,
) -> Any:
    """Do one worker's part."""
    with (
        xgb.config_context(verbosity=0),
        CommunicatorContext(**meeting, dmlc_task_id=f"{rank:08}"),
        joined(RabitWorkers()),
        lightgbm_network(host) if lightgbm else nullcontext(),
    ):
        result = task(*shards)
    return result if rank == 0 else None


def _wait(client: Any, futures: dict[str, Any], tracker: Any) -> None:
    """Wait until all workers are done, or raise what keeps one of them from it."""
    from distributed import TimeoutError, wait

    end = np.inf
    while True:
        lost = sorted(futures.keys() - client.nthreads().keys())
        errors = [future.exception() for future in futures.values() if future.status == "error"]
        pending = [
            future
            for address, future in futures.items()
            if future.status == "pending" and address not in lost
        ]
        if (lost or errors) and end == np.inf:
            end = time.monotonic() + GRACE_SECONDS
            if next(iter(futures)) not in lost:
                tracker.free()  # those who wait there for the others give up
        if not pending or time.monotonic() > end:
            break
        with suppress(TimeoutError):
            wait(pending, timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
    if lost:
        raise RuntimeError(
            f"the fit was given up because a worker was lost: {', '.join(lost)}. Was it out of "
            "memory, or stopped? Nothing of the fit is kept: call it again."
        )
    if errors:
        # Where one worker fails, the others' boosters miss it.
        boosters = (xgb.core.XGBoostError, lgb.basic.LightGBMError)
        raise next((error for error in errors if not isinstance(error, boosters)), errors[0])


def _stop(client: Any, futures: dict[str, Any]) -> None:
    """End workers that are still at it: nothing else ends a booster that waits for another."""
    pending = {address for address, future in futures.items() if future.status == "pending"}
    if pending:
        client.cancel(list(futures.values()))
    # Workers without a process of their own are threads of ours.
    processes = {address for address in client.nthreads() if not address.startswith("inproc://")}
    if stuck := sorted(pending & processes):
        client.run(_exit, workers=stuck, wait=False, on_error="ignore")


async def _exit() -> None:
    os._exit(1)
