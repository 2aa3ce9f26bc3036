"""Tables in files: Parquet, CSV, and folders of Parquet files, by way of pyarrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gbrank.common.argument_error import found_in
from gbrank.common.extras import needed
from gbrank.common.files import refuse_stream
from gbrank.data.batches import FeatureBatches
from gbrank.data.frames import (
    Unjudged,
    feature_names,
    is_stored_index,
    labels_and_queries,
    pandas_index,
)
from gbrank.data.ids import as_ids
from gbrank.datasets.stacking import refuse_shared_queries
from gbrank.datasets.text_files import INTEGER, StrPath, decoded, read_bytes, written

BATCH_ROWS = 2**16
_LARGEST_BLOCK = 2**31 - 1


def scan_parquet(
    folder: StrPath,
    *,
    label: str = "label",
    qid: str = "qid",
    drop: Sequence[str] = (),
    unjudged: Unjudged = "refuse",
    progress: bool = False,
) -> tuple[FeatureBatches, NDArray[np.float64], NDArray[Any]]:
    """Return the features, labels and queries of a folder of Parquet files larger than memory.

    Labels and queries are read now; features are read in batches, whenever a fit or a prediction
    needs them. The files of the folder are taken in the order of their names, and rows in the
    order of the files; the rows of a query may be anywhere, even in several files. Read other
    columns, such as weights, by ``pyarrow.parquet.read_table(folder, columns=["weight"])``.

    Parameters
    ----------
    folder : path
        With files whose names end in .parquet, all of the same columns; names that begin with a
        dot or an underscore are left out.
    label, qid, drop, unjudged
        As in `split_frame`.
    progress : bool
        Whether each pass over the features shows a progress bar.

    Returns
    -------
    X : FeatureBatches, shape (n_documents, n_features)
    y, qid : ndarray, shape (n_documents,)
        The label and the query of each row.

    Raises
    ------
    ValueError
        If a file is damaged or its columns differ from the first file's (numbers may be of any
        type), or a column is missing or does not hold numbers; while features are read, if a file
        has changed since.
    ImportError
        If pyarrow is missing.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from gbrank import GBRanker, make_cubic
    >>> from gbrank.datasets import scan_parquet
    >>> X, y, qid = make_cubic(100, n_documents=10, random_state=0)
    >>> table = pd.DataFrame(X).add_prefix("x").assign(label=y, qid=qid)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for part in range(2):
    ...         table[500 * part : 500 * (part + 1)].to_parquet(f"{folder}/{part}.parquet")
    ...     X, y, qid = scan_parquet(folder)
    ...     ranker = GBRanker(n_estimators=5, random_state=0).fit(X, y, qid=qid)
    >>> X.shape, ranker.feature_names_in_[:2].tolist()
    ((1000, 50), ['x0', 'x1'])
    """
    return scan_and_mask(Tables(parquet_files(folder)), label, qid, drop, unjudged, progress)[:3]


def scan_and_mask(
    tables: Tables, label: str, qid: str, drop: Sequence[str], unjudged: Unjudged, progress: bool
) -> tuple[FeatureBatches, NDArray[np.float64], NDArray[Any], NDArray[np.bool_]]:
    """Return what `scan_parquet` does, and the mask of the rows that it kept."""
    features = tables.features(label, qid, drop)
    roles = nw.from_native(tables.read([label, qid]), eager_only=True)
    y, queries, kept = labels_and_queries(roles, label, qid, unjudged)
    shape = sum(tables.sizes), len(features)
    X = FeatureBatches(lambda: tables.batches(features), shape, progress=progress)
    return (X if kept.all() else X[np.flatnonzero(kept)]), y, queries, kept


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

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield tables of up to `BATCH_ROWS` rows (CSV: of a file), with some columns or all."""
        columns = self.names if names is None else names
        schema = self._arrow.schema(map(self._schema.field, columns), self._schema.metadata)
        for file in self._files:
            with file.faults():
                for table in file.tables(columns):
                    yield table.select(columns).cast(schema)

    def read(self, names: Sequence[str] | None = None) -> Any:
        """Return all rows, with some columns or all."""
        return self._arrow.concat_tables(self.batches(names))

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
                column = arrow.concat_tables(file.tables([qid]))[qid]
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
    """A file of a table: text is held in memory, Parquet is read in batches."""

    def __init__(self, path: StrPath, is_text: Callable[[str], bool]) -> None:
        self._arrow = needed("pyarrow", "tables")
        self.path, self._state = path, _state(path)
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

    def tables(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield tables with some columns."""
        if self.text is not None:
            yield self.text.select(names)
            return
        with self._opened() as file:
            for batch in file.iter_batches(BATCH_ROWS, columns=names):
                yield self._arrow.Table.from_batches([batch])

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
        """Open a file in Parquet format, which must be as it was: labels are read only once."""
        if _state(self.path) != self._state:
            raise ValueError(
                f"{self.path}: expected the file as it was when its folder was scanned, got one "
                "that has changed since: scan the folder again"
            )
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


def _state(path: StrPath) -> tuple[int, int, int]:
    """Return what tells whether a file was written again."""
    found = os.stat(path)
    return found.st_ino, found.st_size, found.st_mtime_ns
