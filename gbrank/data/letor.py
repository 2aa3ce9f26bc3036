"""LETOR / SVMlight files."""

from __future__ import annotations  # short signatures in the documentation

import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse as sp

from gbrank.common.checks import ArgumentError, Array, check_finite, check_integer, quoted
from gbrank.common.files import StrPath

from .feature_matrix import Features, check_matrix, check_no_infinity
from .text_files import LARGEST_EXACT, check_names, read_bytes, write_lines

_MAX_FEATURES = 2**31 - 1  # LightGBM, XGBoost and scikit-learn's trees count columns in 32 bits
_DENSE_CELLS = 2**27  # 1 GiB of float64
_DENSE_CELLS_PER_ENTRY = 50

_LINE = re.compile(rb"^[^#\n]*", re.MULTILINE)  # without its comment
_DOCUMENT = re.compile(
    rb"^[^\S\n]*(?P<label>[^\s#]+)[^\S\n]+qid:(?P<qid>[^\s#]+)[^#\n]*(#(?P<comment>.*))?",
    re.MULTILINE,
)
_TOKEN = re.compile(rb"\S+")
_INDEX = re.compile(rb"0*([1-9][0-9]{0,9})")
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_MISSING = re.compile(rb"(?i:[+-]?nan)|NULL")
_UNDERSCORE = re.compile(rb"^[^#\n]*[0-9]_[0-9]", re.MULTILINE)  # which Python drops in numbers
_COMMENT = re.compile(r"[^\n\r\0\ud800-\udfff]*")


def read_letor(
    path: StrPath, *, sparse: bool = False, comments: bool = False, n_features: int | None = None
) -> tuple[Any, ...]:
    r"""Read documents with labels, queries and features from a LETOR (SVMlight) file.

    One document per line, ``label qid:query index:value index:value ... #comment``. Indices start
    at 1 and increase along the line; index i becomes column i - 1. Blank lines and lines with only
    a comment are skipped. Numbers are rounded like Python's `float`. `write_letor` is the inverse.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8, plain or compressed with gzip (detected by its content, not its name);
        comments that are not returned may hold any bytes; "-" for standard input.
    sparse : bool, default False
        Return X sparse, with exactly the entries of the file, including zeros. XGBoost treats
        entries that are not stored as missing values, LightGBM and scikit-learn as zeros.
    comments : bool, default False
        Return the comments too.
    n_features : int, optional
        Number of columns of X; a larger index is then an error. By default the largest index.

    Returns
    -------
    X : ndarray of float64, shape (n_documents, n_features), or scipy.sparse.csr_matrix
        Features; 0 where the file has no entry, NaN for ``nan`` or, as in MQ2007, ``NULL``.
    y : ndarray of float64, shape (n_documents,)
        Labels.
    qid : ndarray of int64 or str, shape (n_documents,)
        Query ids: int64 if each is an int64 in its usual notation, which ``007`` is not.
    comments : list of str, length n_documents
        The text after the first ``#`` of the line, without surrounding white space; only with
        ``comments=True``.

    Raises
    ------
    ValueError
        If the file is not of this form: "path, line, column: expected ..., got ...", with line and
        column counted from 1. Among others: an infinite value, an infinite or NaN label, a repeated
        index, no documents, or an index so large that a dense X would take both more than 1 GiB and
        more than 50 cells per entry.

    References
    ----------
    T. Qin, T.-Y. Liu. Introducing LETOR 4.0 datasets. arXiv:1306.2597, 2013.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank import read_letor
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
    letor = Letor(path, n_features)
    documents = (letor.features(sparse), letor.labels, letor.queries())
    return (*documents, letor.comments()) if comments else documents


class Letor:
    """A file and its parts; a fault in it is an error here, or where a part is read.

    scikit-learn reads the numbers. It takes more than this form and names no line: where it finds
    a fault, or what may be one, the lines are read again one by one.
    """

    def __init__(self, path: StrPath, n_features: int | None) -> None:
        from sklearn.datasets import load_svmlight_file  # takes long to import

        self._path = path
        self._n_features = check_integer(n_features, "n_features", 1, _MAX_FEATURES, optional=True)
        limit = self._n_features or _MAX_FEATURES
        self._data = read_bytes(path).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if (nul := self._data.find(b"\0")) >= 0:
            token = _TOKEN.match(self._data, nul)
            raise self._fault(nul, "text without NUL bytes", token[0] if token else b"")
        try:
            numbers = io.BytesIO(self._data.replace(b":NULL", b":nan"))
            X, self.labels = load_svmlight_file(numbers, zero_based=False)
        except (ValueError, OverflowError):
            self._check_lines(limit)
            raise
        names: dict[bytes, int] = {}
        codes = (names.setdefault(match["qid"], len(names)) for match in self._documents())
        self._codes = np.fromiter(codes, np.int64)
        self._names = list(names)
        finite = np.isfinite(self.labels).all() and not np.isinf(X.data).any()
        whole = len(self._codes) == len(self.labels) > 0 and X.indices.max(initial=0) < limit
        if not (finite and whole) or _UNDERSCORE.search(self._data):
            self._check_lines(limit)
        width = self._n_features or int(X.indices.max(initial=-1)) + 1
        # LightGBM converts anything but a csr_matrix, with a warning.
        self._X = sp.csr_matrix((X.data, X.indices, X.indptr), (len(self.labels), width))

    def features(self, sparse: bool) -> Features:
        """Return X."""
        if sparse:
            return self._X
        n_documents, width = self._X.shape
        cells = max(_DENSE_CELLS, _DENSE_CELLS_PER_ENTRY * self._X.nnz)
        if n_documents * width > cells:
            limit = cells // n_documents
            hint = f" (dense X of {n_documents} documents; try sparse=True)"
            if self._n_features is not None:
                raise ArgumentError("n_features", f"must be at most {limit}{hint}", f"{width}")
            self._check_lines(limit, hint)
        X = np.zeros((n_documents, width))  # toarray would make 0 of -0.0
        rows = np.repeat(np.arange(n_documents), np.diff(self._X.indptr))
        X[rows, self._X.indices] = self._X.data
        return X

    def queries(self) -> Array:
        """Decode the query of each document."""
        names = self._decoded("qid", self._names)
        if all(_INTEGER.fullmatch(name) and -(2**63) <= int(name) < 2**63 for name in names):
            return np.array(list(map(int, names)), np.int64)[self._codes]
        return np.array(names)[self._codes]

    def comments(self) -> list[str]:
        """Decode the text after the first # of each document's line."""
        texts = self._decoded("comment", [match["comment"] or b"" for match in self._documents()])
        return [text.strip() for text in texts]

    def label_error(self, document: int, hint: str) -> ValueError:
        """Build the error for the negative label of a document."""
        match = next(islice(self._documents(), document, None))
        return self._fault(match.start("label"), f"a label of at least 0{hint}", match["label"])

    def _documents(self) -> Iterator[re.Match[bytes]]:
        return _DOCUMENT.finditer(self._data)

    def _decoded(self, part: str, texts: Iterable[bytes]) -> list[str]:
        """Decode a part of all documents."""
        try:
            return [text.decode() for text in texts]
        except UnicodeDecodeError as error:
            faulty = error.object
        match = next(match for match in self._documents() if match[part] == faulty)
        raise self._fault(match.start(part), "text in UTF-8", faulty)

    def _check_lines(self, limit: int, hint: str = "") -> None:
        """Raise the first fault in the file."""
        empty = True
        for line in _LINE.finditer(self._data):
            if not (tokens := list(_TOKEN.finditer(self._data, *line.span()))):
                continue
            empty = False
            label, *others = tokens
            self._check_number(label.start(), label[0], "a finite number as label")
            if not others:
                raise self._fault(line.end(), "qid:<query>", b"")
            if not re.fullmatch(rb"qid:.+", others[0][0]):
                raise self._fault(others[0].start(), "qid:<query>", others[0][0])
            last = 0
            for token in others[1:]:
                text, colon, value = token[0].partition(b":")
                digits = _INDEX.fullmatch(text)
                index = int(digits[1]) if digits and colon else 0
                if not 1 <= index <= limit:
                    form = f"<index>:<value> with an index from 1 to {limit}{hint}"
                    raise self._fault(token.start(), form, token[0])
                if index <= last:
                    raise self._fault(token.start(), f"an index above {last}", token[0])
                last = index
                if not _MISSING.fullmatch(value):
                    at = token.end() - len(value)
                    self._check_number(at, value, "a finite number, nan or NULL")
        if empty:
            raise self._fault(0, "a document, label qid:<query> <index>:<value> ...", b"")

    def _check_number(self, at: int, text: bytes, form: str) -> None:
        if not _NUMBER.fullmatch(text):
            raise self._fault(at, form, text)
        if np.isinf(float(text)):
            raise self._fault(at, "a number within the range of float64", text)

    def _fault(self, at: int, expected: str, got: bytes) -> ValueError:
        """Build the error of byte `at`, with its file, line and column."""
        line = self._data.count(b"\n", 0, at) + 1
        before = self._data[self._data.rfind(b"\n", 0, at) + 1 : at].decode(errors="replace")
        where = f"{os.fspath(self._path)}, line {line}, column {len(before) + 1}"
        shown = quoted(got.decode(errors="replace"))
        return ValueError(f"{where}: expected {expected}, got {shown}")


def write_letor(
    path: StrPath,
    X: Features,
    y: ArrayLike,
    qid: ArrayLike,
    *,
    comments: Sequence[str] | None = None,
) -> None:
    """Write documents with labels, queries and features to a LETOR (SVMlight) file.

    `read_letor` restores the same bits: numbers are written with the fewest digits that ensure
    this. Zeros of a dense X are omitted (but not -0.0), and so are entries that a sparse X does not
    store. If this omits whole columns at the end, read with ``n_features=X.shape[1]``.

    Parameters
    ----------
    path : str or path-like
        The file, overwritten if it exists. A name ending in ``.gz`` is compressed with gzip; equal
        data give equal bytes.
    X : array-like or SciPy sparse array, shape (n_documents, n_features)
        Features: finite, or NaN for a missing value.
    y : array-like, shape (n_documents,)
        Finite labels.
    qid : array-like of int or str, shape (n_documents,)
        Query ids; strings without white space and ``#``. Rows are written in their order.
    comments : sequence of str, length n_documents, optional
        One line of text for each document, or ``""``. Reading strips white space around it.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank import write_letor
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "test.txt")
    ...     write_letor(path, [[0.1, 0.0], [0.0, -3.0]], [1, 0], ["a", "a"], comments=["x", ""])
    ...     print(path.read_text(), end="")
    1 qid:a 1:0.1 #x
    0 qid:a 2:-3
    """
    numbers = X.data if sp.issparse(X) else np.asarray(X)
    if numbers.dtype.kind in "iu" and numbers.size:
        widest = max(int(numbers.max()), -int(numbers.min()))
        if widest > LARGEST_EXACT:
            raise ArgumentError("X", "must hold integers of at most 2**53 in size", f"{widest}")
    X = check_matrix(X)
    check_no_infinity(X, None)
    length = X.shape[0]
    labels = check_finite(y, "y", length)
    names = check_names(qid, "qid", length, unwanted="#")
    remarks = [""] * length if comments is None else list(comments)
    if len(remarks) != length:
        raise ArgumentError("comments", f"must have {length} entries", f"{len(remarks)}")
    for row, remark in enumerate(remarks):
        if not isinstance(remark, str) or not _COMMENT.fullmatch(remark):
            raise ArgumentError(
                "comments", "must hold one line of text each", f"{remark!r} in row {row}"
            )
    rows = zip(labels.tolist(), names, _features(X), remarks, strict=True)
    write_lines(
        path,
        (
            f"{_digits(label)} qid:{name}{features}{' #' if remark else ''}{remark}"
            for label, name, features, remark in rows
        ),
    )


def _features(X: Features) -> Iterator[str]:
    """Format the columns and the values that are written, row by row."""
    for row in range(X.shape[0]):
        if sp.issparse(X):
            stored = slice(X.indptr[row], X.indptr[row + 1])
            columns = X.indices[stored]
            values = X.data[stored]
        else:
            columns = np.flatnonzero((X[row] != 0) | np.signbit(X[row]))
            values = X[row, columns]
        entries = zip(columns.tolist(), values.tolist(), strict=True)
        yield "".join(f" {column + 1}:{_digits(value)}" for column, value in entries)


def _digits(value: float) -> str:
    return repr(value).removesuffix(".0")
