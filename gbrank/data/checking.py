"""Checked data: features, queries and columns that belong together."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.checks import queries_needed, quoted
from gbrank.common.collective import all_any
from gbrank.data.columns import COLUMNS, Data, checked_columns
from gbrank.data.queries import Queries
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys, sampled
from gbrank.data.schema import Schema

Part: TypeAlias = tuple[Rows, NDArray[np.int64]]


def check_rows(schema: Schema, data: Data, where: str = "") -> Rows:
    """Check one set of data."""
    with found_in(where):
        matrix = schema.transform(data["X"])
        queries = Queries.resolve(int(matrix.shape[0]), data.get("qid"), data.get("group"))
        return Rows(X=matrix, queries=queries, **checked_columns(data, queries))


def check_training(schema: Schema, data: Data) -> Rows:
    """Check the data to train on."""
    if data["y"] is None:
        raise ValueError(
            "y must hold one label per row: fit requires y to be passed, but the target y is None."
        )
    if data.get("qid") is None and data.get("group") is None:
        raise queries_needed(
            "fit",
            "qid= (one query id per row) or group= (query sizes; a single list: group=[len(y)])",
        )
    rows = check_rows(schema, data)
    if len(rows.y) == 1:
        raise ValueError("X must hold at least two documents to rank, got 1 sample.")
    return rows


def validation_sets(eval_set: Any, lists: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the data of each validation set, by the prefix of its error messages.

    `lists` holds the arguments that have one entry for each set, by their names.
    """
    if eval_set is None:
        for name, values in lists.items():
            if values is not None:
                raise ValueError(f"{name} needs eval_set=, got none.")
        return {}
    if not isinstance(eval_set, list):
        kind = type(eval_set).__name__
        raise ValueError(f"eval_set must be a list of (X, y) pairs, got a {kind}.")
    for pair in eval_set:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set must hold (X, y) pairs, got {quoted(pair)} in it.")
    if (lists.get("eval_qid") is None) == (lists.get("eval_group") is None):
        raise ValueError("eval_set needs eval_qid= or eval_group=, and not both.")
    for name, values in lists.items():
        if values is not None and not is_list(values):
            raise TypeError(f"{name} must be a list, one entry per set, got {quoted(values)}.")
        if values is not None and len(values) != len(eval_set):
            raise ValueError(
                f"{name} must have one entry per eval_set, {len(eval_set)}, got {len(values)}."
            )
    given = {
        name: lists[column.validation]
        for name, column in COLUMNS.items()
        if lists.get(column.validation) is not None
    }
    return {
        f"eval_set[{i}]: ": {
            "X": X,
            "y": y,
            **{name: own[i] for name, own in given.items() if own[i] is not None},
        }
        for i, (X, y) in enumerate(eval_set)
    }


def is_list(values: Any) -> bool:
    """Say whether something is a list, or an array or other sequence that serves as one."""
    return isinstance(values, Sequence) or (hasattr(values, "tolist") and np.ndim(values) > 0)


def each_query(rows: Rows) -> Iterator[Rows]:
    """Yield the rows of each query."""
    queries = rows.queries
    for query, (first, last) in enumerate(pairwise(queries.offsets)):
        span, size = slice(query, query + 1), last - first
        # Of the same type, so that no kernel is compiled again.
        order = np.arange(size, dtype=queries.order.dtype)
        single = Queries(order, np.array([0, size]), queries.ids[span])
        yield rows.take(queries.order[first:last], single, span)


def set_aside(queries: Queries, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Return which queries are set aside, chosen by a hash of the seed and their id."""
    held_out = sampled(query_keys(queries.ids), fraction, seed, 0)
    if held_out.all():
        raise ArgumentError(
            "validation_fraction",
            "must leave queries to train on",
            f"{fraction} of {queries.n_queries} queries",
        )
    return held_out


def split_rows(rows: Rows, fraction: float, seed: int) -> tuple[Part, Part]:
    """Set some queries aside: those that `set_aside` chooses."""
    held_out = set_aside(rows.queries, fraction, seed)
    sides = select_queries(rows, ~held_out), select_queries(rows, held_out)
    for part, _ in sides:
        needed = {
            f"judged by labels[{name!r}]": ~np.isnan(own) for name, own in part.labels.items()
        }
        if part.weights is not None:
            needed["of positive weight"] = part.weights > 0
        for what, there in needed.items():
            if not all_any(there.any()):
                raise ValueError(
                    f"validation_fraction must leave documents {what} on both sides, got "
                    f"{fraction}: pass eval_set=, or another random_state."
                )
    return sides


def select_queries(rows: Rows, keep: NDArray[np.bool_]) -> Part:
    """Return the rows of some queries, and which they are."""
    queries, chosen = rows.queries.subset(keep)
    return rows.take(chosen, queries, keep), chosen
