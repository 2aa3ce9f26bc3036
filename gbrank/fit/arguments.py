"""The arguments of `fit`: the data and the options, each as one structure."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from gbrank.common.checks import quoted, refuse_text
from gbrank.common.collective import all_any
from gbrank.common.plain import plain
from gbrank.data.checking import check_rows, check_training, is_list, validation_sets
from gbrank.data.columns import COLUMNS, Data
from gbrank.data.labels import with_label_columns
from gbrank.data.rows import Rows
from gbrank.data.schema import Schema
from gbrank.fit.rounds import Callback

# Features as users give them: an array, a sparse matrix, a frame.
TableLike: TypeAlias = Any
Ids: TypeAlias = ArrayLike | Sequence[Any]
Labels: TypeAlias = Mapping[str, ArrayLike] | Sequence[str]


class FitData:
    """What a ranker is trained and validated on; arguments are those of `GBRanker.fit`.

    `training` and each of `validation`, which has them by the prefix of their error messages, are
    as the user gave them; labels that are given by the names of columns of X are values here.
    """

    def __init__(
        self,
        X: TableLike,
        y: ArrayLike,
        *,
        eval_set: Sequence[tuple[TableLike, ArrayLike]] | None = None,
        categorical_feature: Sequence[int | str] | None = None,
        **columns: Any,
    ) -> None:
        names = [column.validation for column in COLUMNS.values() if column.listed]
        lists = {name: columns.pop(name, None) for name in names}
        if unknown := sorted(columns.keys() - COLUMNS.keys()):
            raise TypeError(f"unknown argument {unknown[0]!r}.")
        labels = columns.get("labels")
        given = {name: values for name, values in columns.items() if values is not None}
        self.training: Data = {"X": X, "y": y, **given}
        if lists["eval_labels"] is not None and not isinstance(labels, Mapping):
            if labels is None:
                raise ValueError("eval_labels needs labels=, got none.")
            raise ValueError("eval_labels must be None where labels are columns of X.")
        self.validation: Mapping[str, Data] = validation_sets(eval_set, lists)
        self.categorical_feature = _checked_columns(categorical_feature)
        if not isinstance(labels, Mapping | None):
            self.training = with_label_columns(self.training, labels)
            self.validation = {
                where: with_label_columns(data, labels, where)
                for where, data in self.validation.items()
            }

    @property
    def sets(self) -> dict[str, Data]:
        """The data to train on, then those of each validation set, by where errors find them."""
        return {"": self.training, **self.validation}

    def checked(self, schema: Schema) -> tuple[Rows, list[Rows]]:
        """Check the data over all workers; return training rows and validation sets."""
        rows = check_training(schema, self.training)
        for name in ("sample_weight", "query_weight"):
            weights = rows.columns.get(name)
            if weights is not None and not all_any(weights.any()):
                raise ValueError(f"{name} must have a positive entry, got only zeros.")
        if rows.weights is not None and not all_any(rows.weights.any()):
            raise ValueError(
                "sample_weight must be positive for a document whose query_weight is, got only "
                "zeros there."
            )
        return rows, [check_rows(schema, data, where) for where, data in self.validation.items()]


def _checked_columns(columns: Any) -> Sequence[int | str] | None:
    """Return the columns of categories as a list."""
    if columns is None:
        return None
    refuse_text(columns, "categorical_feature")
    listed: list[Any] = plain(list(columns)) if is_list(columns) else [None]
    if not all(type(column) in (int, str) for column in listed):
        raise TypeError(
            "categorical_feature must be a list of columns, by position or name, got "
            f"{quoted(columns)}."
        )
    return listed


@dataclass(frozen=True)
class FitOptions:
    """How a fit is interrupted and watched."""

    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_rounds: int = 50
    callbacks: Sequence[Callback] | None = None


def fit_data(given: dict[str, Any]) -> tuple[FitData, FitOptions]:
    """Return the data and the options among the arguments of `fit`."""
    names = {item.name for item in fields(FitOptions)}
    options = {name: value for name, value in given.items() if name in names}
    data = {name: value for name, value in given.items() if name not in names}
    return FitData(**data), FitOptions(**options)
