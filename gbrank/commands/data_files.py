"""The documents that commands read: LETOR files and tables; tables that they write."""

import io
import re
import sys
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, TextIO, TypeAlias

import numpy as np
import scipy.sparse as sp

from gbrank.common.checks import (
    ArgumentError,
    Mask,
    Positions,
    Vector,
    check_finite,
    check_known_name,
    error_context,
    quoted,
)
from gbrank.common.runtime import import_optional
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import LetorArray, LetorMatrix, stacked
from gbrank.data.frames import Unjudged, judged, split_and_mask
from gbrank.data.ids import as_ids
from gbrank.data.letor import Letor
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema
from gbrank.data.text_files import GZIP, STDIN, read_bytes, read_lines, written

SCORE = "score"  # the column of scores in tables
OF_LETOR = ("sparse", "n_features")
OF_BOTH = ("unjudged",)  # all other options are of tables
SEPARATORS = {".csv": ",", ".tsv": "\t"}
INTEGER = r"0|-?[1-9][0-9]{0,17}"  # as ids and codes are written
MISSING = ["", "NA", "N/A", "NaN", "nan", "<NA>", "NULL", "null", "None"]  # among numbers

ColumnName: TypeAlias = Annotated[str, "COLUMN"]


@dataclass(frozen=True)
class Reader:
    """How files of documents are read.

    Parameters
    ----------
    label : str
        Column of labels of tables.
    qid : str
        Column of queries of tables.
    labels : sequence of str
        Columns of tables that are other labels: "ndcg@10[COLUMN]".
    drop : sequence of str
        Columns of tables that are no features.
    features : sequence of str
        Columns of tables that are features; by default all others.
    categorical_feature : sequence of str
        Features of tables that are categories: text, or codes from 0.
    docid : str
        Column of tables with the names of documents.
    unjudged : {"refuse", "drop", "irrelevant"}
        Documents of label -1 or none.
    sparse : bool
        Keep the features of LETOR files sparse in memory.
    n_features : int
        Number of features of LETOR files; by default the largest index.
    """

    label: ColumnName = "label"
    qid: ColumnName = "qid"
    labels: Sequence[ColumnName] = ()
    drop: Sequence[ColumnName] = ()
    features: Sequence[ColumnName] = ()
    categorical_feature: Sequence[ColumnName] = ()
    docid: ColumnName | None = None
    unjudged: Unjudged = "refuse"
    sparse: bool = False
    n_features: int | None = None

    def read(
        self, path: str, schema: Schema | None = None, keep: Collection[str] = ()
    ) -> tuple[Documents, Mask]:
        """Read labelled documents, and the mask of those that are judged.

        Columns of tables are features, but for --labels: with --features, these alone, and the
        columns to `keep` and --docid, which is text.
        """
        if self._is_table(path, schema):
            codes = {self.qid, *self.categorical_feature}
            texts = {self.docid}
            if schema is not None:
                codes = codes.difference(schema.names or ())
                texts = texts.union(schema.texts)
            table = read_table(path, texts.__contains__, codes)
            with error_context(f"{path}: "):
                others = {self.label, self.qid, self.docid, *self.labels, *keep}
                drop = self._dropped([*table], others)
                X, y, qid, mask = split_and_mask(table, self.label, self.qid, drop, self.unjudged)
        else:
            letor, X = self._letor(path, schema)
            refuse = self.unjudged == "refuse"
            wrong = (letor.labels < 0) & (refuse | (letor.labels != -1))
            if wrong.any():
                raise letor.label_error(
                    int(np.argmax(wrong)), " (--unjudged says what to do with -1)" if refuse else ""
                )
            y, mask = judged(letor.labels, self.unjudged)
            X = X if mask.all() else X[mask]
            qid = letor.queries()[mask]
        return Documents.checked(X, y, Queries.from_qid(qid), labels=self.labels or None), mask

    def read_to_score(
        self, path: str, schema: Schema
    ) -> tuple[Any, Any, dict[str, Any], Callable[[], list[str]]]:
        """Read features, queries, other columns, and a function that reads LETOR comments."""
        if not self._is_table(path, schema):
            letor, X = self._letor(path, schema)
            qid: Any = letor.queries()
            return X, qid, {"qid": qid}, letor.comments  # which may hold any bytes
        features = schema.names or []
        numbers = {*features, self.label} - {*schema.texts}
        table = read_table(path, lambda name: name not in numbers)
        if lacks := [name for name in features if name not in table]:
            raise ValueError(f"{path}: must have all features of the model; it lacks {lacks}.")
        qid = as_ids(table[self.qid]) if self.qid in table else None
        return table[features], qid, dict(table.drop(columns=features)), list

    def _is_table(self, path: str, schema: Schema | None) -> bool:
        """Whether a file is a table; raise if an option is for files of the other kind."""
        table = table_format(path) is not None
        for field in fields(self):
            other = (field.name in OF_LETOR) == table and field.name not in OF_BOTH
            if other and getattr(self, field.name) != field.default:
                kind = "LETOR files" if table else "tables"
                raise ArgumentError(field.name, f"must be given with {kind} only", path)
        if table and schema is not None and schema.names is None:
            reason = "since the model's features have no names, got a table"
            raise ValueError(f"{path}: expected LETOR format, {reason}")
        return table

    def _dropped(self, names: Sequence[str], others: Collection[str | None]) -> Sequence[str]:
        """Find the columns that are neither features nor read for something else."""
        if not self.features:
            return self.drop
        if self.drop:
            raise ArgumentError("drop", "must not be given with --features", f"{list(self.drop)}")
        for name in self.features:
            check_known_name("column (features)", name, names)
        known = {*others, *self.features}
        return [name for name in names if name not in known]

    def _letor(self, path: str, schema: Schema | None) -> tuple[Letor, Any]:
        """Read a LETOR file, and its features, called by their numbers; a model needs some."""
        n_features = self.n_features if schema is None else schema.n_features
        letor = Letor(path, n_features)
        if schema is not None and not letor.features(sparse=True).nnz:
            raise ValueError(f"{path}: expected a feature, <index>:<value>, got none")
        return letor, _numbered(letor.features(self.sparse))


TrainingFiles: TypeAlias = Annotated[Reader, "docid"]
Labelled: TypeAlias = Annotated[Reader, "labels", "features", "categorical_feature", "n_features"]


def read_parts(
    reader: Reader, paths: Sequence[str], keep: Sequence[str] = ()
) -> tuple[dict[str, Any], list[Positions]]:
    """Read X, y and qid of the documents in all files, and the rows of each file."""
    parts = [reader.read(paths[0], keep=keep)[0]]
    names = set(getattr(parts[0].X, "columns", ()))
    schema = None if names else Schema.learn(parts[0].X)  # for the width of LETOR files
    for path in paths[1:]:
        parts.append(reader.read(path, schema, keep)[0])
        if odd := sorted(names.symmetric_difference(getattr(parts[-1].X, "columns", ()))):
            raise ValueError(f"{path}: expected the columns of {paths[0]}; they differ in {odd}")
    tables = [part.X for part in parts]
    if names:
        X = import_optional("pandas").concat(tables, ignore_index=True)
    else:
        X = _numbered(stacked(tables))
    y = np.concatenate([part.y for part in parts])
    qid = np.concatenate([part.queries.qid for part in parts])
    ends = np.cumsum([len(part.y) for part in parts])
    return {"X": X, "y": y, "qid": qid}, np.split(np.arange(len(y)), ends[:-1])


def _numbered(X: Any) -> Any:
    """Let columns be called by their numbers in LETOR files, from 1."""
    return LetorMatrix(X) if sp.issparse(X) else X.view(LetorArray)


def read_numbers(path: str, name: str, mask: Mask) -> Vector:
    """Read a number for each document, from a text with one a line or a table's scores."""
    if table_format(path):
        table = read_table(path)
        if SCORE not in table:
            raise ValueError(f"{path}: expected a column {SCORE!r}, got the columns {[*table]}")
        values = table[SCORE]
    else:
        lines = read_lines(path)
        values = [_number(text, f"{path}, line {line}") for line, text in enumerate(lines, 1)]
    with error_context(f"{path}: "):
        return check_finite(values, name, len(mask))[mask]


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{where}: expected a number, got {quoted(text)}") from None


def table_format(path: str) -> str | None:
    """Tell tables from LETOR files, by name or by what standard input holds.

    They are .parquet, .csv and .tsv, perhaps with .gz, and folders.
    """
    if path == STDIN:
        return _format_of_stream(sys.stdin)
    name = path.lower()
    if name.endswith(".parquet") or Path(path).is_dir():
        return ".parquet"
    suffix = name.removesuffix(".gz")[-4:]
    return suffix if suffix in SEPARATORS else None


@cache  # since what has been read cannot be looked at again
def _format_of_stream(stream: TextIO) -> str | None:
    """Tell the format of a table from its first line, after comments of LETOR files."""
    peek = getattr(getattr(stream, "buffer", None), "peek", bytes)
    head: bytes = peek()
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(GZIP):
        head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head)
    line = re.sub(rb"(?m)^#.*", b"", head).lstrip().partition(b"\n")[0]
    if re.search(rb"\sqid:", line):
        return None
    return next((form for form, sign in SEPARATORS.items() if sign.encode() in line), None)


def read_table(
    path: str, is_text: Callable[[str], bool] = lambda _: False, codes: Collection[str] = ()
) -> Any:
    """Read a table as a pandas data frame.

    In CSV, columns for which `is_text` holds are text, kept as it is ("NA" and "007"), and `codes`
    are integers if all of their values are, else text. An empty text is a missing value.
    """
    pandas = import_optional("pandas", "tables")
    source: Any = io.BytesIO(read_bytes(path)) if path == STDIN else path
    form = str(table_format(path))
    try:
        if form == ".parquet":
            return pandas.read_parquet(source).rename(columns=str)
        options = {"sep": SEPARATORS[form], "low_memory": False, "keep_default_na": False}
        read_csv = partial(pandas.read_csv, source, **options)
        # Two rows: where the second has more values, pandas would take the first one for an index.
        names = read_csv(header=None, nrows=2, dtype=str).iloc[0].tolist()
        _check_header(names)
        texts = {name for name in names if name in codes or is_text(name)}
        missing = {name: [""] if name in texts else MISSING for name in names}
        if path == STDIN:
            source.seek(0)
        frame = read_csv(dtype=dict.fromkeys(texts, str), na_values=missing)
    except (OSError, ValueError) as error:  # what is no gzip file is an OSError without a name
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise ValueError(f"{path}: {error}") from None
    for name in texts.intersection(codes):
        if frame[name].str.fullmatch(INTEGER, na=False).all():
            frame[name] = frame[name].astype("int64")
    return frame


def _check_header(names: list[Any]) -> None:
    for name in names:
        if not name or names.count(name) > 1:
            hint = "" if name else " A saved index is read back as a column without a name."
            raise ValueError(f"expected a different name for each column, got {name!r}.{hint}")


def write_table(path: str, source: str, columns: Mapping[str, Any], scores: Vector) -> None:
    """Write the columns of a file, and scores, as a table in the format of its name."""
    if SCORE in columns:
        raise ValueError(f"{source} must not have a column {SCORE!r} of its own.")
    frame = import_optional("pandas", "tables").DataFrame({**columns, SCORE: scores})
    with written(path) as file:
        form = str(table_format(path))
        if form == ".parquet":
            frame.to_parquet(file, index=False)
        else:
            frame.to_csv(file, sep=SEPARATORS[form], index=False)
