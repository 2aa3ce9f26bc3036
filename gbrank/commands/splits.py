"""Which queries commands train, validate and test on: by time, by files, or by chance."""

import argparse
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.data_files import Labelled, are_tables, read_labelled
from gbrank.commands.shared import add
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Positions
from gbrank.common.checks import unknown_name
from gbrank.data.ids import as_list, is_missing
from gbrank.data.queries import Queries
from gbrank.datasets.stacking import refuse_shared_queries, stack_files

PARTS = 5  # of the queries in order of time


class DividedData(NamedTuple):
    """Documents with labels, the folds that were asked for, and columns that are no features."""

    data: Labelled
    folds: list[tuple[Positions, ...]] | None
    taken: dict[str, NDArray[Any]]


def add_split(parser: argparse.ArgumentParser, *, validated: bool) -> None:
    """Add the options that say which queries are set aside."""
    text = "column of tables with the time of each query: the latest are tested on"
    add(parser, "--time COLUMN", text)
    if validated:
        add(parser, "--valid FILE ...", "files to validate on", default=[])
    add(parser, "--test FILE ...", "files to test on: the others are trained on", default=[])


def read_split(
    arguments: argparse.Namespace,
    paths: Sequence[str],
    last: float | None = None,
    labels: Sequence[str] = (),
    taken: Sequence[str] = (),
) -> DividedData:
    """Return all documents, the folds, and the columns to be taken from the features.

    By time, there are three folds, each with a part of the queries to validate on before the one
    that is tested on; or one that tests on the share `last`.
    """
    valid = getattr(arguments, "valid", None)
    if valid is not None and bool(valid) != bool(arguments.test):
        raise ArgumentError("valid", "and --test must be given together", "one of them")
    if arguments.test and arguments.time is not None:
        raise ArgumentError("time", "must not be given with --test", arguments.time)
    groups = [group for group in (paths, valid or [], arguments.test) if group]
    names = [*taken, *([] if arguments.time is None else [arguments.time])]
    stacked, folds = read_groups(arguments, groups, labels, names)
    data, columns = _without(stacked, names)
    if arguments.time is not None:
        folds = _by_time(columns.pop(arguments.time), data.qid, last)
    return DividedData(data, folds, columns)


def read_groups(
    arguments: argparse.Namespace,
    groups: Sequence[Sequence[str]],
    labels: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> tuple[Labelled, list[Any] | None]:
    """Return all documents, and a fold of the rows of each group of files; None for one group."""
    are_tables(arguments, list(chain(*groups)))
    parts = [read_labelled(arguments, group, labels=labels, keep=keep) for group in groups]
    data = _stacked([group[0] for group in groups], parts)
    ends = np.cumsum([len(part.y) for part in parts])[:-1]
    fold = tuple(np.split(np.arange(len(data.y)), ends))
    return data, [fold] if len(fold) > 1 else None


def _stacked(paths: Sequence[str], parts: Sequence[Labelled]) -> Labelled:
    """Return the documents of several groups of files as those of one."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if not hasattr(first.X, "column_names"):
        return Labelled(*stack_files(paths, [part[:4] for part in parts]))
    from pyarrow import concat_tables  # tables have loaded it

    refuse_shared_queries(paths, [part.qid for part in parts])
    tables = [part.X.select(first.X.column_names) for part in parts]
    labels = {name: np.concatenate([part.labels[name] for part in parts]) for name in first.labels}
    X = concat_tables(tables, promote_options="permissive")
    y, qid, kept = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "qid", "kept")
    )
    return Labelled(X, y, qid, kept, labels)


def _without(data: Labelled, names: Sequence[str]) -> tuple[Labelled, dict[str, NDArray[Any]]]:
    """Return documents without some columns, and what these hold."""
    if not names:
        return data, {}
    known = getattr(data.X, "column_names", [])
    for name in names:
        if name not in known:
            raise unknown_name("column", name, known)
    columns = {name: data.X[name].to_numpy() for name in names}
    return data._replace(X=data.X.drop_columns(list(names))), columns


def _by_time(
    times: NDArray[Any], qid: NDArray[Any], last: float | None
) -> list[tuple[Positions, ...]]:
    """Return folds whose tested queries are later than all others; of a query, its first time."""
    missing = [row for row, value in enumerate(as_list(times)) if is_missing(value)]
    if missing:
        raise ArgumentError("time", "must be known for all documents", f"none in row {missing[0]}")
    order = np.argsort(times, kind="stable")
    queries = Queries.from_qid(qid[order])  # numbered in order of their first time
    place = np.empty(len(order), np.int64)
    place[order] = queries.index
    n = queries.n_queries
    if last is not None:
        bound = n - max(1, round(n * last))
        return [(np.flatnonzero(place < bound), np.flatnonzero(place >= bound))]
    part = place * PARTS // n
    return [
        tuple(np.flatnonzero(chosen) for chosen in (part < end - 1, part == end - 1, part == end))
        for end in range(2, PARTS)
    ]
