"""Rows of Dask collections, dealt out to workers so that no query is split; and one fit on all."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlparse

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment

from gbrank.boosters.xgboost.rabit import MeetingPoint
from gbrank.common.checks import Function, Keys, Mask, Positions
from gbrank.data.documents import take_rows
from gbrank.data.feature_matrix import stacked
from gbrank.data.ids import as_ids
from gbrank.data.queries import Queries
from gbrank.data.sampling import sampled

from .parts import GRACE_SECONDS, Data, each_column, take_part, true_cause

if TYPE_CHECKING:
    from distributed import Actor, Client, Future

Collection: TypeAlias = Any  # of Dask: an array, a data frame or a series

POLL_SECONDS = 1
ONCE = {"pure": False, "retries": 0}  # a task is run anew in each fit, and never repeated


def is_dask(collection: object) -> bool:
    """Check for a Dask array, data frame or series."""
    return hasattr(collection, "__dask_graph__") and hasattr(collection, "to_delayed")


def distribute(
    client: Client,
    sets: Mapping[str, Data],
    validation_fraction: float | None = None,
    seed: int = 0,
) -> dict[str, tuple[Future, ...]]:
    """Bring rows to all workers of a cluster, so that no query is split."""
    if not (addresses := sorted(client.nthreads())):
        raise RuntimeError("the Dask cluster must have a worker, got none.")
    loaded = {where: client.compute(_delayed_parts(where, data)) for where, data in sets.items()}
    all_keys = client.gather(
        {where: client.map(_keys_of, parts, pure=False) for where, parts in loaded.items()}
    )
    owners = {where: assign(keys, len(addresses), where) for where, keys in all_keys.items()}
    if validation_fraction is not None and len(sets) == 1:
        [(where, keys)] = all_keys.items()
        ids = np.unique(np.concatenate(keys))
        held_out = sampled(ids, validation_fraction, seed)
        sides = [assign(keys, len(addresses), where, ids[side]) for side in (~held_out, held_out)]
        owners = {where: [np.maximum(*both) for both in zip(*sides, strict=True)]}
    training = next(iter(sets))
    addresses = _place(client, loaded[training], owners[training], addresses)
    shards = [_make_shards(client, loaded[where], owners[where], addresses) for where in sets]
    return dict(zip(addresses, zip(*shards, strict=True), strict=True))


def _delayed_parts(where: str, data: Data) -> list[Any]:
    from dask import delayed

    n_parts = len(_blocks(f"{where}X", data["X"]))

    def blocks(name: str, collection: Collection) -> list[Any]:
        parts = _blocks(f"{where}{name}", collection)
        if len(parts) != n_parts:
            raise ValueError(
                f"{where}{name} must have the same partitions as X, {n_parts}, got {len(parts)}."
            )
        return parts

    columns = each_column(blocks, data)
    part = delayed(_part, pure=False)
    return [
        part(where, i, each_column(lambda _, parts: parts[i], columns))  # noqa: B023 (called at once)
        for i in range(n_parts)
    ]


def _blocks(name: str, collection: Collection) -> list[Any]:
    if not is_dask(collection):
        raise TypeError(
            f"{name} must be a Dask array, data frame or series, got {type(collection).__name__}."
        )
    if getattr(collection, "ndim", 1) == 2 and hasattr(collection, "rechunk"):
        collection = collection.rechunk({1: -1})
    return list(np.ravel(np.array(collection.to_delayed(), dtype=object)))


def _part(where: str, number: int, blocks: Data) -> Data:
    n_rows = blocks["X"].shape[0]

    def values(name: str, block: Any) -> Any:
        if name == "X":
            return block
        column = as_ids(block) if name == "qid" else np.asarray(block)
        if len(column) != n_rows:
            raise ValueError(
                f"{where}{name} must have as many rows as X in each partition, got {len(column)} "
                f"and {n_rows} in partition {number}."
            )
        return column

    return each_column(values, blocks)


def _keys_of(part: Data) -> Keys:
    qid = part["qid"]
    return Queries.from_qid(qid).id_keys if len(qid) else np.empty(0, np.uint64)


def _pick(part: Data, chosen: Mask) -> Data:
    _, rows = Queries.from_qid(part["qid"]).subset(chosen)
    return each_column(lambda _, values: take_rows(values, rows), part)


def _join(parts: Sequence[Data]) -> Data:
    return parts[0] if len(parts) == 1 else each_column(_concatenate, *parts)


def _concatenate(_: str, *blocks: Any) -> Any:
    if sp.issparse(blocks[0]) or isinstance(blocks[0], np.ndarray):
        return stacked(blocks)
    from dask.dataframe import methods

    return methods.concat(blocks)


def assign(
    keys: Sequence[Keys], n_shards: int, where: str, among: Keys | None = None
) -> list[Positions]:
    """Choose the shard of each query.

    Whole partitions go to shards in order, so that most rows stay where they are. The rows of a
    query in several partitions go to one of their shards, drawn by its key. If a shard would have
    no query, all queries are dealt out one by one.
    """
    all_keys = np.concatenate(keys)
    sizes = [len(part_keys) for part_keys in keys]
    part_shard = np.repeat(np.arange(len(keys)) * n_shards // len(keys), sizes)
    dealt = np.ones(len(all_keys), dtype=bool) if among is None else np.isin(all_keys, among)
    ids, inverse, counts = np.unique(all_keys[dealt], return_inverse=True, return_counts=True)
    if len(ids) < n_shards:
        raise ValueError(
            f"{where}qid must have at least one query for each of the {n_shards} workers, got "
            f"{len(ids)} in all."
        )
    candidates = part_shard[dealt][np.argsort(all_keys[dealt], kind="stable")]
    drawn = (ids % counts.astype(np.uint64)).astype(np.int64)
    owners = candidates[np.cumsum(counts) - counts + drawn]
    if len(np.unique(owners)) < n_shards:
        owners = np.arange(len(ids)) % n_shards
    result = np.full(len(all_keys), -1)
    result[dealt] = owners[inverse]
    return np.split(result, np.cumsum(sizes)[:-1])


def _place(
    client: Client, parts: Sequence[Future], owners: Sequence[Positions], addresses: Sequence[str]
) -> list[str]:
    """Choose a worker for each shard, so that as many queries as possible need not move."""
    n_held = np.zeros((len(addresses), len(addresses)))
    holders = client.who_has(parts)
    for part, part_owners in zip(parts, owners, strict=True):
        queries = np.bincount(part_owners, minlength=len(addresses))
        for address in set(holders[part.key]) & set(addresses):
            n_held[:, addresses.index(address)] += queries
    _, chosen = linear_sum_assignment(n_held, maximize=True)
    return [addresses[i] for i in chosen]


def _make_shards(
    client: Client, parts: Sequence[Future], owners: Sequence[Positions], addresses: Sequence[str]
) -> list[Any]:
    """Bring the rows of each shard to its worker."""
    pieces: list[list[Any]] = [[] for _ in addresses]
    for part, part_owners in zip(parts, owners, strict=True):
        for shard in np.unique(part_owners):
            chosen = part_owners == shard
            whole = chosen.all()
            pieces[shard].append(part if whole else client.submit(_pick, part, chosen, pure=False))
    return [
        client.submit(_join, shard_pieces, workers=address, pure=False)
        for shard_pieces, address in zip(pieces, addresses, strict=True)
    ]


def run_on_workers(client: Client, task: Function, shards: Mapping[str, Sequence[Any]]) -> Any:
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
        # End workers that are still busy: nothing else ends a booster that waits for another.
        pending = {address for address, future in futures.items() if future.status == "pending"}
        if pending:
            client.cancel(list(futures.values()))
        # Workers without a process of their own are threads of this one.
        processes = {name for name in client.nthreads() if not name.startswith("inproc://")}
        if stuck := sorted(pending & processes):
            client.run(_exit, workers=stuck, wait=False, on_error="ignore")


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
            f"the fit failed because a worker was lost: {', '.join(lost)}. Possible causes: it was "
            "out of memory, or stopped. Call fit again; nothing was kept."
        )
    if errors:
        raise true_cause(errors)


async def _exit() -> None:
    os._exit(1)
