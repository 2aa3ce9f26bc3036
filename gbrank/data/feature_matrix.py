"""Features as matrices: arrays and sparse matrices of real numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from gbrank.common.checks import (
    ArgumentError,
    ArgumentTypeError,
    Array,
    check_unmasked,
    error_context,
    quoted,
    shortened,
)

BLOCK = 2**22  # how many numbers of a sparse matrix are an array at once
Features: TypeAlias = Any  # ndarray or csr_matrix: SciPy has no types of its own


class LetorArray(np.ndarray):
    """Features of a LETOR file; parts of them keep the class."""

    counted_from = 1  # the number of the first column


class LetorMatrix(sp.csr_matrix):
    """Sparse features of a LETOR file."""

    counted_from = 1


def check_matrix(X: Any) -> Features:
    """Convert features to real numbers in two dimensions, in single precision where they are.

    A sparse matrix becomes CSR, with each entry once; what is no matrix of numbers is converted by
    scikit-learn's rules.
    """
    check_unmasked(X, "X", "fill it with NaN, which is missing")
    matrix: Features = X if sp.issparse(X) else np.asarray(X)
    check_not_empty(matrix.shape)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        from sklearn import config_context  # takes long to import, and a service has none
        from sklearn.utils import check_array

        try:
            with config_context(assume_finite=True):  # NaN is missing
                matrix = check_array(matrix, accept_sparse=True, input_name="X")
        except (ValueError, TypeError) as error:
            raise type(error)(
                f"X must hold numbers in two dimensions: {shortened(str(error), 300)}"
            ) from None
    dtype = np.float32 if matrix.dtype == np.float32 else np.float64
    if not sp.issparse(X):
        return matrix.astype(dtype, copy=False)
    if hasattr(matrix, "check_format"):  # compiled code trusts its indices
        with error_context(f"X is a damaged {matrix.format.upper()} matrix: "):
            matrix.check_format(full_check=True)
    matrix = sp.csr_matrix(matrix, dtype=dtype)  # without flags on the order of entries
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def objects_of(X: Any) -> Features:
    """Convert features, some of which are categories, to an array of objects."""
    check_unmasked(X, "X", "fill it with NaN, which is missing")
    if sp.issparse(X):
        raise ArgumentError(
            "X",
            "must be a data frame, as in fit, which had categories",
            f"a sparse {type(X).__name__}",
        )
    values = np.array(X, dtype=object)
    check_not_empty(values.shape)
    return values


def n_rows(X: Any) -> int:
    """Count the rows of a table."""
    by_name = isinstance(X, Mapping) and not sp.issparse(X)  # SciPy's DOK is a mapping, too
    column = next(iter(X.values()), ()) if by_name else X
    if not getattr(column, "shape", hasattr(column, "__len__")):
        raise ArgumentTypeError("X", "must be an array or a data frame", quoted(X))
    return int(column.shape[0]) if hasattr(column, "shape") else len(column)


def check_not_empty(shape: tuple[int, ...]) -> None:
    """Check that a table has rows and columns."""
    if 0 in shape:
        got = f"{shape[0]} sample(s) and {shape[-1]} feature(s) (shape={shape})"
        raise ArgumentError(
            "X",
            "must have at least one row and one column",
            f"{got} while a minimum of 1 is required",
        )


def check_no_infinity(matrix: Features, names: list[str] | None) -> None:
    """Check that no value is infinite."""
    if (infinite := first_entry(matrix, np.isinf)) is None:
        return
    value, row, column = infinite
    name = column if names is None else names[column]
    raise ArgumentError(
        "X",
        "must not hold infinite values; use NaN for missing ones",
        f"{value} in row {row} of column {name!r}",
    )


def first_entry(matrix: Features, test: np.ufunc) -> tuple[float, int, int] | None:
    """Find the value, the row and the column of the first entry that a test holds for."""
    if not np.count_nonzero(test(matrix.data if sp.issparse(matrix) else matrix)):
        return None  # much faster than any() for a few rows
    entries = sp.coo_matrix(matrix)
    first = int(np.argmax(test(entries.data)))
    return entries.data[first], int(entries.row[first]), int(entries.col[first])


def as_dense(X: Features) -> Features:
    """Convert a sparse matrix to an array; return anything else unchanged."""
    return X.toarray() if sp.issparse(X) else X


def dense_column(X: Features, column: int) -> Array:
    """Copy a column, as an array."""
    values: Array = as_dense(X[:, [column]])[:, 0]
    return values


def stacked(parts: Sequence[Features]) -> Features:
    """Stack rows, as a sparse matrix if the first ones are."""
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def dense_blocks(X: Features) -> Iterator[Features]:
    """Yield the rows of a sparse matrix as arrays, some at a time; an array as it is."""
    step = max(1, BLOCK // X.shape[1]) if sp.issparse(X) else max(1, X.shape[0])
    for start in range(0, max(1, X.shape[0]), step):
        yield as_dense(X[start : start + step])
