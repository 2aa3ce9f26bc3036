"""One fit on several Dask workers: they meet, each works on its own queries, the first reports."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import numpy as np

from gbrank.boosters.xgboost.rabit import MeetingPoint
from gbrank.distributed.parts import GRACE_SECONDS, take_part, true_cause

if TYPE_CHECKING:
    from distributed import Actor, Client, Future

POLL_SECONDS = 1
ONCE = {"pure": False, "retries": 0}  # a task is run anew in each fit, and never repeated


def run_on_workers(
    client: Client, task: Callable[..., Any], shards: Mapping[str, Sequence[Any]]
) -> Any:
    """Call a function on several workers at once, each with the shards under its address.

    In the function, `gbrank.common.collective` connects all workers. The result of the first
    worker is returned; an error on one of them ends all, and is raised.
    """
    hosts = [str(urlparse(address).hostname) for address in shards]
    first = next(iter(shards))
    point: Any = client.submit(
        MeetingPoint, len(hosts), hosts[0], workers=first, actor=True, **ONCE
    )
    tracker = point.result()
    arguments = tracker.worker_args().result()
    futures = {
        address: client.submit(
            partial(take_part, task, arguments, rank, host), *parts, workers=address, **ONCE
        )
        for rank, (host, (address, parts)) in enumerate(zip(hosts, shards.items(), strict=True))
    }
    try:
        _wait(client, futures, tracker)
        return futures[first].result()
    finally:
        _stop(client, futures)


def _wait(client: Client, futures: dict[str, Future], tracker: Actor) -> None:
    """Wait until all workers are done, or raise the error that keeps one from being done."""
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
                tracker.free()  # workers that wait there for the others give up
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
        raise true_cause(errors)


def _stop(client: Client, futures: dict[str, Future]) -> None:
    """End workers that are still busy: nothing else ends a booster that waits for another."""
    pending = {address for address, future in futures.items() if future.status == "pending"}
    if pending:
        client.cancel(list(futures.values()))
    # Workers without a process of their own are threads of this one.
    processes = {address for address in client.nthreads() if not address.startswith("inproc://")}
    if stuck := sorted(pending & processes):
        client.run(_exit, workers=stuck, wait=False, on_error="ignore")


async def _exit() -> None:
    os._exit(1)
