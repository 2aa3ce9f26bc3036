"""Reading LETOR / SVMlight files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_number, quoted
from gbrank.data.schema import Features
from gbrank.datasets.letor_parser import (
    EXPECTED,
    INEXACT,
    WIDEST,
    WIDEST_AT,
    ParsedLines,
    parse,
    scatter,
    token_end,
)
from gbrank.datasets.text_files import INTEGER, StrPath, read_bytes

QueryIds: TypeAlias = NDArray[np.int64] | NDArray[np.str_]

_MAX_FEATURES = 2**31 - 1  # LightGBM, XGBoost and scikit-learn's trees count columns in 32 bits
_DENSE_CELLS = 2**27  # 1 GiB of float64
_DENSE_CELLS_PER_ENTRY = 50
_QUERY_CHARACTERS = 2**28  # 1 GiB, at 4 bytes each


@overload
def read_letor(
    path: StrPath,
    *,
    sparse: bool = ...,
    comments: Literal[False] = ...,
    n_features: int | None = ...,
) -> tuple[Features, Vector, QueryIds]: ...


@overload
def read_letor(
    path: StrPath, *, sparse: bool = ..., comments: Literal[True], n_features: int | None = ...
) -> tuple[Features, Vector, QueryIds, list[str]]: ...


def read_letor(
    path: StrPath, *, sparse: bool = False, comments: bool = False, n_features: int | None = None
) -> tuple[Features, Vector, QueryIds] | tuple[Features, Vector, QueryIds, list[str]]:
    r"""Read documents with labels, queries and features from a LETOR (SVMlight) file.

    One document a line, ``label qid:query index:value index:value ... #comment``. Indices start
    at 1 and increase along the line; index i becomes column i - 1. Blank lines and lines with
    only a comment are skipped. Numbers are rounded as by Python's `float`. `write_letor` is the
    inverse.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8, plain or compressed with gzip (told by its content, not its name);
        comments that are not returned may hold any bytes. One that unpacks to more than 1 GiB and
        more than 100 times its size is refused.
    sparse : bool, default False
        Return X sparse, with exactly the entries of the file, zeros too. XGBoost takes those that
        are not stored for missing values, LightGBM and scikit-learn for zeros.
    comments : bool, default False
        Return the comments too.
    n_features : int, optional
        Number of columns of X; a larger index is then an error. By default the largest index.

    Returns
    -------
    X : ndarray of float64, shape (n_documents, n_features), or scipy.sparse.csr_matrix
        Features; 0 where the file has none, NaN where it says ``nan``.
    y : ndarray of float64, shape (n_documents,)
        Labels.
    qid : ndarray of int64 or str, shape (n_documents,)
        Queries: int64 if every one is an int64 in its usual notation, which ``007`` is not.
    comments : list of str, length n_documents
        What follows the first ``#`` of the line, without surrounding white space; only with
        ``comments=True``.

    Raises
    ------
    ValueError
        If the file is not of this form: "path, line, column: expected ..., got ...", line and
        column counted from 1. Among others: an infinite value, an infinite or NaN label, an index
        that repeats, no documents; an index so large that a dense X would take both more than
        1 GiB and more than 50 cells an entry; a query so long that qid would take more than 1 GiB.

    References
    ----------
    T. Qin, T.-Y. Liu. Introducing LETOR 4.0 datasets. arXiv:1306.2597, 2013.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank.datasets import read_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.txt")
    ...     _ = path.write_text("2 qid:10 1:0.5 3:nan # the best\n0 qid:10 2:1e-3\n")
    ...     X, y, qid, comments = read_letor(path, comments=True)
    >>> X
    array([[0.5  , 0.   ,   nan],
           [0.   , 0.001, 0.   ]])
    >>> y, qid, comments
    (array([2., 0.]), array([10, 10]), ['the best', ''])
    """
    letor = parse_letor(path, n_features)
    documents = (letor.features(sparse), letor.labels, letor.queries())
    return (*documents, letor.comments()) if comments else documents


def parse_letor(path: StrPath, n_features: int | None) -> Letor:
    """Read a file; what is wrong with it is an error here, or where its parts are asked for."""
    limit = _MAX_FEATURES
    if n_features is not None:
        limit = check_number(n_features, "n_features", 1, _MAX_FEATURES, integer=True)
    data = read_bytes(path)
    source = _Source(path, data if data.endswith(b"\n") else data + b"\n")
    return Letor(source, _parse_source(source, limit), n_features)


@dataclass(frozen=True)
class _Source:
    """The bytes of a file, ending in a newline, and its path."""

    path: StrPath
    data: bytes

    def place(self, at: int) -> str:
        """Return the file, line and column of byte `at`."""
        line = self.data.count(b"\n", 0, at) + 1
        before = self.data[self.data.rfind(b"\n", 0, at) + 1 : at].decode(errors="replace")
        return f"{os.fspath(self.path)}, line {line}, column {len(before) + 1}"

    def token(self, at: int) -> str:
        """Return the token at byte `at`."""
        end = token_end(np.frombuffer(self.data, np.uint8), at)
        return self.data[at:end].decode(errors="replace")

    def fault(self, at: int, expected: str, end: int | None = None) -> ValueError:
        """Build the error for the token at byte `at`, which ends at `end` or where a token does."""
        got = self.token(at) if end is None else self.data[at:end].decode(errors="replace")
        return ValueError(f"{self.place(at)}: expected {expected}, got {quoted(got)}")

    def text(self, start: int, end: int) -> str:
        try:
            return self.data[start:end].decode()
        except UnicodeDecodeError:
            raise self.fault(start, "text in UTF-8", end) from None


@dataclass(frozen=True)
class Letor:
    """What a file holds."""

    source: _Source
    table: ParsedLines
    n_features: int | None  # None: as many as the largest index

    @property
    def labels(self) -> Vector:
        """The label of each document."""
        return self.table.labels

    def features(self, sparse: bool) -> Features:
        """Return X."""
        table = self.table
        width = int(table.counts[WIDEST]) if self.n_features is None else self.n_features
        if sparse:
            # LightGBM converts anything but a csr_matrix, with a warning.
            entries = (table.values, table.columns, table.offsets)
            return sp.csr_matrix(entries, shape=(len(table.labels), width))
        _check_dense_size(self.source, table, width, self.n_features)
        X = np.zeros((len(table.labels), width))
        scatter(table.offsets, table.columns, table.values, X)
        return X

    def queries(self) -> QueryIds:
        """Return the query of each document."""
        return _query_ids(self.source, self.table)

    def comments(self) -> list[str]:
        """Return what follows the first # of each document's line."""
        text, data = self.source.text, self.source.data
        spans = ((at, data.index(b"\n", at)) for at in self.table.features_end.tolist())
        return [text(min(at + 1, end), end).strip() for at, end in spans]

    def label_in_file(self, document: int) -> tuple[str, str]:
        """Return where the label of a document is, and how it is written there."""
        data, end = self.source.data, int(self.table.features_end[document])
        start = data.rfind(b"\n", 0, end) + 1
        at = end - len(data[start:end].lstrip())
        return self.source.place(at), self.source.token(at)


def _parse_source(source: _Source, limit: int) -> ParsedLines:
    nul = source.data.find(b"\0")
    if nul >= 0:
        raise source.fault(nul, "text without NUL bytes")
    n_lines, n_colons = source.data.count(b"\n"), source.data.count(b":")
    table = ParsedLines(
        counts=np.zeros(6, dtype=np.int64),
        labels=np.empty(n_lines),
        features_end=np.empty(n_lines, dtype=np.int64),
        offsets=np.zeros(n_lines + 1, dtype=np.int64),
        columns=np.empty(n_colons, dtype=np.int32),
        values=np.empty(n_colons),
        queries=np.empty((n_lines, 3), dtype=np.int64),
        inexact=np.empty((n_lines + n_colons, 3), dtype=np.int64),
    )
    fault, at, bound = parse(np.frombuffer(source.data, np.uint8), limit, table)
    _round_inexact(source, table)
    if fault:
        raise source.fault(at, EXPECTED[fault].format(bound))
    documents, entries, queries, *_ = table.counts.tolist()
    if not documents:
        raise source.fault(0, "a document, label qid:<query> <index>:<value> ...", end=0)
    return table._replace(
        labels=table.labels[:documents],
        features_end=table.features_end[:documents],
        offsets=table.offsets[: documents + 1],
        columns=table.columns[:entries],
        values=table.values[:entries],
        queries=table.queries[:queries],
    )


def _round_inexact(source: _Source, table: ParsedLines) -> None:
    """Let Python round the numbers that the parser could not round exactly."""
    slots, starts, ends = table.inexact[: table.counts[INEXACT]].T
    spans = zip(starts, ends, strict=True)  # no lists: they would be larger than the file
    texts = (source.data[start:end] for start, end in spans)
    numbers = np.fromiter(map(float, texts), np.float64, len(slots))
    overflows = np.flatnonzero(np.isinf(numbers))
    if overflows.size:
        raise source.fault(int(starts[overflows[0]]), "a number within the range of float64")
    is_label = slots < 0
    table.labels[~slots[is_label]] = numbers[is_label]
    table.values[slots[~is_label]] = numbers[~is_label]


def _check_dense_size(source: _Source, table: ParsedLines, width: int, asked: int | None) -> None:
    documents, entries = len(table.labels), len(table.values)
    cells = max(_DENSE_CELLS, _DENSE_CELLS_PER_ENTRY * entries)
    if documents * width <= cells:
        return
    remedy = f"at most {cells // documents} (dense X of {documents} documents; try sparse=True)"
    if asked is not None:
        raise ValueError(f"n_features must be {remedy}, got {asked}.")
    raise source.fault(int(table.counts[WIDEST_AT]), f"an index of {remedy}")


def _query_ids(source: _Source, table: ParsedLines) -> QueryIds:
    firsts, starts, ends = table.queries.T
    sizes = np.diff(firsts, append=len(table.labels))

    def names() -> Iterator[str]:
        return map(source.text, starts, ends)

    if all(map(_is_int64, names())):
        return np.repeat(np.fromiter(map(int, names()), np.int64, len(firsts)), sizes)
    width = max(map(len, names()))
    most = _QUERY_CHARACTERS // len(table.labels)
    if width > most:
        longest = int(np.argmax(ends - starts))
        raise source.fault(starts[longest], f"a query of at most {most} characters", ends[longest])
    return np.repeat(np.fromiter(names(), f"U{width}", len(firsts)), sizes)


def _is_int64(name: str) -> bool:
    return bool(re.fullmatch(INTEGER, name)) and -(2**63) <= int(name) < 2**63
