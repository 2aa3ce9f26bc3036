"""Tables in files, Parquet or CSV, by way of pyarrow."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gbrank.common.checks import quoted, unknown_name
from gbrank.common.extras import needed
from gbrank.common.files import refuse_stream
from gbrank.data.ids import as_ids
from gbrank.datasets.parquet import with_numbers
from gbrank.datasets.stacking import refuse_shared_queries
from gbrank.datasets.text_files import StrPath, read_bytes, refuse_nul, written

_LARGEST_BLOCK = 2**31 - 1


def is_table(path: StrPath) -> bool:
    """Say whether a file's name ends in .parquet, .csv or .tsv, the latter perhaps with .gz."""
    return os.fspath(path).lower().endswith(".parquet") or _separator(path) is not None


def read_table(path: StrPath, is_text: Callable[[str], bool] = lambda _: False) -> Any:
    """Return a file as a pyarrow table; in CSV, columns for which `is_text` holds stay text."""
    arrow = needed("pyarrow", "tables")
    separator = _separator(path)
    try:
        table = _read_parquet(path) if separator is None else _read_csv(path, separator, is_text)
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


def as_categories(table: Any, names: Iterable[str]) -> Any:
    """Return a pyarrow table, some of whose columns hold categories: the texts of their values."""
    for name in names:
        if name not in table.column_names:
            raise unknown_name("column (categorical_feature)", name, table.column_names)
        values = table[name].cast("string").dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, values)
    return table


def _read_parquet(path: StrPath) -> Any:
    refuse_stream(path)
    os.stat(path)  # whose error names the file
    # By its path: threads of pyarrow that let go of a file of Python's while Python ends abort it.
    with needed("pyarrow.parquet", "tables").ParquetFile(os.fspath(path)) as file:
        return file.read()


def _read_csv(path: StrPath, separator: str, is_text: Callable[[str], bool]) -> Any:
    arrow, arrow_csv = needed("pyarrow", "tables"), needed("pyarrow.csv", "tables")
    data = read_bytes(path)
    refuse_nul(path, data)
    names = _header(path, data, separator)

    def read(threads: bool) -> Any:
        return arrow_csv.read_csv(
            arrow.BufferReader(data),
            # One block: all rows decide a column's type.
            arrow_csv.ReadOptions(
                use_threads=threads, block_size=min(len(data) + 1, _LARGEST_BLOCK)
            ),
            arrow_csv.ParseOptions(delimiter=separator),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(filter(is_text, names), arrow.string())
            ),
        )

    try:
        return read(True)
    except arrow.ArrowInvalid:
        return read(False)  # whose error says which row


def _header(path: StrPath, data: bytes, separator: str) -> list[str]:
    """Return the names of the columns, after a check of all quotes."""
    values = list(_several_lines(path, data, separator))
    text = io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape", newline="")
    try:
        names = next(filter(None, csv.reader(text, delimiter=separator)), [])
        "".join(names).encode()
    except (csv.Error, UnicodeEncodeError):
        raise ValueError(f"{path}: expected names of columns in UTF-8, got {names}") from None
    for line, value in values:
        if all(part.count(separator.encode()) == len(names) - 1 for part in value):
            raise ValueError(
                f"{path}, line {line}: expected a value in quotes, got one of {len(value)} lines, "
                "each of which is a row by itself: a quote is missing or too many."
            )
    return names


def _several_lines(path: StrPath, data: bytes, separator: str) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the line and the lines of each value in quotes that has several."""
    # Quotes elsewhere than around a value are part of it.
    ends = rf"{separator}\r\n"
    quoted_value = rf'(?<![^{ends}])"(?P<value>[^"]*(?:""[^"]*)*)(?P<closed>"(?![^{ends}]))?'
    for match in re.finditer(quoted_value.encode(), data):
        several = re.search(rb"[\r\n]", match["value"])
        if match["closed"] is not None and not several:
            continue
        line = data.count(b"\n", 0, match.start()) + 1
        if match["closed"] is None:
            got = data[match.start() :][:60].splitlines()[0].decode(errors="replace")
            raise ValueError(
                f"{path}, line {line}: expected quotes around a whole value, got {quoted(got)}"
            )
        start = data.rfind(b"\n", 0, match.start()) + 1
        end = data.find(b"\n", match.end())
        yield line, data[start : None if end < 0 else end].splitlines()


def read_tables(paths: Sequence[StrPath], qid: str, is_text: Callable[[str], bool]) -> Any:
    """Return files of the same columns as one table; no query may be in two of them."""
    arrow = needed("pyarrow", "tables")
    tables = [read_table(path, is_text) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        odd = sorted(set(table.column_names) ^ set(tables[0].column_names))
        if odd:
            raise ValueError(f"{path} must have the columns of {paths[0]}; they differ in {odd}.")
    if qid in tables[0].column_names:
        for path, table in zip(paths, tables, strict=True):
            _refuse_no_query(path, qid, table[qid])
        if len(paths) > 1:
            refuse_shared_queries(paths, [as_ids(table[qid]) for table in tables])
    try:
        table = arrow.concat_tables(tables, promote_options="permissive")
    except arrow.ArrowException as error:
        raise ValueError(f"{', '.join(map(str, paths))} do not fit together: {error}") from None
    return table.cast(with_numbers(table.schema))


def _refuse_no_query(path: StrPath, qid: str, column: Any) -> None:
    """Refuse rows without a query; in CSV their text is empty."""
    arrow, compute = needed("pyarrow", "tables"), needed("pyarrow.compute", "tables")
    missing = column.is_null()
    if column.type in (arrow.string(), arrow.large_string()):
        missing = compute.equal(compute.utf8_trim_whitespace(column.fill_null("")), "")
    row = compute.index(missing, True).as_py()
    if row >= 0:
        raise ValueError(f"{path}: expected a query in column {qid!r}, got none in row {row}")


def write_tables(path: StrPath, tables: Iterable[Mapping[str, Any]]) -> None:
    """Write tables of the same columns to a file, in the format of its name, each when it comes."""
    arrow = needed("pyarrow", "tables")
    arrow_tables = (arrow.table(dict(columns)) for columns in tables)
    first = next(arrow_tables)
    separator = _separator(path)
    with written(path) as file:
        if separator is None:
            writer = needed("pyarrow.parquet", "tables").ParquetWriter(file, first.schema)
        else:
            csv_writer = needed("pyarrow.csv", "tables")
            options = csv_writer.WriteOptions(delimiter=separator)
            writer = csv_writer.CSVWriter(file, first.schema, write_options=options)
        with writer:
            for table in chain([first], arrow_tables):
                writer.write_table(table)


def _separator(path: StrPath) -> str | None:
    """Return what separates columns in a text file, None for others."""
    ending = os.fspath(path).lower().removesuffix(".gz")[-4:]
    return {".csv": ",", ".tsv": "\t"}.get(ending)
