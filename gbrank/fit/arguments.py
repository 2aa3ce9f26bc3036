"""The arguments of `fit`: the data and the options, each as one structure."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import quoted
from gbrank.common.plain import plain
from gbrank.data.checking import check_training, check_valid
from gbrank.data.named_labels import check_column_names, split_columns
from gbrank.data.queries import QueryWeights
from gbrank.data.rows import Rows
from gbrank.data.schema import Schema
from gbrank.data.torn_queries import TrainedQueries, warn_of_torn_queries
from gbrank.fit.callbacks import Callback
from gbrank.parallel.collective import all_any

Table: TypeAlias = Any  # features as users give them: an array, a sparse matrix, a frame, batches
Ids: TypeAlias = ArrayLike | Sequence[Any]
Labels: TypeAlias = Mapping[str, ArrayLike] | Sequence[str]


@dataclass(frozen=True, eq=False)
class FitData:
    """What a ranker is trained and validated on, as the user gave it; see `GBRanker.fit`."""

    X: Table
    y: ArrayLike
    _: KW_ONLY
    qid: Ids | None = None
    group: ArrayLike | None = None
    sample_weight: ArrayLike | None = None
    query_weight: QueryWeights | None = None
    init_score: ArrayLike | None = None
    position: ArrayLike | None = None
    categorical_feature: Sequence[int | str] | None = None
    eval_set: Sequence[tuple[Table, ArrayLike]] | None = None
    eval_qid: Sequence[Ids] | None = None
    eval_group: Sequence[ArrayLike] | None = None
    eval_init_score: Sequence[ArrayLike] | None = None
    labels: Labels | None = None
    eval_labels: Sequence[Mapping[str, ArrayLike]] | None = None

    def __post_init__(self) -> None:
        """Refuse what is no list, or a list of other things."""
        for name in ("eval_qid", "eval_group", "eval_init_score", "eval_labels"):
            given = getattr(self, name)
            if given is not None and not _is_list(given):
                raise TypeError(f"{name} must be a list, one entry per set, got {quoted(given)}.")
        sets = [] if self.eval_set is None else self.eval_set
        if not isinstance(sets, list):
            kind = type(sets).__name__
            raise ValueError(f"eval_set must be a list of (X, y) pairs, got a {kind}.")
        for pair in sets:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ValueError(f"eval_set must hold (X, y) pairs, got {quoted(pair)} in it.")
        columns = self.categorical_feature
        if columns is None or isinstance(columns, str):
            return
        if not _is_list(columns) or not all(type(c) in (int, str) for c in plain(list(columns))):
            raise TypeError(
                "categorical_feature must be a list of columns, by position or name, got "
                f"{quoted(columns)}."
            )

    def with_named_labels(self) -> "FitData":
        """Return the data with the values of labels that are given by the names of columns."""
        names = self.labels
        if names is None or isinstance(names, Mapping):
            if self.eval_labels is not None and names is None:
                raise ValueError("eval_labels needs labels=, got none.")
            return self
        names = check_column_names(names)
        if self.eval_labels is not None:
            raise ValueError("eval_labels must be None where labels are columns of X.")
        X, labels = split_columns(self.X, names, "X")
        sets, named = [], []
        for i, (table, y) in enumerate(self.eval_set or []):
            table, values = split_columns(table, names, f"eval_set[{i}]")
            sets.append((table, y))
            named.append(values)
        if self.eval_set is None:
            return replace(self, X=X, labels=labels)
        return replace(self, X=X, labels=labels, eval_set=sets, eval_labels=named)

    @property
    def tables(self) -> list[Table]:
        """The features to train on, then those of each validation set."""
        return [self.X, *(table for table, _ in self.eval_set or [])]

    @property
    def columns(self) -> Sequence[int | str] | None:
        """The columns of categories, as a list."""
        columns = self.categorical_feature
        return columns if columns is None or isinstance(columns, str) else plain(list(columns))

    def checked(self, schema: Schema) -> tuple[Rows, list[Rows]]:
        """Check the data over all workers; return training rows and validation sets."""
        rows = check_training(
            schema,
            self.X,
            self.y,
            self.qid,
            self.group,
            init_score=self.init_score,
            sample_weight=self.sample_weight,
            query_weight=self.query_weight,
            position=self.position,
            labels=self.labels,
        )
        for name in ("sample_weight", "query_weight"):
            weights = getattr(rows, name)
            if weights is not None and not all_any(weights.any()):
                raise ValueError(f"{name} must have a positive entry, got only zeros.")
        valid = check_valid(
            schema,
            self.eval_set,
            self.eval_qid,
            self.eval_group,
            self.eval_init_score,
            self.eval_labels,
        )
        if self.qid is not None and self.eval_qid is not None:
            trained = TrainedQueries.of(rows.queries)
            for i, part in enumerate(valid):
                warn_of_torn_queries(trained, part.queries, f"eval_qid[{i}]")
        return rows, valid

    def trained_on(self, rows: Rows) -> TrainedQueries | None:
        """Return the queries of the rows to train on, if their ids are the user's."""
        return None if self.qid is None else TrainedQueries.of(rows.queries)


def _is_list(values: Any) -> bool:
    """Say whether something is a list, or an array or other sequence that serves as one."""
    return isinstance(values, Sequence) or (hasattr(values, "tolist") and np.ndim(values) > 0)


@dataclass(frozen=True)
class FitOptions:
    """How a fit is interrupted and watched."""

    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_rounds: int = 50
    callbacks: Sequence[Callback] | None = None
    time_limit: float | None = None
