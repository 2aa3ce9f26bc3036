"""Tables in files: Parquet, CSV, and folders of Parquet files, by way of pyarrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from gbrank.common.argument_error import found_in
from gbrank.common.extras import needed
from gbrank.common.files import refuse_stream
from gbrank.data.frames import feature_names, is_stored_index, pandas_index
from gbrank.data.ids import as_ids
from gbrank.datasets.stacking import refuse_shared_queries
from gbrank.datasets.text_files import INTEGER, StrPath, decoded, read_bytes, written

_LARGEST_BLOCK = 2**31 - 1


def is_table(path: StrPath) -> bool:
    """Say whether a file's name ends in .parquet, .csv or .tsv, the latter perhaps with .gz."""
    return os.fspath(path).lower().endswith(".parquet") or _separator(path) is not None


def parquet_files(folder: StrPath) -> list[Path]:
    """Return the Parquet files of a folder in the order of their names."""
    paths = sorted(
        path
        for path in Path(folder).iterdir()
        if path.suffix.lower() == ".parquet" and not path.name.startswith((".", "_"))
    )
    if not paths:
        raise ValueError(f"{folder}: expected files whose names end in .parquet, got none")
    return paths


class Tables:
    """Files of the same columns, in Parquet or CSV, as one table.

    In CSV, columns for which `is_text` holds are text, and `codes` are integers if all of their
    values are, else text.
    """

    def __init__(
        self,
        paths: Sequence[StrPath],
        is_text: Callable[[str], bool] = lambda _: False,
        codes: Collection[str] = (),
    ) -> None:
        self._arrow = needed("pyarrow", "tables")
        self._files = [_File(path, lambda name: name in codes or is_text(name)) for path in paths]
        for name in codes:
            files = [file for file in self._files if file.text is not None]
            columns = [_as_integers(file.text, name) for file in files]
            if all(column is not None for column in columns):
                for file, column in zip(files, columns, strict=True):
                    file.hold(file.text.set_column(file.schema.names.index(name), name, column))
        self._schema = self._common_schema()
        self.names: list[str] = self._schema.names
        self.index = set[str]().union(*(pandas_index(file.schema) for file in self._files))
        self.sizes = [file.n_rows for file in self._files]

    def read(self, names: Sequence[str] | None = None) -> Any:
        """Return all rows, with some columns or all."""
        columns = self.names if names is None else names
        schema = self._arrow.schema(map(self._schema.field, columns), self._schema.metadata)
        tables = []
        for file in self._files:
            with file.faults():
                tables.append(file.table(columns).cast(schema))
        return self._arrow.concat_tables(tables)

    def features(self, label: str, qid: str, drop: Sequence[str]) -> list[str]:
        """Return the columns that are features, or say what is wrong with those of the files."""
        with found_in(f"{self._files[0].path}: "):
            return feature_names(self.names, label, qid, drop, self.index)

    def check_queries(self, qid: str) -> None:
        """Refuse rows without a query, and queries that are in more than one file."""
        arrow, compute = self._arrow, needed("pyarrow.compute", "tables")
        ids = []
        for file in self._files:
            with file.faults():
                column = file.table([qid])[qid]
            missing = column.is_null()
            if column.type in (arrow.string(), arrow.large_string()):
                missing = compute.equal(compute.utf8_trim_whitespace(column.fill_null("")), "")
            if (row := compute.index(missing, True).as_py()) >= 0:
                raise ValueError(
                    f"{file.path}: expected a query in column {qid!r}, got none in row {row}"
                )
            ids.append(as_ids(column))
        refuse_shared_queries([file.path for file in self._files], ids)

    def _common_schema(self) -> Any:
        """Return the columns of all files; numbers of any type fit together."""
        arrow, first = self._arrow, self._files[0]
        result = first.schema
        for file in self._files:
            odd, reason = set(file.schema.names) ^ set(result.names), ""
            try:
                if not odd:
                    both = [result, file.schema]
                    result = arrow.unify_schemas(both, promote_options="permissive")
            except arrow.ArrowException as error:
                odd = {one.name for one in file.schema if one.type != result.field(one.name).type}
                reason = f": {error}"
            if odd:
                raise ValueError(
                    f"{file.path}: expected the columns of {first.path}; they differ in "
                    f"{sorted(odd)}{reason}"
                )
        number = arrow.float64()
        fields = (one.with_type(number) if one.type == arrow.null() else one for one in result)
        return arrow.schema(fields, result.metadata)


class _File:
    """A file of a table: text is held in memory, Parquet is read when it is needed."""

    def __init__(self, path: StrPath, is_text: Callable[[str], bool]) -> None:
        self._arrow = needed("pyarrow", "tables")
        self.path = path
        self.text: Any = None
        with self.faults():
            if _separator(path) is None:
                refuse_stream(path)
                with self._opened() as file:
                    self._describe(file.schema_arrow, file.metadata.num_rows)
            else:
                self.hold(_read_csv(path, is_text))

    def hold(self, text: Any) -> None:
        """Hold the table of a file of text."""
        self.text = text
        self._describe(text.schema, text.num_rows)

    def table(self, names: Sequence[str]) -> Any:
        """Return a table with some columns."""
        if self.text is not None:
            return self.text.select(names)
        with self._opened() as file:
            return file.read(names).select(names)

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Say of an error of Arrow's in which file it is."""
        try:
            yield
        except (self._arrow.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            kind = "Parquet" if _separator(self.path) is None else "CSV"
            reason = " ".join(str(error).split())
            raise ValueError(
                f"{self.path}: expected a table in {kind} format, got {reason}"
            ) from None

    def _describe(self, schema: Any, n_rows: int) -> None:
        for name in schema.names:
            if schema.names.count(name) > 1:
                raise ValueError(
                    f"{self.path}: expected different names of columns, got {name!r} twice"
                )
        if not n_rows:
            raise ValueError(f"{self.path}: expected at least one row, got none")
        fields = (field for field in schema if not is_stored_index(field.name))
        self.schema, self.n_rows = self._arrow.schema(fields, schema.metadata), n_rows

    def _opened(self) -> Any:
        """Open a file in Parquet format."""
        # By its path: threads of pyarrow that let go of a file of Python's while Python ends abort.
        return needed("pyarrow.parquet", "tables").ParquetFile(os.fspath(self.path))


def _read_csv(path: StrPath, is_text: Callable[[str], bool]) -> Any:
    """Return a file of text as a table, in which an empty text is a missing value."""
    arrow, arrow_csv = needed("pyarrow", "tables"), needed("pyarrow.csv", "tables")
    compute = needed("pyarrow.compute", "tables")
    data = read_bytes(path)
    decoded(path, data)  # or refused by its line
    parse = partial(arrow_csv.ParseOptions, delimiter=_separator(path))
    lenient = parse(invalid_row_handler=lambda _: "skip")
    names = arrow_csv.open_csv(arrow.BufferReader(data), parse_options=lenient).schema.names
    types = dict.fromkeys(filter(is_text, names), "string")
    # One block: all rows decide a column's type. One thread: errors say which row it is.
    block = {"block_size": min(len(data) + 1, _LARGEST_BLOCK), "use_threads": False}
    options = arrow_csv.ReadOptions(**block), parse(), arrow_csv.ConvertOptions(column_types=types)
    table = arrow_csv.read_csv(arrow.BufferReader(data), *options)
    for place, (name, column) in enumerate(zip(names, table.columns, strict=True)):
        if column.type == arrow.string():
            _refuse_swallowed_rows(path, column, place, len(names))
            known = compute.if_else(compute.equal(column, ""), None, column)
            table = table.set_column(place, name, known)
    return table


def _refuse_swallowed_rows(path: StrPath, column: Any, place: int, n_columns: int) -> None:
    """Refuse a value in quotes whose lines are rows by themselves: a quote is astray."""
    compute = needed("pyarrow.compute", "tables")
    several = compute.match_substring_regex(column, r"[\r\n]")
    for row in compute.indices_nonzero(several).to_pylist():
        lines = column[row].as_py().strip("\r\n").splitlines()
        separators = [line.count(_separator(path)) for line in lines]
        separators[0] += place
        separators[-1] += n_columns - 1 - place
        if len(lines) > 1 and set(separators) == {n_columns - 1}:
            raise ValueError(
                f"{path}: expected a value in quotes, got one of {len(lines)} lines in row {row}, "
                "each of which is a row by itself: a quote is missing or too many."
            )


def _as_integers(table: Any, name: str) -> Any:
    """Return a column of texts as integers; None unless all are some, in their usual notation."""
    if name not in table.column_names:
        return None
    compute, column = needed("pyarrow.compute", "tables"), table[name]
    if not compute.all(compute.match_substring_regex(column, INTEGER)).as_py():
        return None
    try:
        return column.cast("int64")
    except needed("pyarrow", "tables").ArrowInvalid:  # beyond 64 bits
        return None


def write_table(path: StrPath, columns: Mapping[str, Any]) -> None:
    """Write a table to a file, in the format of its name."""
    table, separator = needed("pyarrow", "tables").table(dict(columns)), _separator(path)
    with written(path) as file:
        if separator is None:
            needed("pyarrow.parquet", "tables").write_table(table, file)
        else:
            csv = needed("pyarrow.csv", "tables")
            csv.write_csv(table, file, csv.WriteOptions(delimiter=separator))


def _separator(path: StrPath) -> str | None:
    """Return what separates columns in a text file, None for others."""
    ending = os.fspath(path).lower().removesuffix(".gz")[-4:]
    return {".csv": ",", ".tsv": "\t"}.get(ending)
