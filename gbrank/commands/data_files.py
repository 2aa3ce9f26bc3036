"""The data that commands read: LETOR files and tables."""

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.shared import add
from gbrank.commands.table_files import is_table, read_table
from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.checks import check_labels, quoted, unknown_name
from gbrank.data.feature_matrix import LetorArray, LetorMatrix
from gbrank.data.frames import judged, split_and_mask
from gbrank.data.ids import as_ids
from gbrank.data.labels import check_column_names, split_columns
from gbrank.data.schema import Schema
from gbrank.datasets.letor_reader import Letor
from gbrank.datasets.text_files import read_bytes, text_of

SCORE = "score"  # the column of scores in tables
TABLE_OPTIONS = "label", "qid", "drop", "features", "categorical_feature", "docid", "time"


class Labelled(NamedTuple):
    """Documents with labels and queries, and the mask of them among all."""

    X: Any
    y: NDArray[np.float64]
    qid: NDArray[Any]
    kept: NDArray[np.bool_]
    labels: Mapping[str, Any] = {}  # besides y


class Unlabelled(NamedTuple):
    """Documents to score, their queries if there are any, and what else is known of them."""

    X: Any
    qid: NDArray[Any] | None
    others: Mapping[str, Any]  # columns that are no features
    comments: Sequence[str]  # in LETOR files


def add_file(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add the file, and the options that say how to read it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=_file,
        help="LETOR (SVMlight) data (- for standard input), or a table whose name ends in "
        ".parquet, .csv or .tsv; text may be gzipped; or a folder of Parquet files",
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
    path: str,
    schema: Schema | None = None,
    labels: Sequence[str] = (),
    keep: Collection[str] = (),
) -> Labelled:
    """Return the features, those of `schema` if given, labels and queries of a file.

    `labels` are the columns of other labels. Of a table, the features have the columns to `keep`
    besides.
    """
    if not check_kind(arguments, path, schema):
        if labels:
            given = f"{', '.join(labels)} and {path}"
            raise ArgumentError("labels", "must be columns of tables in files", given)
        width = schema.n_features if schema else getattr(arguments, "n_features", None)
        return _labelled_letor(arguments, path, width)
    label, qid = arguments.label or "label", arguments.qid or "qid"
    codes = {qid, *(getattr(arguments, "categorical_feature", None) or ())}
    texts = {getattr(arguments, "docid", None)}
    if schema is not None:
        texts, codes = texts.union(schema.texts), codes.difference(schema.names or ())
    table = read_table(path, texts.__contains__, codes)
    with found_in(f"{path}: "):
        drop = _dropped(arguments, list(table.columns), schema, {label, qid, *labels, *keep})
        X, y, queries, kept = split_and_mask(table, label, qid, drop, arguments.unjudged)
        known = np.zeros(len(kept))
        known[kept] = y
        check_labels(known, "label")
    X, others = split_columns(X, check_column_names(labels), "X") if labels else (X, {})
    return Labelled(X, y, queries, kept, others)


def _dropped(
    arguments: argparse.Namespace, names: Sequence[str], schema: Schema | None, others: set[str]
) -> list[str]:
    """Return the columns that are neither features nor the others that are read."""
    drop, features = arguments.drop or [], getattr(arguments, "features", None) or []
    if features and drop:
        raise ArgumentError("drop", "must not be given with --features", f"{drop}")
    if unknown := [name for name in features if name not in names]:
        raise unknown_name("column (features)", unknown[0], names)
    if not features and schema is None:
        return list(drop)
    known = others | set(features if schema is None else schema.names or ())
    return [name for name in names if name not in known]


def read_documents(arguments: argparse.Namespace, path: str, schema: Schema) -> Unlabelled:
    """Return the documents in a file, with a schema's features."""
    if not check_kind(arguments, path, schema):
        letor = _parsed(path, schema.n_features)
        # Comments play no other part, and may hold any bytes.
        comments = letor.comments() if arguments.format == "trec" else ()
        ids: Any = letor.queries()
        return Unlabelled(_features(letor, arguments.sparse), ids, {"qid": ids}, comments)
    features, qid = schema.names or [], arguments.qid or "qid"
    numbers = {*features, arguments.label or "label"} - {*schema.texts}
    table = read_table(path, lambda name: name not in numbers)
    if lacks := [name for name in features if name not in table]:
        raise ValueError(f"{path}: must have all features of the model; it lacks {lacks}.")
    others = table.drop(columns=features)
    ids = as_ids(table[qid]) if qid in table else None
    return Unlabelled(table[features], ids, dict(others), ())


def read_numbers(path: str, what: str, documents: Labelled) -> NDArray[np.float64]:
    """Return a number for each document, from a text with one a line or from a table's scores."""
    length = len(documents.kept)
    if is_table(path):
        table, first = read_table(path), 2
        if SCORE not in table:
            raise ValueError(f"{path}: expected a column {SCORE!r}, got the columns {[*table]}")
        values = table[SCORE].tolist()
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


def _features(letor: Letor, sparse: bool) -> Any:
    """Return the features, which are called by their numbers in the file."""
    X: Any = letor.features(sparse)
    return LetorMatrix(X) if sparse else X.view(LetorArray)


def _labelled_letor(arguments: argparse.Namespace, path: str, n_features: int | None) -> Labelled:
    letor = _parsed(path, n_features, getattr(arguments, "scores", None) is None)
    refuse = arguments.unjudged == "refuse"
    wrong = (letor.labels < 0) & (refuse | (letor.labels != -1))
    if wrong.any():
        place, label = letor.label_in_file(int(np.argmax(wrong)))
        hint = " (--unjudged says what to do with -1)" if refuse else ""
        raise ValueError(f"{place}: expected a label of at least 0, got {label}{hint}")
    X, qid = _features(letor, getattr(arguments, "sparse", False)), letor.queries()
    y, kept = judged(letor.labels, arguments.unjudged)
    return Labelled(X if kept.all() else X[kept], y, qid[kept], kept)


def check_kind(arguments: argparse.Namespace, path: str, schema: Schema | None = None) -> bool:
    """Say whether a file is a table, and not a LETOR file; refuse the other's options."""
    table = is_table(path)
    for name in ["sparse"] if table else TABLE_OPTIONS:
        if getattr(arguments, name, None):
            what = "LETOR files" if table else "tables"
            raise ArgumentError(name, f"must be given with {what} only", path)
    if table and schema is not None and schema.names is None:
        raise ValueError(
            f"{path}: expected LETOR format, since the model's features have no names, got a table"
        )
    return table


def _number(path: str, line: int, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        shown = quoted(value.decode(errors="replace") if isinstance(value, bytes) else str(value))
        raise ValueError(f"{path}, line {line}: expected a finite number, got {shown}")
    return number
