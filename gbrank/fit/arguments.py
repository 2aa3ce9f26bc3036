"""The arguments of `fit`: queries, validation sets and columns of categories."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from gbrank.common.checks import queries_needed, quoted
from gbrank.common.collective import all_any
from gbrank.common.errors import ArgumentError, found_in
from gbrank.data.documents import VALIDATION, Documents, Labels
from gbrank.data.feature_matrix import check_matrix
from gbrank.data.frames import feature_table
from gbrank.data.queries import Queries

# Features as users give them: an array, a sparse matrix, a frame.
TableLike: TypeAlias = Any
Ids: TypeAlias = ArrayLike | Sequence[Any]


def training_queries(
    X: TableLike, y: ArrayLike | None, qid: Ids | None, group: ArrayLike | None
) -> Queries:
    """Return the queries to train on; refuse data without any or without labels."""
    if y is None:
        raise ValueError(
            "y must hold one label per row: fit requires y to be passed, but the target y is None."
        )
    if qid is None and group is None:
        raise queries_needed(
            "fit",
            "qid= (one query id per row) or group= (query sizes; a single list: group=[len(y)])",
        )
    queries = Queries.resolve(n_documents(X), qid, group)
    if queries.n_documents == 1:
        raise ValueError("X must hold at least two documents to rank, got 1 sample.")
    return queries


def n_documents(X: TableLike) -> int:
    """Return how many rows a table has; refuse what is none."""
    table = feature_table(X)
    return int((check_matrix(X) if table is None else table).shape[0])


def refuse_zero_weights(train: Documents) -> None:
    """Refuse weights of which none is positive."""
    weights = train.weights
    if weights is not None and not all_any(weights.any()):
        raise ValueError(
            "sample_weight and query_weight must have a positive entry, got only zeros."
        )


def validation_documents(
    eval_set: Sequence[tuple[TableLike, ArrayLike]] | None,
    labels: Labels | None = None,
    **lists: Any,
) -> list[Documents]:
    """Return the documents of each validation set; `labels` are those of the training data.

    `lists` are the arguments of `fit` that have one entry for each set.
    """
    if lists.get("eval_labels") is not None and not isinstance(labels, Mapping):
        raise ValueError("eval_labels needs labels= as a mapping.")
    in_columns = None if isinstance(labels, Mapping) else labels
    documents = []
    for where, columns in validation_sets(eval_set, **lists).items():
        with found_in(where):
            queries = Queries.resolve(
                n_documents(columns["X"]), columns.pop("qid", None), columns.pop("group", None)
            )
            columns = {"labels": in_columns, **columns}
            documents.append(Documents.checked(queries=queries, **columns))
    return documents


def validation_sets(eval_set: Any, **lists: Any) -> dict[str, dict[str, Any]]:
    """Return the columns of each validation set, by the prefix of its error messages.

    `lists` are the arguments of `fit` that have one entry for each set.
    """
    lists = {name: values for name, values in lists.items() if values is not None}
    if eval_set is None:
        for name in lists:
            raise ValueError(f"{name} needs eval_set=, got none.")
        return {}
    _check_lists(eval_set, lists)
    named = {name: lists[argument] for name, argument in VALIDATION.items() if argument in lists}
    sets = {}
    for place, (X, y) in enumerate(eval_set):
        columns = {
            name: values[place] for name, values in named.items() if values[place] is not None
        }
        sets[f"eval_set[{place}]: "] = {"X": X, "y": y, **columns}
    return sets


def _check_lists(eval_set: Any, lists: Mapping[str, Any]) -> None:
    """Refuse what is no list of (X, y) pairs, and lists of other lengths."""
    if not isinstance(eval_set, list):
        kind = type(eval_set).__name__
        raise ValueError(f"eval_set must be a list of (X, y) pairs, got a {kind}.")
    for pair in eval_set:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set must hold (X, y) pairs, got {quoted(pair)} in it.")
    if ("eval_qid" in lists) == ("eval_group" in lists):
        raise ValueError("eval_set needs eval_qid= or eval_group=, and not both.")
    for name, values in lists.items():
        listed = hasattr(values, "__len__") and not isinstance(values, Mapping)
        if not listed or len(values) != len(eval_set):
            demand = f"must be a list, with one entry per eval_set, {len(eval_set)}"
            raise ArgumentError(name, demand, quoted(values))
