"""How the workers of a distributed fit connect and communicate: XGBoost's collective."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gbrank.common.collective import Workers, WorkersLostError, joined

from .library import translated, xgb

LOST = "the other workers of the fit are lost"


class MeetingPoint(xgb.RabitTracker):
    """Where workers find each other; it runs on one of their machines."""

    def __init__(self, n_workers: int, host: str) -> None:
        super().__init__(n_workers=n_workers, host_ip=host, sortby="task")
        self.start()


@contextmanager
def meeting(arguments: dict[str, Any], rank: int, host: str) -> Iterator[None]:
    """Make this thread the worker of this rank, once all workers are connected."""
    with (
        xgb.config_context(verbosity=0),
        xgb.collective.CommunicatorContext(**arguments, dmlc_task_id=f"{rank:08}"),
        joined(_RabitWorkers(host)),
    ):
        yield


class _RabitWorkers(Workers):
    """The workers of a fit, which XGBoost connects."""

    def __init__(self, host: str) -> None:
        self.size: int = xgb.collective.get_world_size()
        self.host = host

    def all_sum(self, values: object) -> Any:
        return _reduced(values, xgb.collective.Op.SUM)

    def all_max(self, values: object) -> Any:
        return _reduced(values, xgb.collective.Op.MAX)

    def all_gather(self, value: object) -> list[Any]:
        with translated(LOST, WorkersLostError):
            return [xgb.collective.broadcast((value,), rank)[0] for rank in range(self.size)]


def _reduced(values: object, operation: xgb.collective.Op) -> Any:
    array = np.asarray(values)
    with translated(LOST, WorkersLostError):
        result = xgb.collective.allreduce(array, operation).reshape(array.shape)
    return result if array.ndim else result[()]
