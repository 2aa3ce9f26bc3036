"""Locks on the folders of checkpoints: who is refused, who waits, and what forked children keep."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gbrank import GBRanker, LinearRanker, load_ranker
from gbrank.common.files import held

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs locks of POSIX")
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 100)
QID = np.repeat(np.arange(10), 10)
X = RNG.normal(size=(100, 3)) + Y[:, None]
LIMIT = 30  # seconds until a test says that something waits for ever


def make() -> GBRanker:
    return GBRanker("ranknet", n_estimators=2, n_jobs=1, random_state=0, min_child_samples=3)


def fit(folder: Path, **options: Any) -> GBRanker:
    return make().fit(X, Y, qid=QID, checkpoint=folder, **options)


def in_time(call: Callable[[], Any]) -> Any:
    """Return what a call returns, or the error that it raises; fail if it takes for ever."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(call())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LIMIT)
    assert found, "waits for ever"
    return found[0]


def by_itself(save: Callable[[], None]) -> None:
    save()


def by_a_thread(save: Callable[[], None]) -> None:
    answer = in_time(save)
    if isinstance(answer, Exception):
        raise answer


def by_a_child(save: Callable[[], None]) -> None:
    def run(answers: Any) -> None:
        try:
            save()
        except Exception as error:
            answers.put(error)
        else:
            answers.put(None)

    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=run, args=(answers,), daemon=True)
    child.start()
    answer = answers.get(timeout=LIMIT)
    child.join()
    if answer is not None:
        raise answer


@pytest.mark.parametrize("saved", [make, lambda: LinearRanker("regression")])
@pytest.mark.parametrize("how", [by_itself, by_a_thread, by_a_child])
def test_a_save_into_a_running_fit_is_refused(
    how: Callable[[Any], None], saved: Callable[[], Any], tmp_path: Path
) -> None:
    """At once; whoever does it: a callback, a thread or a process that the callback waits for."""
    done = saved().fit(X, Y, qid=QID)
    answer = in_time(
        lambda: fit(tmp_path, callbacks=[lambda round: how(lambda: done.save(tmp_path))])
    )
    assert isinstance(answer, BlockingIOError)
    assert "path must be a folder that no running fit" in str(answer)
    assert str(tmp_path) in str(answer)
    assert not (tmp_path / "gbrank.json").exists()
    ranker = in_time(lambda: fit(tmp_path))  # the lock is free again
    in_time(lambda: ranker.save(tmp_path))
    np.testing.assert_array_equal(load_ranker(tmp_path).predict(X), ranker.predict(X))


def test_a_save_beside_a_running_fit(tmp_path: Path) -> None:
    """Into any other folder, one inside the checkpoint's included."""
    done = make().fit(X, Y, qid=QID)
    folders = iter([tmp_path / "other", tmp_path / "checkpoint" / "inside"])
    in_time(
        lambda: fit(
            tmp_path / "checkpoint", callbacks=[lambda round: done.save(next(folders)) and None]
        )
    )
    for folder in (tmp_path / "other", tmp_path / "checkpoint" / "inside"):
        np.testing.assert_array_equal(load_ranker(folder).predict(X), done.predict(X))


def test_a_fit_in_a_fit(tmp_path: Path) -> None:
    """The inner one is refused, and does not free the folder of the outer one."""
    refused = []

    def inner(round: Any) -> None:
        for action in (lambda: fit(tmp_path), lambda: make().fit(X, Y, qid=QID).save(tmp_path)):
            with pytest.raises(BlockingIOError) as error:
                action()
            refused.append(str(error.value))

    in_time(lambda: fit(tmp_path, callbacks=[inner]))
    assert len(refused) == 4
    assert "no other fit uses" in refused[0]
    assert "no running fit" in refused[3]


def forked(call: Callable[[], None], children: list[int]) -> None:
    """Fork a child that makes a call and then sleeps."""
    child = os.fork()
    if child == 0:
        try:
            call()
            time.sleep(10 * LIMIT)
        finally:
            os._exit(0)
    children.append(child)


@pytest.fixture
def children() -> Any:
    """Return the list of children that are ended after the test."""
    started: list[int] = []
    yield started
    for child in started:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_forked_child_keeps_no_lock(children: list[int], tmp_path: Path) -> None:
    """While it lives, the next fit and a save go on."""

    def fork(round: Any) -> None:
        if not children:
            forked(lambda: None, children)

    ranker = fit(tmp_path, callbacks=[fork])
    assert isinstance(in_time(lambda: fit(tmp_path)), GBRanker)
    assert in_time(lambda: ranker.save(tmp_path)) is None


def test_a_killed_fit_leaves_its_lock_to_no_child(children: list[int], tmp_path: Path) -> None:
    """Not even to one that had been forked before."""
    reading, writing = os.pipe()

    def fit_and_fork() -> None:
        def fork(round: Any) -> None:
            grandchild = os.fork()
            if grandchild:
                os.write(writing, b"%d\n" % grandchild)
            time.sleep(10 * LIMIT)

        fit(tmp_path, callbacks=[fork])

    forked(fit_and_fork, children)
    grandchild = int(os.read(reading, 20))
    time.sleep(0.1)
    os.kill(children[0], 9)
    os.waitpid(children.pop(), 0)
    try:
        assert isinstance(in_time(lambda: fit(tmp_path)), GBRanker)
    finally:
        os.kill(grandchild, 9)


def test_the_parents_lock_outlives_a_child(tmp_path: Path) -> None:
    """A child that leaves the block, and locks another folder, frees nothing of its parent's."""
    other = tmp_path / "other"
    other.mkdir()
    with held(tmp_path, wait=False):
        with held(other):
            child = os.fork()
        if child == 0:  # it has left the block of the other folder
            with held(other) as locked:
                os._exit(0 if locked else 1)
        assert os.waitpid(child, 0)[1] == 0
        with pytest.raises(BlockingIOError), held(tmp_path, wait=False):
            pass
    with held(tmp_path, wait=False):
        pass
