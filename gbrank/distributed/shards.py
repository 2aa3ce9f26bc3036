"""Rows of Dask collections, dealt out to workers so that no query is split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import _safe_indexing

from gbrank.data.ids import as_ids
from gbrank.data.queries import Queries
from gbrank.data.sampling import query_keys, sampled
from gbrank.distributed.parts import LABEL, Part, part_of
from gbrank.fit.arguments import Table

if TYPE_CHECKING:
    from distributed import Client, Future

Collection: TypeAlias = Any  # of Dask: an array, a data frame or a series
Keys = NDArray[np.uint64]
Owners = NDArray[np.int64]


def is_dask(collection: object) -> bool:
    """Say whether something is a Dask array, data frame or series."""
    return hasattr(collection, "__dask_graph__") and hasattr(collection, "to_delayed")


def distribute(
    client: Client,
    sets: Mapping[str, Mapping[str, Collection | None]],
    validation_fraction: float | None = None,
    seed: int = 0,
) -> dict[str, tuple[Future, ...]]:
    """Bring rows to all workers of a cluster, so that no query is split."""
    addresses = sorted(client.nthreads())
    if not addresses:
        raise RuntimeError("the Dask cluster must have a worker, got none.")
    loaded = {where: _load(client, where, **given) for where, given in sets.items()}
    futures = {where: client.map(_keys_of, parts, pure=False) for where, parts in loaded.items()}
    all_keys = client.gather(futures)
    owners = {where: deal(keys, len(addresses), where) for where, keys in all_keys.items()}
    if validation_fraction is not None and len(sets) == 1:
        [(where, keys)] = all_keys.items()
        ids = np.unique(np.concatenate(keys))
        held_out = sampled(ids, validation_fraction, seed, 0)
        sides = [deal(keys, len(addresses), where, ids[side]) for side in (~held_out, held_out)]
        owners = {where: [np.maximum(*both) for both in zip(*sides, strict=True)]}
    training = next(iter(sets))
    addresses = _place(client, loaded[training], owners[training], addresses)
    shards = [_make_shards(client, loaded[where], owners[where], addresses) for where in sets]
    return dict(zip(addresses, zip(*shards, strict=True), strict=True))


def _load(client: Client, where: str, **collections: Collection | None) -> list[Future]:
    """Compute partitions wherever the scheduler wants them; return a future `Part` for each."""
    return list(client.compute(_delayed_parts(where, collections)))


def _delayed_parts(where: str, collections: Mapping[str, Collection | None]) -> list[Any]:
    """Return a delayed `Part` for each partition."""
    from dask import delayed

    labels = collections.get("labels") or {}
    given = {name: one for name, one in collections.items() if name != "labels"}
    given |= {f"{LABEL}{name}": one for name, one in labels.items()}
    blocks = {
        name: _blocks(f"{where}{name}", collection)
        for name, collection in given.items()
        if collection is not None
    }
    counts = {name: len(column) for name, column in blocks.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"{where}X, y, qid and weights must have the same partitions, got these numbers of "
            f"them: {counts}."
        )
    part = delayed(_part, pure=False)
    partitions = enumerate(zip(*blocks.values(), strict=True))
    return [part(where, i, **dict(zip(blocks, own, strict=True))) for i, own in partitions]


def delayed_scores(
    predict: Callable[..., Any], X: Collection, qid: Collection, whole_queries: bool
) -> list[Any]:
    """Return delayed scores of each partition; each query may have to be whole in one."""
    from dask import delayed

    parts = _delayed_parts("", {"X": X, "qid": qid})
    keys = [delayed(_keys_of)(part) for part in parts]
    whole = delayed(_refuse_torn)(keys) if whole_queries else None
    return [delayed(_scores)(predict, part, whole) for part in parts]


def _refuse_torn(keys: Sequence[Keys]) -> None:
    """Refuse queries that lie in several partitions."""
    every = np.concatenate(keys)
    if torn := len(every) - len(np.unique(every)):
        raise ValueError(
            "X must have all documents of a query in one partition for a model with context, got "
            f"{torn} queries in several: repartition, or set the index to the query."
        )


def _scores(predict: Callable[..., Any], part: Part, whole: None) -> Any:
    """Return the scores of a partition, once all are known to have whole queries, if they must."""
    return predict(part.X, part.qid)


def _blocks(name: str, collection: Collection) -> list[Any]:
    if not is_dask(collection):
        raise TypeError(
            f"{name} must be a Dask array, data frame or series, got {type(collection).__name__}."
        )
    if getattr(collection, "ndim", 1) == 2 and hasattr(collection, "rechunk"):
        collection = collection.rechunk({1: -1})
    return list(np.ravel(np.array(collection.to_delayed(), dtype=object)))


def _part(where: str, number: int, **blocks: Table) -> Part:
    X = blocks.pop("X")
    values = {
        name: as_ids(block) if name == "qid" else np.asarray(block)
        for name, block in blocks.items()
    }
    for name, column in values.items():
        if len(column) != X.shape[0]:
            raise ValueError(
                f"{where}{name} must have as many rows as X in each partition, got {len(column)} "
                f"and {X.shape[0]} in partition {number}."
            )
    return part_of({"X": X, **values})


def _keys_of(part: Part) -> Keys:
    """Return the key of each query of a part, in the order in which they first appear."""
    return query_keys(Queries.from_qid(part.qid).ids) if len(part.qid) else np.empty(0, np.uint64)


def _pick(part: Part, chosen: NDArray[np.bool_]) -> Part:
    """Return some queries of a part."""
    _, rows = Queries.from_qid(part.qid).subset(chosen)
    return _columnwise(lambda values: _safe_indexing(values[0], rows), part)


def _join(parts: Sequence[Part]) -> Part:
    """Return the rows of several parts."""
    return parts[0] if len(parts) == 1 else _columnwise(_concatenate, *parts)


def _columnwise(function: Callable[[list[Any]], Any], *parts: Part) -> Part:
    """Return a part whose columns a function makes, each from the same column of all parts."""
    columns = ([getattr(part, field.name) for part in parts] for field in fields(Part))
    made: list[Any] = [None if values[0] is None else function(values) for values in columns]
    return Part(*made)


def _concatenate(blocks: list[Any]) -> Any:
    if sp.issparse(blocks[0]):
        return sp.vstack(blocks, format="csr")
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    from dask.dataframe import methods

    return methods.concat(blocks)


def deal(
    keys: Sequence[Keys], n_shards: int, where: str, among: Keys | None = None
) -> list[Owners]:
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
    client: Client, parts: Sequence[Future], owners: Sequence[Owners], addresses: Sequence[str]
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
    client: Client, parts: Sequence[Future], owners: Sequence[Owners], addresses: Sequence[str]
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
