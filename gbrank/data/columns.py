"""The columns of data, declared once: what each holds, for what, and who takes it.

Checks, splits, starts, folds, workers, hashes of checkpoints, Spark's columns and options of the
command line follow from `COLUMNS`: a new column is one entry of it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_finite, check_vector, check_weights, refuse_where
from gbrank.data.labels import check_labels_by_name
from gbrank.data.queries import Queries

LARGEST_SCORE = 1e30  # finite in single precision, and so are sums

Data: TypeAlias = dict[str, Any]  # a table X and what belongs to it, as `fit` calls them
Check: TypeAlias = Callable[[Any, str, Queries], Any]  # of values, their name and the queries


@dataclass(frozen=True)
class Column:
    """One column of the data; its name is that of the argument of `fit`.

    `check` is None where the values make something else: the queries, or the schema.
    `validation` is the argument that lists it for validation sets, "" where they have none.
    `spark` is Spark's parameter that names it, `option` that of `gbrank train` for a file with one
    number a line, and `help` says what it is.
    """

    check: Check | None
    per: Literal["document", "query", "feature"] = "document"
    required: bool = False
    validation: str = ""
    scored: bool = False  # whether `score` takes it
    spark: str = ""
    option: str = ""
    help: str = ""

    @property
    def listed(self) -> bool:
        """Whether an argument of `fit` lists it, one entry for each validation set."""
        return self.validation not in ("", "eval_set")


def check_positions(values: Any, name: str, length: int) -> NDArray[np.float64]:
    """Return the positions of documents that were shown, from 1, or a column for each context."""
    if isinstance(values, Mapping):
        if not values:
            raise ArgumentError(name, "must have at least the position", "an empty dict")
        parts = [check_positions(own, f"{name}[{key!r}]", length) for key, own in values.items()]
        return np.column_stack(parts)
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] > 1:
        return np.column_stack([check_positions(own, name, length) for own in np.transpose(values)])
    vector = check_finite(check_vector(values, name, length), name)
    wrong = (vector < 1) | (vector != np.floor(vector))
    refuse_where(wrong, vector, name, "must hold integers of at least 1")
    return vector


def check_of_numbers(demand: str, wrong: Callable[[Vector], NDArray[np.bool_]]) -> Check:
    """Return the check of finite numbers, one for each document."""

    def check(values: Any, name: str, queries: Queries) -> Vector:
        vector = check_finite(check_vector(values, name, queries.n_documents), name)
        refuse_where(wrong(vector), vector, name, demand)
        return vector

    return check


def _document_weights(values: Any, name: str, queries: Queries) -> Vector | None:
    hints = {queries.n_queries: " Weights of queries are query_weight."}
    return check_weights(values, name, queries.n_documents, "document", hints)


def _query_weights(values: Any, name: str, queries: Queries) -> Vector | None:
    return check_weights(queries.in_order(values), name, queries.n_queries, "query")


COLUMNS: dict[str, Column] = {
    "y": Column(
        check_of_numbers("must be at least 0", lambda y: y < 0),
        required=True,
        validation="eval_set",
        scored=True,
        spark="labelCol",
    ),
    "qid": Column(None, validation="eval_qid", scored=True, spark="qidCol"),
    "group": Column(None, per="query", validation="eval_group", scored=True),
    "init_score": Column(
        check_of_numbers(
            f"must be at most {LARGEST_SCORE} in size",
            lambda scores: np.abs(scores) > LARGEST_SCORE,
        ),
        validation="eval_init_score",
    ),
    "sample_weight": Column(_document_weights, scored=True, spark="weightCol"),
    "query_weight": Column(_query_weights, per="query", scored=True, spark="queryWeightCol"),
    "position": Column(
        lambda values, name, queries: check_positions(values, name, queries.n_documents),
        option="--positions PATH",
        help="where each document was shown, from 1, one a line, if labels are clicks; - is "
        "standard input",
    ),
    "labels": Column(
        lambda values, name, queries: check_labels_by_name(values, queries.n_documents, name),
        validation="eval_labels",
        scored=True,
    ),
    "categorical_feature": Column(None, per="feature"),
}


def checked_columns(data: Data, queries: Queries) -> dict[str, Any]:
    """Return the checked values of the columns that are given."""
    return {
        name: column.check(data[name], name, queries)
        for name, column in COLUMNS.items()
        if column.check is not None and (column.required or data.get(name) is not None)
    }


def is_of_queries(name: str) -> bool:
    """Say whether a column has one value for each query."""
    return name in COLUMNS and COLUMNS[name].per == "query"


def each_column(function: Callable[..., Any], *parts: Data) -> dict[str, Any]:
    """Return what a function makes of each column, given its name and its values in all parts."""

    def made(name: str, values: list[Any]) -> Any:
        if isinstance(values[0], Mapping):  # labels
            return {key: made(name, [own[key] for own in values]) for key in values[0]}
        return function(name, *values)

    return {name: made(name, [part[name] for part in parts]) for name in parts[0]}


def fit_arguments(training: Data, validation: Sequence[Data]) -> dict[str, Any]:
    """Return the arguments of `fit` that hold these data."""
    arguments = {name: values for name, values in training.items() if values is not None}
    if not validation:
        return arguments
    arguments["eval_set"] = [(part["X"], part["y"]) for part in validation]
    for name, column in COLUMNS.items():
        lists = [part.get(name) for part in validation]
        if column.listed and any(values is not None for values in lists):
            arguments[column.validation] = lists
    return arguments
