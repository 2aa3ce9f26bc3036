"""Which queries commands train, validate and test on: by time, by files, or by chance."""

import argparse
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.data_files import Labelled, read_labelled
from gbrank.commands.shared import add
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Positions
from gbrank.common.checks import unknown_name
from gbrank.data.ids import as_list, is_missing
from gbrank.data.queries import Queries

PARTS = 5  # of the queries in order of time


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
) -> tuple[Labelled, list[tuple[Positions, ...]] | None, dict[str, NDArray[Any]]]:
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
    return data, folds, columns


def read_groups(
    arguments: argparse.Namespace,
    groups: Sequence[Sequence[str]],
    labels: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> tuple[Labelled, list[tuple[Positions, ...]] | None]:
    """Return all documents, and a fold of the rows of each group of files; None for one group."""
    data = read_labelled(arguments, list(chain(*groups)), labels=labels, keep=keep)
    if len(groups) == 1:
        return data, None
    group = np.repeat(np.arange(len(groups)), list(map(len, groups)))[data.file]
    return data, [tuple(np.flatnonzero(group == number) for number in range(len(groups)))]


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
