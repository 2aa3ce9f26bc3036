"""Training in a process forked from one that has trained."""

import multiprocessing
from typing import Any

from gbrank import GBRanker, make_cubic

X, Y, QID = make_cubic(30, n_documents=30, random_state=0)


def work(booster: str, n_jobs: int) -> list[float]:
    """Return scores of a small model."""
    ranker = GBRanker("ranknet", n_estimators=2, booster=booster, random_state=0, n_jobs=n_jobs)
    return ranker.fit(X, Y, qid=QID).predict(X).tolist()


def _reported(queue: Any, booster: str, n_jobs: int) -> None:
    try:
        queue.put(work(booster, n_jobs))
    except RuntimeError as error:
        queue.put(str(error))


def in_forks_of(parent: int, booster: str, children: list[int]) -> list[list[float] | str]:
    """Train in a new process, then in forks of that one; return what the latter say."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_and_fork, args=(queue, parent, booster, children))
    process.start()
    process.join(120)
    if process.exitcode is None:
        process.kill()
        raise TimeoutError("a fork hangs")
    return [queue.get(timeout=10) for _ in children]


def _and_fork(queue: Any, parent: int, booster: str, children: list[int]) -> None:
    work(booster, parent)
    for child in children:
        fork = multiprocessing.get_context("fork").Process(
            target=_reported, args=(queue, booster, child), daemon=True
        )
        fork.start()
        fork.join()
