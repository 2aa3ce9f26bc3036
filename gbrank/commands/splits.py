"""Which queries commands train, validate and test on: by time, by files, or by chance."""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from gbrank.commands.data_files import Labelled, read_labelled
from gbrank.commands.shared import add
from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Positions
from gbrank.common.checks import unknown_name
from gbrank.data.ids import as_list, is_missing
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema

PARTS = 5  # of the queries in order of time


def add_split(parser: argparse.ArgumentParser, *, validated: bool) -> None:
    """Add the options that say which queries are set aside."""
    text = "column of tables with the time of each query: the latest are tested on"
    add(parser, "--time COLUMN", text)
    if validated:
        add(parser, "--valid FILE", "file to validate on")
    add(parser, "--test FILE", "file to test on: the other is trained on")


def read_split(
    arguments: argparse.Namespace,
    path: str,
    last: float | None = None,
    labels: Sequence[str] = (),
    taken: Sequence[str] = (),
) -> tuple[Labelled, list[tuple[Positions, ...]] | None, dict[str, NDArray[Any]]]:
    """Return all documents, the folds, and the columns to be taken from the features.

    By time, there are three folds, each with a part of the queries to validate on before the one
    that is tested on; or one that tests on the share `last`.
    """
    valid, test = getattr(arguments, "valid", None), arguments.test
    if hasattr(arguments, "valid") and (valid is None) != (test is None):
        raise ArgumentError("valid", "and --test must be given together", "one of them")
    if test is not None and arguments.time is not None:
        raise ArgumentError("time", "must not be given with --test", arguments.time)
    paths = [each for each in (path, valid, test) if each is not None]
    names = [*taken, *([] if arguments.time is None else [arguments.time])]
    stacked, folds = read_parts(arguments, paths, labels, names)
    data, columns = _without(stacked, names)
    if arguments.time is not None:
        folds = _by_time(columns.pop(arguments.time), data.qid, last)
    return data, folds, columns


def read_parts(
    arguments: argparse.Namespace,
    paths: Sequence[str],
    labels: Sequence[str] = (),
    keep: Sequence[str] = (),
) -> tuple[Labelled, list[tuple[Positions, ...]] | None]:
    """Return the documents of all files, and a fold with the rows of each; None for one file."""
    first = read_labelled(arguments, paths[0], labels=labels, keep=keep)
    if len(paths) == 1:
        return first, None
    names = getattr(first.X, "columns", None)
    schema = Schema.learn(first.X) if names is None else None  # for the width of LETOR files
    parts = [first, *(read_labelled(arguments, path, schema, labels, keep) for path in paths[1:])]
    for path, part in zip(paths, parts, strict=True):
        odd = [] if names is None else names.symmetric_difference(getattr(part.X, "columns", []))
        if len(odd):
            demand = f"expected the columns of {paths[0]}; they differ in {list(odd)}"
            raise ValueError(f"{path}: {demand}")
    X, y, qid, kept, others = zip(*parts, strict=True)
    place = np.repeat(np.arange(len(parts)), list(map(len, y)))
    data = Labelled(
        _stacked(X),
        np.concatenate(y),
        np.concatenate(qid),
        np.concatenate(kept),
        {name: np.concatenate([own[name] for own in others]) for name in labels},
    )
    return data, [tuple(np.flatnonzero(place == number) for number in range(len(paths)))]


def _stacked(parts: Sequence[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    from pandas import concat  # takes long to import

    return concat(parts, ignore_index=True)


def _without(data: Labelled, names: Sequence[str]) -> tuple[Labelled, dict[str, NDArray[Any]]]:
    """Return documents without some columns, and what these hold."""
    if not names:
        return data, {}
    known = [*getattr(data.X, "columns", [])]
    for name in names:
        if name not in known:
            raise unknown_name("column", name, known)
    columns = {name: data.X[name].to_numpy() for name in names}
    return data._replace(X=data.X.drop(columns=list(names))), columns


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
