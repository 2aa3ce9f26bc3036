"""Labels besides the relevance of documents, such as margin or returns, each with its name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import ArgumentTypeError
from gbrank.common.arrays import Vector
from gbrank.common.checks import check_vector, quoted, refuse_where, unknown_name
from gbrank.common.collective import all_any
from gbrank.common.grammar import check_label_name
from gbrank.common.warnings import warn_user
from gbrank.data.frames import as_frame, as_numbers

UNJUDGED = -1  # so is NaN


def check_labels_by_name(
    labels: object, length: int, argument: str = "labels"
) -> dict[str, Vector]:
    """Return labels by name, NaN where a document is unjudged."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(f"{argument} must be a mapping of name to values, got {quoted(labels)}.")
    return {
        check_label_name(name): _check(values, f"{argument}[{name!r}]", length)
        for name, values in labels.items()
    }


def _check(values: ArrayLike, argument: str, length: int) -> Vector:
    checked = check_vector(values, argument, length)
    unjudged = checked == UNJUDGED
    checked = np.where(unjudged, np.nan, checked)
    wrong = (checked < 0) | np.isinf(checked)
    refuse_where(wrong, checked, argument, "must be at least 0, or -1")
    if not all_any((~np.isnan(checked)).any()):
        raise ValueError(f"{argument} must have a document that is judged, got none.")
    if unjudged.any():
        warn_user(
            f"{argument}: {unjudged.sum()} documents of {UNJUDGED} are left out as unjudged. If "
            "that is meant, NaN says it without this warning; no value can be below 0."
        )
    return checked


def find_label(labels: Mapping[str, Vector], name: str, user: object) -> Vector:
    """Return the label of a name, or say that what uses it needs one."""
    if name not in labels:
        if labels:
            raise unknown_name("label", name, labels)
        raise ValueError(f"{user} needs labels= with {name!r}, got none.")
    return labels[name]


def is_judged(values: Vector) -> NDArray[np.bool_] | None:
    """Return which documents have a label; None if all have."""
    known = ~np.isnan(values)
    return None if known.all() else known


def check_column_names(names: Any) -> list[str]:
    """Return the names of columns, or say what labels must be."""
    listed = isinstance(names, Sequence) and not isinstance(names, str)
    if not listed or not all(isinstance(name, str) for name in names):
        demand = "must be a mapping of name to values, or a list of columns of X"
        raise ArgumentTypeError("labels", demand, quoted(names))
    return list(names)


def split_columns(X: Any, names: Sequence[str]) -> tuple[Any, dict[str, Any]]:
    """Return a data frame without some of its columns, and what these hold."""
    frame = as_frame(X, "X")
    if frame is None:
        demand = "must be a mapping of name to values where X is no data frame"
        raise ArgumentTypeError("labels", demand, quoted(names))
    columns: dict[str, Any] = {}
    for name in check_column_names(names):
        if name not in frame.columns:
            raise unknown_name("column (labels)", str(name), map(str, frame.columns))
        columns[name] = as_numbers(frame[name], "labels must name columns of numbers")
    return frame.drop(list(columns)).to_native(), columns
