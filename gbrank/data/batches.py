"""Features that are read in batches, since memory does not hold them, and those in memory alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from gbrank.common.checks import check_number
from gbrank.common.progress import Bar
from gbrank.data.frames import as_frame
from gbrank.data.schema import Features, Schema

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
        In a pass, if the batches do not have this shape.

    Examples
    --------
    Two batches, made anew in each pass:

    >>> import numpy as np
    >>> from gbrank import FeatureBatches, GBRanker
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
        """Read all batches once."""
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
                done += batch.shape[0]
                if done > n_rows:
                    break
                yield batch
                bar.update(batch.shape[0])
        if done != n_rows:
            found = f"{done}" if done < n_rows else "more"
            raise ValueError(f"X must have batches of {n_rows} rows together, got {found}.")

    def __getitem__(self, rows: NDArray[np.int64]) -> FeatureBatches:
        """Return some of the rows, given by ascending numbers."""
        chosen = np.asarray(rows)
        if (np.diff(chosen) <= 0).any():
            raise ValueError(
                "X must be in memory where its rows change their order, as for a booster's own "
                "objective on queries whose rows are no neighbours, got FeatureBatches."
            )

        def read() -> Iterator[Any]:
            start = 0
            for batch in self:
                first, last = np.searchsorted(chosen, [start, start + batch.shape[0]])
                if first < last:
                    frame = as_frame(batch, "X")
                    own = chosen[first:last] - start
                    yield batch[own] if frame is None else frame[own].to_native()
                start += batch.shape[0]

        return FeatureBatches(read, (len(chosen), self.shape[1]))

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse what would read everything into memory."""
        raise TypeError(
            "X must be in memory here, got FeatureBatches: GBRanker's fit, predict, rank and "
            "score read them."
        )


def mapped(X: FeatureBatches, function: Callable[[Any], Any]) -> FeatureBatches:
    """Return what a function makes of each batch, which keeps its shape."""

    def read() -> Iterator[Any]:
        start = 0
        for batch in X:
            stop = start + batch.shape[0]
            try:
                made = function(batch)
            except (ValueError, TypeError) as error:
                raise type(error)(f"rows {start} to {stop - 1}: {error}") from None
            yield made
            start = stop

    return FeatureBatches(read, X.shape)


def block_rows(X: FeatureBatches) -> int:
    """Return how many rows make a block of a good size."""
    return max(1, BLOCK // X.shape[1])


def blocks(X: FeatureBatches, size: int) -> Iterator[Any]:
    """Yield all rows in dense arrays of so many."""
    parts: list[Any] = []
    have = 0
    for batch in X:
        start = 0
        while start < batch.shape[0]:
            part = batch[start : start + size - have]
            parts.append(part.toarray() if hasattr(part, "toarray") else part)
            start += part.shape[0]
            have += part.shape[0]
            if have == size:
                yield np.concatenate(parts)
                parts, have = [], 0
    if parts:
        yield np.concatenate(parts)


def learn_schema(X: Any, categorical_feature: Sequence[int | str] | None = None) -> Schema:
    """Learn the columns: of batches from the first, unless there are categories to be found."""
    if not isinstance(X, FeatureBatches):
        return Schema.learn(X, categorical_feature)
    nothing = np.empty((0, X.shape[1]))
    first = Schema.learn(next(iter(X.read()), nothing), categorical_feature)
    if not first.categories:
        return first
    return Schema.union([Schema.learn(batch, categorical_feature) for batch in X])


def transformed(schema: Schema, X: Any) -> Features:
    """Return features as numbers; of batches, each when it is read."""
    if isinstance(X, FeatureBatches):
        return mapped(X, schema.transform)
    return schema.transform(X)


def take_rows(X: Any, chosen: NDArray[np.int64]) -> Any:
    """Return some rows of a table."""
    return X[chosen] if isinstance(X, FeatureBatches) else _safe_indexing(X, chosen)


def each_batch(function: Callable[[Features], NDArray[Any]], X: Features) -> NDArray[Any]:
    """Return what a function gives for the rows of X."""
    if isinstance(X, FeatureBatches):
        return np.concatenate([function(batch) for batch in X])
    return function(X)
