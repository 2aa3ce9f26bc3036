"""Features read in batches, for data larger than memory; functions here take arrays too."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from gbrank.common.argument_error import found_in
from gbrank.common.checks import check_number
from gbrank.common.interrupts import interrupts_held
from gbrank.data.frames import as_frame, as_numbers
from gbrank.data.schema import (
    Features,
    Schema,
    as_dense,
    checked_frame,
    checked_matrix,
    column_names,
    column_places,
)

BLOCK = 2**23  # how many numbers a block has at most


class FeatureBatches:
    """Features that are never in memory at once: they are read in batches whenever needed.

    They take the place of X in `GBRanker`'s `fit` (also in `eval_set`), `predict`, `rank` and
    `score`; labels, queries and weights are arrays as ever, of all rows. Rows of a query need not
    be in one batch. LightGBM reads the batches twice before the first round and keeps one byte a
    number; XGBoost reads them three times and keeps one byte a number in temporary files (in the
    folder that the environment variable TMPDIR names). A checkpoint, categories by name, and custom
    measures with columns read them once more each.

    Parameters
    ----------
    read : callable
        Returns an iterator over batches: arrays, sparse matrices or data frames with all columns
        and some of the rows. It is called for each pass; rows and their order must be the same.
    shape : tuple of int
        The numbers of all rows, and of columns.
    progress : bool
        Whether each pass shows a progress bar.

    Raises
    ------
    ValueError
        While reading, if the batches do not have this shape.

    Examples
    --------
    Two batches, made anew in each pass:

    >>> import numpy as np
    >>> from gbrank import GBRanker
    >>> from gbrank.datasets import FeatureBatches
    >>> def read():
    ...     for seed in (0, 1):
    ...         yield np.random.default_rng(seed).normal(size=(500, 3))
    >>> X = FeatureBatches(read, (1000, 3))
    >>> y = np.concatenate([batch[:, 0] > 0 for batch in read()])
    >>> qid = np.repeat(np.arange(100), 10)
    >>> ranker = GBRanker(n_estimators=10, random_state=0).fit(X, y, qid=qid)
    >>> round(ranker.score(X, y, qid), 2)
    1.0
    """

    def __init__(
        self, read: Callable[[], Iterable[Any]], shape: tuple[int, int], *, progress: bool = False
    ) -> None:
        if not callable(read):
            raise TypeError(
                "read must be a function that returns an iterator over batches, which is read "
                f"more than once, got {type(read).__name__}."
            )
        rows, columns = (check_number(size, "shape", 1, integer=True) for size in shape)
        self.shape: tuple[int, int] = (rows, columns)
        self.read = read
        self._progress = progress

    def __iter__(self) -> Iterator[Any]:
        """Yield all batches once."""
        return (batch for _, batch in self._numbered())

    def _numbered(self) -> Iterator[tuple[int, Any]]:
        """Yield all batches once, each with the number of its first row."""
        from gbrank.common.progress import Bar  # tqdm, which services do without

        n_rows, n_columns = self.shape
        done = 0
        options = {"total": n_rows, "disable": not self._progress}
        with Bar(desc="reading", unit="row", unit_scale=True, **options) as bar:
            for batch in self.read():
                if len(batch.shape) != 2 or batch.shape[1] != n_columns:
                    raise ValueError(
                        f"X must have batches of {n_columns} columns, got one of shape "
                        f"{tuple(batch.shape)} at row {done}."
                    )
                start, done = done, done + batch.shape[0]
                if done > n_rows:
                    break
                yield start, batch
                bar.update(batch.shape[0])
        if done != n_rows:
            got = f"{done}" if done < n_rows else "more"
            raise ValueError(f"X must have batches of {n_rows} rows together, got {got}.")

    def __getitem__(self, rows: NDArray[np.int64]) -> FeatureBatches:
        """Return some of the rows, given by ascending numbers."""
        chosen = np.asarray(rows)
        if (np.diff(chosen) <= 0).any():
            raise ValueError(
                "X must be in memory where its rows change their order, as for a booster's own "
                "objective on queries whose rows are no neighbours, got FeatureBatches."
            )

        def read() -> Iterator[Any]:
            for start, batch in self._numbered():
                first, last = np.searchsorted(chosen, [start, start + batch.shape[0]])
                if first < last:
                    frame = as_frame(batch, "X")
                    local = chosen[first:last] - start
                    yield batch[local] if frame is None else frame[local].to_native()

        return FeatureBatches(read, (len(chosen), self.shape[1]))

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse conversion to an array, which would read everything into memory."""
        raise TypeError(
            "X must be in memory here, got FeatureBatches: GBRanker's fit, predict, rank and "
            "score read them."
        )


def mapped(
    X: FeatureBatches, function: Callable[[int, Any], Any], n_columns: int | None = None
) -> FeatureBatches:
    """Return batches with a function of the first row's number and the batch applied to each."""

    def read() -> Iterator[Any]:
        for start, batch in X._numbered():
            with found_in(f"rows {start} to {start + batch.shape[0] - 1}: "):
                result = function(start, batch)
            yield result

    return FeatureBatches(read, (X.shape[0], n_columns or X.shape[1]))


def block_rows(X: FeatureBatches) -> int:
    """Return how many rows make a block of `BLOCK` numbers."""
    return max(1, BLOCK // X.shape[1])


def blocks(X: FeatureBatches, size: int) -> Iterator[Any]:
    """Yield all rows in dense arrays of `size` rows each; the last may be shorter."""
    parts: list[Any] = []
    n_buffered = 0
    for batch in X:
        start = 0
        while start < batch.shape[0]:
            part = batch[start : start + size - n_buffered]
            parts.append(as_dense(part))
            start += part.shape[0]
            n_buffered += part.shape[0]
            if n_buffered == size:
                yield np.concatenate(parts)
                parts, n_buffered = [], 0
    if parts:
        yield np.concatenate(parts)


def learn_schema(X: object, categorical_feature: Sequence[int | str] | None = None) -> Schema:
    """Learn the columns; of batches, from the first, or all if it leaves some open."""
    if not isinstance(X, FeatureBatches):
        return Schema.learn(X, categorical_feature)
    nothing = np.empty((0, X.shape[1]))
    first = Schema.learn(next(iter(X.read()), nothing), categorical_feature)
    if not first.categories and not first.empty:
        return first
    return Schema.union([Schema.learn(batch, categorical_feature) for batch in X])


def transformed(schema: Schema, X: Any) -> Features:
    """Return features as numbers; batches are converted when they are read."""
    if isinstance(X, FeatureBatches):
        return mapped(X, lambda _, batch: schema.transform(batch))
    return schema.transform(X)


def each_batch(function: Callable[[Features], NDArray[Any]], X: Features) -> NDArray[Any]:
    """Apply a booster's function to X, or to each batch, deferring Ctrl-C; join the results."""
    function = interrupts_held()(function)
    if isinstance(X, FeatureBatches):
        return np.concatenate([function(batch) for batch in X])
    return function(X)


def feature_columns(X: Any, wanted: Sequence[int | str]) -> NDArray[np.float64]:
    """Return columns of a table as numbers, shape (n_columns, n_documents)."""
    if isinstance(X, FeatureBatches):
        return np.concatenate([feature_columns(batch, wanted) for batch in X], axis=1)
    frame = checked_frame(X)
    if frame is None:
        matrix = checked_matrix(X)
        chosen = matrix[:, list(column_places(wanted, "columns", None, matrix.shape[1]))]
        return np.ascontiguousarray(as_dense(chosen).T, float)
    places = column_places(wanted, "columns", column_names(frame), frame.shape[1])
    demand = f"columns {list(wanted)} of X must hold numbers"
    return np.array([as_numbers(frame[:, place], demand) for place in places])
