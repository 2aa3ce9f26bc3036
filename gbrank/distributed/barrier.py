"""One fit in a barrier stage of Spark: its tasks meet, each works on its own queries."""

import json
import pickle
import socket
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import BarrierTaskContext, cloudpickle
from pyspark.sql import DataFrame

from gbrank.boosters.xgboost.rabit import MeetingPoint
from gbrank.common.collective import BoosterError

from .parts import GRACE_SECONDS, take_part, true_cause


def n_slots(dataset: DataFrame) -> int:
    """Count the tasks that the cluster can run at once: for more, Spark waits for minutes."""
    scala = dataset.sparkSession.sparkContext._jsc.sc()
    profile = scala.resourceProfileManager().defaultResourceProfile()
    return int(scala.maxNumConcurrentTasks(profile))


def run_in_stage(partitions: DataFrame, task: Callable[[pa.Table | None, int], Any]) -> Any:
    """Call a function in all tasks of a stage at once, with the rows and rank of each.

    In the function, `gbrank.common.collective` connects all tasks. The result of the first task
    is returned; an error in one of them ends all, and is raised.
    """
    stage = partitions.mapInArrow(partial(_answer, task), "answer binary", barrier=True)
    try:  # shuffled by repartition: Spark does not repeat a last stage
        answers = [pickle.loads(row.answer) for row in stage.repartition(1).collect()]
    except Exception as error:
        raise RuntimeError(
            f"the fit failed because a task was lost: {str(error)[:1000]}"
        ) from error
    if errors := [answer for answer in answers if isinstance(answer, BaseException)]:
        raise true_cause(errors)
    return next(answer for answer in answers if answer is not None)


def _answer(
    task: Callable[[pa.Table | None, int], Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Do one task's part; errors are answers too, since Spark would repeat a task that fails."""
    context = BarrierTaskContext.get()
    rank = context.partitionId()
    batches = list(batches)
    table = pa.Table.from_batches(batches) if batches else None
    addresses = [info.address.partition(":")[0] for info in context.getTaskInfos()]
    hosts = list(map(socket.gethostbyname, addresses))
    point = MeetingPoint(len(hosts), hosts[0]) if rank == 0 else None
    arguments = json.loads(context.allGather(json.dumps(point.worker_args() if point else None))[0])
    answer: Any
    try:
        answer = take_part(task, arguments, rank, hosts[rank], table, rank)
    except Exception as error:
        answer = error
    leaving = ThreadPoolExecutor(1).submit(context.barrier)
    try:  # the meeting point stays until all have left it
        leaving.result(GRACE_SECONDS if isinstance(answer, BoosterError) else None)
    except TimeoutError:  # a task is lost, or waits inside its booster: Spark ends all
        raise answer from None
    yield pa.RecordBatch.from_pydict({"answer": [cloudpickle.dumps(answer)]})
