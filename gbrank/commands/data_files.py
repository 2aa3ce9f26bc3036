"""The data that commands read: LETOR files and tables."""

import argparse
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.shared import add
from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.checks import check_labels, quoted, unknown_name
from gbrank.data.frames import judged, split_and_mask
from gbrank.data.ids import as_ids
from gbrank.data.labels import check_column_names, split_columns
from gbrank.data.schema import Schema
from gbrank.datasets.letor_reader import Letor
from gbrank.datasets.stacking import stack_files
from gbrank.datasets.table_files import Tables, is_table, parquet_files
from gbrank.datasets.text_files import read_bytes, text_of

SCORE = "score"  # the column of scores in tables
TABLE_OPTIONS = "label", "qid", "drop", "features", "categorical_feature", "docid", "time"


class Labelled(NamedTuple):
    """Documents with labels and queries, the mask of them among all, and the file of each."""

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[Any]
    kept: NDArray[np.bool_]
    file: NDArray[np.int64]  # its place among the files
    labels: Mapping[str, Any] = {}  # besides y


class Unlabelled(NamedTuple):
    """Documents to score, their queries if there are any, and what else is known of them."""

    X: Any
    qid: NDArray[Any] | None
    others: dict[str, Any]  # columns that are no features
    comments: Sequence[str]  # in LETOR files


def add_files(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add the files, and the options that say how to read them."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        type=_file,
        help="LETOR (SVMlight) data (- for standard input), or tables whose names end in "
        ".parquet, .csv or .tsv; text may be gzipped; or one folder of Parquet files",
    )
    add(parser, "--sparse", "keep the features of LETOR files sparse in memory")
    add_table_options(parser, *more)


def _file(name: str) -> str:
    """Return the name of a file, with that of standard input for a hyphen."""
    return "/dev/stdin" if name == "-" else name


def add_table_options(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add the options that say what each column of a table is, and those of more."""
    add(parser, "--label COLUMN", "labels in tables (default: label)")
    add(parser, "--qid COLUMN", "queries in tables (default: qid)")
    text = "columns of tables that are no features, such as names of documents"
    add(parser, "--drop COLUMN ...", text)
    if "features" in more:
        text = "columns of tables that are features (default: all that are not said to be others)"
        add(parser, "--features COLUMN ...", text)
    if "categorical" in more:
        text = "features in tables that are categories: text, or codes from 0"
        add(parser, "--categorical COLUMN ...", text, dest="categorical_feature")
    if "unjudged" in more:
        text = "what to do with documents whose label is -1 or, in a table, missing: leave them "
        text += "out, or label them 0"
        choices = ["refuse", "drop", "irrelevant"]
        add(parser, "--unjudged WHAT", text, choices=choices, metavar=None, default="refuse")


def read_labelled(
    arguments: argparse.Namespace,
    paths: Sequence[str],
    schema: Schema | None = None,
    labels: Sequence[str] = (),
    keep: Collection[str] = (),
) -> Labelled:
    """Return the features, those of `schema` if given, labels and queries of all files.

    `labels` are the columns of other labels. Of tables, the features have the columns to `keep`
    besides.
    """
    tables = _tables(arguments, paths, schema)
    if labels and tables is None:
        given = f"{', '.join(labels)} and {paths[0]}"
        raise ArgumentError("labels", "must be columns of tables in files", given)
    if tables is None:
        width = schema.n_features if schema else getattr(arguments, "n_features", None)
        letor = (_labelled_letor(arguments, path, width) for path in paths)
        parts = [(*part, np.full(len(part[1]), place)) for place, part in enumerate(letor)]
        return Labelled(*stack_files(paths, parts))
    label, qid = arguments.label or "label", arguments.qid or "qid"
    drop = _dropped(arguments, tables, schema, {label, qid, *labels, *keep})
    roles = label, qid, drop, arguments.unjudged
    tables.features(label, qid, drop)
    if qid in tables.names and not Path(paths[0]).is_dir():
        tables.check_queries(qid)
    table = tables.read()
    with found_in(f"{', '.join(paths)}: "):
        X, y, queries, kept = split_and_mask(table, *roles)
        known = np.zeros(len(kept))
        known[kept] = y
        check_labels(known, "label")
    X, others = split_columns(X, check_column_names(labels), "X") if labels else (X, {})
    sizes = tables.sizes if len(paths) > 1 else [len(kept)]
    file = np.repeat(np.arange(len(paths)), sizes)
    return Labelled(X, y, queries, kept, file[kept], others)


def _dropped(
    arguments: argparse.Namespace, tables: Tables, schema: Schema | None, others: set[str]
) -> list[str]:
    """Return the columns that are neither features nor the others that are read."""
    drop, features = arguments.drop or [], getattr(arguments, "features", None) or []
    if features and drop:
        raise ArgumentError("drop", "must not be given with --features", f"{drop}")
    if unknown := [name for name in features if name not in tables.names]:
        raise unknown_name("column (features)", unknown[0], tables.names)
    if not features and schema is None:
        return list(drop)
    known = others | set(features if schema is None else schema.names or ())
    return [name for name in tables.names if name not in known]


def read_documents(
    arguments: argparse.Namespace, paths: Sequence[str], schema: Schema
) -> Unlabelled:
    """Return the documents in all files, with a schema's features."""
    features, qid = schema.names or [], arguments.qid or "qid"
    numbers = {*features, arguments.label or "label"} - {*schema.texts}
    tables = _tables(arguments, paths, schema, lambda name: name not in numbers)
    if tables is None:
        return _unlabelled_letor(arguments, paths, schema.n_features)
    if qid in tables.names and not Path(paths[0]).is_dir():
        tables.check_queries(qid)
    table = tables.read()
    others = {name: table[name] for name in table.column_names if name not in features}
    ids = as_ids(table[qid]) if qid in tables.names else None
    return Unlabelled(table.drop(list(others)), ids, others, ())


def read_numbers(path: str, what: str, documents: Labelled) -> NDArray[np.float64]:
    """Return a number for each document, from a text with one a line or from a table's scores."""
    length = len(documents.kept)
    if is_table(path):
        tables, first = Tables([path]), 2
        if SCORE not in tables.names:
            raise ValueError(f"{path}: expected a column {SCORE!r}, got the columns {tables.names}")
        values = tables.read([SCORE])[SCORE].to_pylist()
    else:
        content = text_of(path, sys.stdin.buffer.read()) if path == "-" else read_bytes(path)
        values, first = [line.strip() for line in content.splitlines()], 1
    numbers = [_number(path, line, value) for line, value in enumerate(values, first)]
    if len(numbers) != length:
        raise ValueError(f"{path}: expected {length} {what}, one a document, got {len(numbers)}")
    return np.array(numbers)[documents.kept]


def _parsed(path: str, n_features: int | None, needed: bool = True) -> Letor:
    """Return a LETOR file, which must have features where they are needed."""
    letor = Letor(path, n_features)
    if needed and not letor.features(sparse=True).nnz:
        raise ValueError(f"{path}: expected a feature, <index>:<value>, got none")
    return letor


def _labelled_letor(
    arguments: argparse.Namespace, path: str, n_features: int | None
) -> tuple[Any, ...]:
    letor = _parsed(path, n_features, getattr(arguments, "scores", None) is None)
    refuse = arguments.unjudged == "refuse"
    wrong = (letor.labels < 0) & (refuse | (letor.labels != -1))
    if wrong.any():
        place, label = letor.label_in_file(int(np.argmax(wrong)))
        hint = " (--unjudged says what to do with -1)" if refuse else ""
        raise ValueError(f"{place}: expected a label of at least 0, got {label}{hint}")
    X, qid = letor.features(getattr(arguments, "sparse", False)), letor.queries()
    y, kept = judged(letor.labels, arguments.unjudged)
    return X if kept.all() else X[kept], y, qid[kept], kept


def _unlabelled_letor(
    arguments: argparse.Namespace, paths: Sequence[str], n_features: int
) -> Unlabelled:
    named = arguments.format == "trec"  # comments play no other part, and may hold any bytes
    parts = []
    for path in paths:
        letor = _parsed(path, n_features)
        columns = letor.features(arguments.sparse), letor.labels, letor.queries()
        parts.append((*columns, letor.comments() if named else ()))
    X, _, qid, comments = stack_files(paths, parts)
    return Unlabelled(X, qid, {"qid": qid}, comments)


def are_tables(arguments: argparse.Namespace, paths: Sequence[str]) -> bool:
    """Say whether files are tables, and not LETOR files; refuse both, and the other's options."""
    folders = [path for path in paths if Path(path).is_dir()]
    tables = [path for path in paths if is_table(path) or path in folders]
    others = [path for path in paths if path not in tables]
    if folders and len(paths) > 1:
        raise ArgumentError("files", "must be files, or one folder", f"{paths}")
    if tables and others:
        both = f"{tables[0]} and {others[0]}"
        raise ArgumentError("files", "must be all tables or all LETOR", both)
    what = "LETOR files" if tables else "tables"
    for name in ["sparse"] if tables else TABLE_OPTIONS:
        if getattr(arguments, name, None):
            raise ArgumentError(name, f"must be given with {what} only", paths[0])
    return bool(tables)


def _tables(
    arguments: argparse.Namespace,
    paths: Sequence[str],
    schema: Schema | None,
    is_text: Callable[[str], bool] | None = None,
) -> Tables | None:
    """Return the tables in the files, None if they are LETOR files."""
    if not are_tables(arguments, paths):
        return None
    if schema is not None and schema.names is None:
        raise ValueError(
            f"{paths[0]}: expected LETOR format, since the model's features have no names, got a "
            "table"
        )
    texts, features = (schema.texts, schema.names or ()) if schema else ((), ())
    codes = {arguments.qid or "qid", *(getattr(arguments, "categorical_feature", None) or ())}
    result = Tables(
        parquet_files(paths[0]) if Path(paths[0]).is_dir() else paths,
        is_text or (lambda name: name in texts),
        codes.difference(features),
    )
    if lacks := [name for name in features if name not in result.names]:
        raise ValueError(f"{paths[0]} must have all features of the model; it lacks {lacks}.")
    return result


def _number(path: str, line: int, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        shown = quoted(value.decode(errors="replace") if isinstance(value, bytes) else str(value))
        raise ValueError(f"{path}, line {line}: expected a finite number, got {shown}")
    return number
