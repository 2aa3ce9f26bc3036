"""The arguments of `fit`: queries, validation sets and columns of categories."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    check_known_name,
    error_context,
    queries_needed,
    quoted,
)
from gbrank.common.collective import all_any
from gbrank.data.documents import Documents, Labels
from gbrank.data.feature_matrix import check_matrix
from gbrank.data.frames import as_frame, feature_table
from gbrank.data.queries import Queries

# Features as users give them: an array, a sparse matrix, a frame.
TableLike: TypeAlias = Any
Ids: TypeAlias = ArrayLike | Sequence[Any]
EvalSet: TypeAlias = Sequence[tuple[TableLike, ArrayLike | str]]


def training_documents(
    X: TableLike,
    y: ArrayLike | str | None,
    qid: Ids | str | None,
    group: ArrayLike | None,
    **columns: Any,
) -> Documents:
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
    documents = checked_documents(X, y=y, qid=qid, group=group, **columns)
    if documents.queries.n_documents == 1:
        raise ValueError("X must hold at least two documents to rank, got 1 sample.")
    weights = documents.weights
    if weights is not None and not all_any(weights.any()):
        raise ValueError(
            "sample_weight and query_weight: all weights are zero; one must be positive."
        )
    return documents


def checked_documents(X: TableLike, **columns: Any) -> Documents:
    """Check documents with their queries and columns, which a data frame X may hold by name."""
    if feature_table(X) is None and not hasattr(X, "counted_from"):  # of a LETOR file
        X = check_matrix(X)
    X, columns = take_named_columns(X, columns)
    queries = take_queries(columns, X.shape[0])
    return Documents.checked(X, queries=queries, **columns)


def take_queries(columns: dict[str, Any], length: int) -> Queries:
    """Take the queries out of columns, where query weights by row become one a query."""
    queries = Queries.resolve(length, columns.pop("qid", None), columns.pop("group", None))
    by_row = columns.pop("query_weight_by_row", None)
    if by_row is not None:
        columns["query_weight"] = queries.one_each(np.asarray(by_row), "query_weight")
    return queries


def take_named_columns(
    X: TableLike, columns: Mapping[str, Any]
) -> tuple[TableLike, dict[str, Any]]:
    """Replace the names of columns of X by what they hold; these columns are no features.

    A column of query weights has one for each row.
    """
    columns = dict(columns)
    if isinstance(position := columns.get("position"), Mapping):
        X, columns["position"] = take_named_columns(X, position)
    names = {argument: name for argument, name in columns.items() if isinstance(name, str)}
    if not names:
        return X, columns
    if (frame := as_frame(X)) is None:
        argument, name = next(iter(names.items()))
        raise ArgumentTypeError(
            argument, "must hold values; a column by its name needs a data frame X", quoted(name)
        )
    for argument, name in names.items():
        check_known_name(f"column ({argument})", name, frame.columns)
        columns[argument] = frame[name].to_native()
    if "query_weight" in names:
        columns["query_weight_by_row"] = columns.pop("query_weight")
    return frame.drop([*{*names.values()}]).to_native(), columns


def validation_documents(
    eval_set: EvalSet | None, labels: Labels | None = None, **lists: Any
) -> list[Documents]:
    """Return the documents of each validation set; `labels` are those of the training data.

    `lists` are the arguments of `fit` that have one entry for each set.
    """
    if lists.get("eval_labels") is not None and not isinstance(labels, Mapping):
        raise ValueError("eval_labels needs labels= as a mapping.")
    in_columns = None if isinstance(labels, Mapping) else labels
    documents = []
    for where, columns in validation_sets(eval_set, **lists).items():
        with error_context(where):
            documents.append(checked_documents(**{"labels": in_columns, **columns}))
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
    if not isinstance(eval_set, list):
        kind = type(eval_set).__name__
        raise ValueError(f"eval_set must be a list of (X, y) pairs, got a {kind}.")
    if ("eval_qid" in lists) == ("eval_group" in lists):
        raise ValueError("eval_set needs eval_qid= or eval_group=, and not both.")
    for name, values in lists.items():
        listed = hasattr(values, "__len__") and not isinstance(values, Mapping)
        if not listed or len(values) != len(eval_set):
            raise ArgumentError(
                name,
                f"must be a list, with one entry per eval_set, {len(eval_set)}",
                quoted(values),
            )
    sets = {}
    for number, pair in enumerate(eval_set):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"eval_set must hold (X, y) pairs, got {quoted(pair)} in it.")
        columns = {
            argument.removeprefix("eval_"): values[number]
            for argument, values in lists.items()
            if values[number] is not None
        }
        sets[f"eval_set[{number}]: "] = {"X": pair[0], "y": pair[1], **columns}
    return sets
