"""Tables in files, Parquet or CSV, by way of pyarrow."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from gbrank.common.extras import needed
from gbrank.datasets.stacking import refuse_shared_queries
from gbrank.datasets.text_files import StrPath, read_bytes

_LARGEST_BLOCK = 2**31 - 1


def is_table(path: StrPath) -> bool:
    """Say whether a file's name ends in .parquet, .csv or .tsv, the latter perhaps with .gz."""
    return os.fspath(path).lower().endswith(".parquet") or _separator(path) is not None


def read_table(path: StrPath, is_text: Callable[[str], bool] = lambda _: False) -> Any:
    """Return a file as a pyarrow table; in CSV, columns for which `is_text` holds stay text."""
    arrow = needed("pyarrow", "tables")
    separator = _separator(path)
    try:
        if separator is None:
            with open(path, "rb") as file:
                table = needed("pyarrow.parquet", "tables").read_table(file)
        else:
            table = _read_csv(arrow, read_bytes(path), separator, is_text)
    except arrow.ArrowException as error:
        kind = "Parquet" if separator is None else "CSV"
        reason = " ".join(str(error).split())
        raise ValueError(f"{path}: expected a table in {kind} format, got {reason}") from None
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise ValueError(f"{path}: expected different names of columns, got {name!r} twice")
    if not table.num_rows:
        raise ValueError(f"{path}: expected at least one row, got none")
    return table


def _read_csv(arrow: Any, data: bytes, separator: str, is_text: Callable[[str], bool]) -> Any:
    csv = needed("pyarrow.csv", "tables")
    parsing = csv.ParseOptions(delimiter=separator)
    with csv.open_csv(arrow.BufferReader(data), parse_options=parsing) as reader:
        text = [name for name in reader.schema.names if is_text(name)]
    return csv.read_csv(
        arrow.BufferReader(data),
        # One block: all rows decide a column's type.
        csv.ReadOptions(block_size=min(len(data) + 1, _LARGEST_BLOCK)),
        parsing,
        csv.ConvertOptions(column_types=dict.fromkeys(text, arrow.string())),
    )


def read_tables(paths: Sequence[StrPath], qid: str, is_text: Callable[[str], bool]) -> Any:
    """Return files of the same columns as one table; no query may be in two of them."""
    arrow = needed("pyarrow", "tables")
    tables = [read_table(path, is_text) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        odd = sorted(set(table.column_names) ^ set(tables[0].column_names))
        if odd:
            raise ValueError(f"{path} must have the columns of {paths[0]}; they differ in {odd}.")
    if len(paths) > 1 and qid in tables[0].column_names:
        refuse_shared_queries(paths, [table[qid].drop_null().to_numpy() for table in tables])
    try:
        return arrow.concat_tables(tables, promote_options="permissive")
    except arrow.ArrowException as error:
        raise ValueError(f"{', '.join(map(str, paths))} do not fit together: {error}") from None


def write_tables(path: StrPath, tables: Iterable[Mapping[str, Any]]) -> None:
    """Write tables of the same columns to a file, in the format of its name, each when it comes."""
    arrow = needed("pyarrow", "tables")
    arrow_tables = (arrow.table(dict(columns)) for columns in tables)
    first = next(arrow_tables)
    separator = _separator(path)
    with arrow.output_stream(os.fspath(path), compression="detect") as file:
        if separator is None:
            writer = needed("pyarrow.parquet", "tables").ParquetWriter(file, first.schema)
        else:
            csv = needed("pyarrow.csv", "tables")
            options = csv.WriteOptions(delimiter=separator)
            writer = csv.CSVWriter(file, first.schema, write_options=options)
        with writer:
            for table in chain([first], arrow_tables):
                writer.write_table(table)


def _separator(path: StrPath) -> str | None:
    """Return what separates columns in a text file, None for others."""
    ending = os.fspath(path).lower().removesuffix(".gz")[-4:]
    return {".csv": ",", ".tsv": "\t"}.get(ending)
