"""Checked data: features, labels, queries, initial scores and weights that belong together."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import found_in
from gbrank.common.arrays import Vector
from gbrank.common.checks import (
    check_finite,
    check_labels,
    check_vector,
    check_weights,
    queries_needed,
    refuse_where,
)
from gbrank.data.batches import transformed
from gbrank.data.named_labels import check_named
from gbrank.data.queries import Queries, QueryWeights
from gbrank.data.rows import Rows
from gbrank.data.sampling import query_keys, sampled
from gbrank.data.schema import Schema

LARGEST_SCORE = 1e30  # finite in single precision, and so are sums
Part: TypeAlias = tuple[Rows, NDArray[np.int64]]


def check_rows(
    schema: Schema, X: object, y: ArrayLike, qid: ArrayLike | None, group: ArrayLike | None,
    where: str, *,
    init_score: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    query_weight: QueryWeights | None = None, position: ArrayLike | None = None,
    labels: object = None,
) -> Rows:  # fmt: skip
    """Check one set of data."""
    with found_in(where):
        matrix = transformed(schema, X)
        n = int(matrix.shape[0])
        queries = Queries.resolve(n, qid, group)
        by_query = queries.in_order(query_weight)
        hints = {queries.n_queries: " Weights of queries are query_weight."}
        return Rows(
            matrix,
            check_labels(y, "y", n),
            queries,
            _check_scores(init_score, n),
            check_weights(sample_weight, "sample_weight", n, "document", hints),
            check_weights(by_query, "query_weight", queries.n_queries, "query"),
            _check_positions(position, n),
            check_named(labels, n),
        )


def _check_scores(init_score: ArrayLike | None, length: int) -> Vector | None:
    if init_score is None:
        return None
    scores = check_finite(check_vector(init_score, "init_score", length), "init_score")
    wrong = np.abs(scores) > LARGEST_SCORE
    refuse_where(wrong, scores, "init_score", f"must be at most {LARGEST_SCORE} in size")
    return scores


def _check_positions(position: ArrayLike | None, length: int) -> Vector | None:
    if position is None:
        return None
    values = check_finite(check_vector(position, "position", length), "position")
    wrong = (values < 1) | (values != np.floor(values))
    refuse_where(wrong, values, "position", "must hold integers of at least 1")
    return values


def check_training(
    schema: Schema,
    X: object,
    y: ArrayLike,
    qid: ArrayLike | None,
    group: ArrayLike | None,
    **others: Any,
) -> Rows:
    """Check the data to train on."""
    if y is None:
        raise ValueError(
            "y must hold one label per row: fit requires y to be passed, but the target y is None."
        )
    if qid is None and group is None:
        raise queries_needed(
            "fit",
            "qid= (one query id per row) or group= (query sizes; a single list: group=[len(y)])",
        )
    rows = check_rows(schema, X, y, qid, group, "", **others)
    if len(rows.labels) == 1:
        raise ValueError("X must hold at least two documents to rank, got 1 sample.")
    return rows


def check_valid(
    schema: Schema,
    eval_set: object,
    eval_qid: object,
    eval_group: object,
    eval_init_score: object = None,
    eval_labels: object = None,
) -> list[Rows]:
    """Check validation sets."""
    sets = validation_sets(eval_set, eval_qid, eval_group, eval_init_score, eval_labels)
    return [check_rows(schema, where=where, **given) for where, given in sets.items()]


def validation_sets(
    eval_set: Any, eval_qid: Any, eval_group: object, eval_init_score: Any, eval_labels: Any = None
) -> dict[str, dict[str, Any]]:
    """Return the data of each validation set, by the prefix of its error messages."""
    lists = {
        "eval_qid": eval_qid,
        "eval_group": eval_group,
        "eval_init_score": eval_init_score,
        "eval_labels": eval_labels,
    }
    if eval_set is None:
        for name, values in lists.items():
            if values is not None:
                raise ValueError(f"{name} needs eval_set=, got none.")
        return {}
    if isinstance(eval_set, tuple):
        raise ValueError("eval_set must be a list of (X, y) pairs, got a tuple.")
    if (eval_qid is None) == (eval_group is None):
        raise ValueError("eval_set needs eval_qid= or eval_group=, and not both.")
    for name, values in lists.items():
        if values is not None and len(values) != len(eval_set):
            raise ValueError(
                f"{name} must have one entry per eval_set, {len(eval_set)}, got {len(values)}."
            )
    columns = (values or [None] * len(eval_set) for values in lists.values())
    names = ("qid", "group", "init_score", "labels")
    return {
        f"eval_set[{i}]: ": {"X": X, "y": y, **dict(zip(names, others, strict=True))}
        for i, ((X, y), *others) in enumerate(zip(eval_set, *columns, strict=True))
    }


def each_query(rows: Rows) -> Iterator[Rows]:
    """Yield the rows of each query."""
    queries = rows.queries
    for query, (first, last) in enumerate(pairwise(queries.offsets)):
        span, size = slice(query, query + 1), last - first
        # Of the same type, so that no kernel is compiled again.
        order = np.arange(size, dtype=queries.order.dtype)
        single = Queries(order, np.array([0, size]), queries.ids[span])
        yield rows.take(queries.order[first:last], single, span)


def split_rows(rows: Rows, fraction: float, seed: int) -> tuple[Part, Part]:
    """Set some queries aside, chosen by a hash of the seed and their id."""
    held_out = sampled(query_keys(rows.queries.ids), fraction, seed, 0)
    if held_out.all():
        raise ValueError(
            f"validation_fraction must leave queries to train on: {fraction} of "
            f"{rows.queries.n_queries} queries leaves none."
        )
    return _select_queries(rows, ~held_out), _select_queries(rows, held_out)


def _select_queries(rows: Rows, keep: NDArray[np.bool_]) -> Part:
    queries, chosen = rows.queries.subset(keep)
    return rows.take(chosen, queries, keep), chosen
