"""Saving over a model: a reader finds a whole one, old or new, whatever happens to the writer."""

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gbrank.common.files import replace_file
from gbrank.fit.storage import Saved, read_saved, write_saved

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


def saved(name: str) -> Saved:
    """Return what stands for a ranker, of 100 kB, which are more than one write."""
    return {"estimator": name, "model": name * (100_000 // len(name))}


def name_of(folder: Path) -> str:
    """Return which model a folder holds."""
    found = read_saved(folder)
    assert found["model"] == saved(found["estimator"])["model"]
    return str(found["estimator"])


def killed_before(call: int, folder: Path, model: Saved) -> bool:
    """Save in another process, and kill it before this call of the system; say whether it was."""
    child = os.fork()
    if child == 0:
        calls = count()

        def watch(frame: Any, event: str, function: Any) -> None:
            if event != "c_call":
                return
            module = function.__module__ or type(function.__self__).__module__
            if module in ("posix", "_io") and next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        write_saved(folder, model)
        sys.setprofile(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@posix
@pytest.mark.parametrize("before", [pytest.param(None, marks=pytest.mark.slow), "old"])
def test_kills_at_every_call(before: str | None, tmp_path: Path) -> None:
    """The old model or the new one is there, and the next one who saves finds no obstacle."""
    found = []
    for call in count():
        folder = tmp_path / str(call)
        if before is not None:
            write_saved(folder, saved(before))
        killed = killed_before(call, folder, saved("new"))
        try:
            found.append(name_of(folder))
        except FileNotFoundError:
            assert before is None
            found.append(None)
        write_saved(folder, saved("next"))
        assert name_of(folder) == "next"
        if not killed:
            break
    assert len(found) > 8
    assert found[-1] == "new"
    assert found == sorted(found, key=[before, "new"].index)


def test_writers_and_readers(tmp_path: Path) -> None:
    """Four threads save 30 times each, in one folder, while two read."""
    names = [f"model {i}" for i in range(4)]
    write_saved(tmp_path, saved(names[0]))
    done = threading.Event()

    def write(name: str) -> None:
        for _ in range(30):
            write_saved(tmp_path, saved(name))

    def read() -> set[str]:
        found = set()
        while not done.is_set():
            found.add(name_of(tmp_path))
        return found

    with ThreadPoolExecutor(6) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        writers = [pool.submit(write, name) for name in names]
        try:
            for writer in writers:
                writer.result()
        finally:
            done.set()
        found = set.union(*(reader.result() for reader in readers))
    assert found <= set(names)
    assert len(found) > 1
    assert os.listdir(tmp_path) == ["gbrank.json"]


def test_a_planted_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if its name could be guessed; nor is somebody else's file removed."""
    monkeypatch.setattr("gbrank.common.files.secrets.token_hex", lambda size: "0" * 2 * size)
    name = ".model.txt.0000000000000000.tmp"
    target = tmp_path / "precious"
    target.write_text("mine")
    (tmp_path / name).symlink_to(target)
    with pytest.raises(FileExistsError):
        replace_file(tmp_path / "model.txt", b"new")
    assert target.read_text() == "mine"
    assert (tmp_path / name).is_symlink()
