"""Folders of Parquet files, whose features are read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

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
from gbrank.datasets.text_files import StrPath

BATCH_ROWS = 2**16


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
        If a file is damaged or its columns differ from the first file's, or a column is missing
        or does not hold numbers; while features are read, if a file has changed since.
    ImportError
        If pyarrow is missing.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from gbrank import GBRanker, make_cubic, scan_parquet
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
    return scan_and_mask(ParquetFolder(folder), label, qid, drop, unjudged, progress)[:3]


def scan_and_mask(
    files: ParquetFolder,
    label: str,
    qid: str,
    drop: Sequence[str],
    unjudged: Unjudged,
    progress: bool,
) -> tuple[FeatureBatches, NDArray[np.float64], NDArray[Any], NDArray[np.bool_]]:
    """Return what `scan_parquet` does, and the mask of the rows that it kept."""
    features = feature_names(list(files.types), label, qid, drop, files.index)
    parts = files.batches([label, qid])
    table = files.arrow.concat_tables(parts, promote_options="default")
    table = nw.from_native(table, eager_only=True)
    y, queries, kept = labels_and_queries(table, label, qid, unjudged)
    shape = files.n_rows, len(features)
    X = FeatureBatches(lambda: files.batches(features), shape, progress=progress)
    return (X if kept.all() else X[np.flatnonzero(kept)]), y, queries, kept


class ParquetFolder:
    """The Parquet files of a folder, in the order of their names, all of the same columns."""

    def __init__(self, folder: StrPath) -> None:
        self.arrow = needed("pyarrow", "tables")
        self._parquet = needed("pyarrow.parquet", "tables")
        self.paths = sorted(
            path
            for path in Path(folder).iterdir()
            if path.suffix.lower() == ".parquet" and not path.name.startswith((".", "_"))
        )
        if not self.paths:
            raise ValueError(f"{folder}: expected files whose names end in .parquet, got none")
        for path in self.paths:
            refuse_stream(path)
        self._states = {path: _state(path) for path in self.paths}
        self.n_rows = 0
        self.index: set[str] = set()
        schemas = []
        for path in self.paths:
            with self._opened(path) as file:
                schema = file.schema_arrow
                self.index |= pandas_index(schema)
                schemas.append([field for field in schema if not is_stored_index(field.name)])
                self.n_rows += file.metadata.num_rows
        self._schema = self._common(schemas)
        self.types = {field.name: str(field.type) for field in self._schema}
        if not self.n_rows:
            raise ValueError(f"{folder}: expected at least one row, got none")

    def batches(self, names: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield tables of up to `BATCH_ROWS` rows, with the named columns or all."""
        columns = self._schema.names if names is None else names
        schema = self.arrow.schema([self._schema.field(name) for name in columns])
        for path in self.paths:
            with self._opened(path) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=names):
                    table = self.arrow.Table.from_batches([batch]).select(columns)
                    yield table if table.schema.equals(schema) else table.cast(schema)

    def _common(self, schemas: Sequence[list[Any]]) -> Any:
        """Return the columns of all files; a column without any value is of every type."""
        first, null = schemas[0], self.arrow.null()
        for path, schema in zip(self.paths, schemas, strict=True):
            types, expected = ({field.name: field.type for field in one} for one in (schema, first))
            if len(types) < len(schema):
                raise ValueError(f"{path}: expected different names of columns, got two alike")
            odd = types.keys() ^ expected.keys()
            odd |= {
                name
                for name in types.keys() & expected.keys()
                if types[name] != expected[name] and null not in (types[name], expected[name])
            }
            if odd:
                raise ValueError(
                    f"{path}: expected the columns of {self.paths[0].name}, got others, or of "
                    f"another type: {sorted(odd)}"
                )
            first = [
                field if field.type != null else field.with_type(types[field.name])
                for field in first
            ]
        return with_numbers(self.arrow.schema(first))

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Any]:
        """Open a file, which must be as it was at first: its labels are read only once."""
        try:
            with self._parquet.ParquetFile(path) as file:
                self._refuse_changed(path)
                yield file
            self._refuse_changed(path)
        except (self.arrow.ArrowException, OSError) as error:
            self._refuse_changed(path)
            reason = " ".join(str(error).split())
            raise ValueError(f"{path}: expected a table in Parquet format, got {reason}") from None

    def _refuse_changed(self, path: Path) -> None:
        if _state(path) != self._states[path]:
            raise ValueError(
                f"{path}: expected the file as it was when its folder was scanned, got one that "
                "has changed since: scan the folder again, and let the files be until all is read"
            )


def with_numbers(schema: Any) -> Any:
    """Return the columns of a table, in which those without any value hold numbers."""
    arrow = needed("pyarrow", "tables")
    fields = (
        field.with_type(arrow.float64()) if field.type == arrow.null() else field
        for field in schema
    )
    return arrow.schema(fields, schema.metadata)


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return what tells whether a file was written again; None if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
