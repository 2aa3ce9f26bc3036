"""Workers of a distributed fit that are threads of one process."""

import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np

from gbrank.common.collective import joined


class Thread:
    """A worker that is a thread."""

    def __init__(self, rank: int, board: list[Any], barrier: threading.Barrier) -> None:
        self.rank, self.size, self.host = rank, len(board), "localhost"
        self._board, self._barrier = board, barrier

    def all_gather(self, value: Any) -> list[Any]:
        self._board[self.rank] = value
        self._barrier.wait(60)
        values = list(self._board)
        self._barrier.wait(60)
        return values

    def all_sum(self, values: Any) -> Any:
        return sum(self.all_gather(values))

    def all_max(self, values: Any) -> Any:
        return np.max(self.all_gather(values), axis=0)


def on_workers(task: Callable[[int], Any], n: int) -> list[Any]:
    """Return what a function of the rank gives on each of several workers."""
    board, results = [None] * n, [None] * n
    barrier = threading.Barrier(n)

    def work(rank: int) -> None:
        try:
            with joined(Thread(rank, board, barrier)):
                results[rank] = task(rank)
        except Exception as error:
            results[rank] = error

    threads = [threading.Thread(target=Context().run, args=(work, rank)) for rank in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
