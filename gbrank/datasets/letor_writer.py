"""Writing LETOR / SVMlight files."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse as sp

from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import check_finite, check_vector
from gbrank.data.feature_matrix import Features, check_matrix, refuse_infinite
from gbrank.datasets.text_files import EXACT_INTEGERS, StrPath, check_names, written

_COMMENT = re.compile(r"[^\n\r\0\ud800-\udfff]*")


def write_letor(
    path: StrPath,
    X: Features,
    y: ArrayLike,
    qid: ArrayLike,
    *,
    comments: Sequence[str] | None = None,
) -> None:
    """Write documents with labels, queries and features to a LETOR (SVMlight) file.

    `read_letor` gives back the same bits: numbers are written with the fewest digits that do so.
    Zeros of a dense X are left out (but not -0.0), as is what a sparse X does not store: where
    whole columns at the end are, read with ``n_features=X.shape[1]``.

    Parameters
    ----------
    path : str or path-like
        The file, overwritten if it exists. A name ending in ``.gz`` is compressed with gzip;
        equal data make equal bytes.
    X : array-like or SciPy sparse array, shape (n_documents, n_features)
        Features: finite, or NaN for a missing value.
    y : array-like, shape (n_documents,)
        Labels, finite.
    qid : array-like of int or str, shape (n_documents,)
        Queries; strings without white space and ``#``. Rows are written in the order given.
    comments : sequence of str, length n_documents, optional
        One line of text for each document, or ``""``. Reading strips white space around it.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank.datasets import write_letor
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
        if widest > EXACT_INTEGERS:
            raise ArgumentError("X", "must hold integers of at most 2**53 in size", f"{widest}")
    X = check_matrix(X)
    refuse_infinite(X, None)
    length = X.shape[0]
    labels = check_finite(check_vector(y, "y", length), "y")
    names = check_names(qid, "qid", length, unwanted="#")
    remarks = [""] * length if comments is None else list(comments)
    if len(remarks) != length:
        raise ArgumentError("comments", f"must have {length} entries", f"{len(remarks)}")
    for row, remark in enumerate(remarks):
        if not isinstance(remark, str) or not _COMMENT.fullmatch(remark):
            demand = "must hold one line of text each"
            raise ArgumentError("comments", demand, f"{remark!r} in row {row}")
    with written(path) as file:
        file.writelines(map(_line, labels.tolist(), names, _entries(X), remarks))


def _entries(X: Features) -> Iterator[tuple[list[int], list[float]]]:
    """Yield the columns and the values that are written, row by row."""
    if sp.issparse(X):
        for start, end in pairwise(X.indptr.tolist()):
            yield X.indices[start:end].tolist(), X.data[start:end].tolist()
    else:
        for row in X:
            columns = np.flatnonzero((row != 0) | np.signbit(row))
            yield columns.tolist(), row[columns].tolist()


def _line(label: float, name: str, entries: tuple[list[int], list[float]], remark: str) -> bytes:
    features = (f"{column + 1}:{_digits(value)}" for column, value in zip(*entries, strict=True))
    tail = [f"#{remark}"] if remark else []
    return (" ".join([_digits(label), f"qid:{name}", *features, *tail]) + "\n").encode()


def _digits(value: float) -> str:
    return repr(value).removesuffix(".0")
