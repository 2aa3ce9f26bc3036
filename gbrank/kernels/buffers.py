"""Work arrays that are kept from call to call: new memory costs more than what is done with it."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gbrank.kernels.compiled import Matrix, Positions

__all__ = ["Buffers"]


class Buffers:
    """Pairs of work arrays, as many as were ever in use at once.

    Any number of threads may borrow at once; each has a pair of its own. A copy, or a pickle,
    starts without arrays.

    Parameters
    ----------
    reals, integers : int
        How many rows of each type a pair has.
    width : int
        Entries of a row.
    """

    def __init__(self, reals: int, integers: int, width: int) -> None:
        self._shapes = (reals, width), (integers, width)
        self._free: deque[tuple[Matrix, Positions]] = deque()

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep the shapes only."""
        (reals, width), (integers, _) = self._shapes
        return Buffers, (reals, integers, width)

    @contextmanager
    def borrow(self) -> Iterator[tuple[Matrix, Positions]]:
        """Lend a matrix of floats and one of integers, with whatever they hold."""
        try:
            pair = self._free.pop()
        except IndexError:
            reals, integers = self._shapes
            pair = np.empty(reals), np.empty(integers, np.int64)
        try:
            yield pair
        finally:
            self._free.append(pair)
