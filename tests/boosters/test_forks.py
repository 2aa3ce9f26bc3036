"""A process forked from one that has trained: it works, or says at once why it cannot."""

import multiprocessing
import os
from typing import Any

import pytest

from gbrank import GBRanker, make_cubic

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks on this system")

X, Y, QID = make_cubic(30, n_documents=30, random_state=0)


def work(booster: str, n_jobs: int) -> list[float]:
    """Return scores of a small model."""
    ranker = GBRanker("ranknet", n_estimators=2, booster=booster, random_state=0, n_jobs=n_jobs)
    scores: list[float] = ranker.fit(X, Y, qid=QID).predict(X).tolist()
    return scores


def _reported(queue: Any, booster: str, n_jobs: int) -> None:
    try:
        queue.put(work(booster, n_jobs))
    except RuntimeError as error:
        queue.put(str(error))


def in_fork_of(parent: int, booster: str, child: int) -> list[float] | str:
    """Train in a new process, then in a fork of that one; return what the latter says."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=_and_fork, args=(queue, parent, booster, child))
    process.start()
    process.join(120)
    if process.exitcode is None:
        process.kill()
        pytest.fail("the fork hangs")
    said: list[float] | str = queue.get(timeout=10)
    return said


def _and_fork(queue: Any, parent: int, booster: str, child: int) -> None:
    work(booster, parent)
    fork = multiprocessing.get_context("fork").Process(
        target=_reported, args=(queue, booster, child), daemon=True
    )
    fork.start()
    fork.join()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("booster", "parent", "child"), [("lightgbm", 2, 1), ("xgboost", 1, 1), ("xgboost", 1, 2)]
)
def test_works(booster: str, parent: int, child: int) -> None:
    """To the same bits."""
    assert in_fork_of(parent, booster, child) == work(booster, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("booster", "parent", "child", "instead"),
    [
        ("lightgbm", 2, 2, "n_jobs=1 here"),
        ("lightgbm", 1, 2, "n_jobs=1 here"),
        ("xgboost", 2, 2, "n_jobs=1 before the fork"),
        ("xgboost", 2, 1, "n_jobs=1 before the fork"),
    ],
)
def test_would_hang(booster: str, parent: int, child: int, instead: str) -> None:
    """What would wait forever is an error that says what to do."""
    said = in_fork_of(parent, booster, child)
    assert isinstance(said, str)
    assert "before this process was forked" in said
    assert instead in said
