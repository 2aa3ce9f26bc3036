"""Saving over a model: a reader finds a whole one, old or new, whatever happens to the writer."""

import hashlib
import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gbrank import GBRanker, make_cubic
from gbrank.common.files import is_leftover, replace_file
from gbrank.fit.storage import Saved, read_saved, write_saved

X, Y, QID = make_cubic(20, n_documents=10, n_features=4, random_state=0)

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


def saved(name: str) -> Saved:
    """Return a small ranker as it is saved, with one that it boosts from."""
    start = {"estimator": "B", "params": {}, "schema": {}, "fitted": {}, **part(name + "'s start")}
    description = {**start, "estimator": "A", "params": {"name": name}, "init": start, **part(name)}
    files = {part(text)["model_file"]: content(text) for text in (name, name + "'s start")}
    return Saved(description, files)


def content(name: str) -> bytes:
    """Return what stands for a booster: 100 kB, more than one write."""
    return name.encode() * (100_000 // len(name))


def part(name: str) -> dict[str, Any]:
    """Return what is said of a booster."""
    digest = hashlib.sha256(content(name)).hexdigest()
    return {
        "booster": "lightgbm",
        "model_file": f"model-{digest[:16]}.txt",
        "model_bytes": len(content(name)),
        "model_sha256": digest,
    }


def name_of(folder: Path) -> str:
    """Return which model a folder holds."""
    description, files = read_saved(folder)
    name = description["params"]["name"]
    assert files == saved(name).files
    return str(name)


# --- Killed -----------------------------------------------------------------------------------


def killed_before(call: int, folder: Path, model: Saved) -> bool:
    """Save in another process, and kill it before this call of the system; say whether it was."""
    child = os.fork()
    if child == 0:
        calls = count()

        def watch(frame: Any, event: str, function: Any) -> None:
            if event != "c_call":
                return
            module = function.__module__ or type(function.__self__).__module__
            if module in ("posix", "_io", "fcntl") and next(calls) == call:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(watch)
        write_saved(folder, model)
        sys.setprofile(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("before", ["nothing", "another", "the same", "what a kill left"])
def test_kills_at_every_call(before: str, tmp_path: Path) -> None:
    """The next one who saves finds no obstacle, and leaves nothing of what was cut short."""
    old, new = saved("old"), saved("new")
    found = []
    for call in count():
        folder = tmp_path / str(call)
        if before != "nothing":
            write_saved(folder, new if before == "the same" else old)
        if before == "what a kill left":
            killed_before(call // 2, folder, saved("cut short"))
        killed = killed_before(call, folder, new)
        try:
            found.append(name_of(folder))
        except FileNotFoundError:
            assert before == "nothing"
            found.append("nothing")
        write_saved(folder, saved("next"))
        assert name_of(folder) == "next"
        assert len(list(folder.iterdir())) == 3
        if not killed:
            break
    assert len(found) > 25
    assert found[-1] == "new"
    order = {"nothing": 0, "old": 1, "cut short": 2, "new": 3}
    assert before == "what a kill left" or sorted(found, key=order.__getitem__) == found


# --- Names ------------------------------------------------------------------------------------


@pytest.fixture
def known_name(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let an attacker know the next temporary name."""
    monkeypatch.setattr("gbrank.common.files.secrets.token_hex", lambda size: "0" * 2 * size)
    return ".model.txt.0000000000000000.tmp"


def test_a_planted_link_is_not_followed(known_name: str, tmp_path: Path) -> None:
    """Even if its name could be guessed; nor is somebody else's file removed."""
    target = tmp_path / "precious"
    target.write_text("mine")
    (tmp_path / known_name).symlink_to(target)
    with pytest.raises(FileExistsError):
        replace_file(tmp_path / "model.txt", b"new")
    assert target.read_text() == "mine"
    assert (tmp_path / known_name).is_symlink()


def test_temporary_names() -> None:
    """What is cleared away is what `replace_file` leaves, and nothing else."""
    assert is_leftover(".model.txt.0123456789abcdef.tmp")
    for name in ("model.txt", ".model.txt", ".model.txt.4711", "..0123456789abcdef.tmp"):
        assert not is_leftover(name)


def test_other_files_stay(tmp_path: Path) -> None:
    """Saving clears away what is a model's, and leaves the rest."""
    (tmp_path / "notes.md").write_text("mine")
    (tmp_path / ".notes.md.0123456789abcdef.tmp").write_text("being written")
    for name in ("one", "two"):
        write_saved(tmp_path, saved(name))
    assert (tmp_path / ".notes.md.0123456789abcdef.tmp").exists()
    assert len(list(tmp_path.iterdir())) == 5


def test_the_whole_way(tmp_path: Path) -> None:
    """A ranker with a start saved over one without, and back."""
    plain = GBRanker("ranknet", n_estimators=3, random_state=0).fit(X, Y, qid=QID)
    made = GBRanker("ranknet", n_estimators=3, random_state=0, init=plain).fit(X, Y, qid=QID)
    for ranker, files in ((plain, 2), (made, 3), (plain, 2)):
        ranker.save(tmp_path)
        assert_array_equal(GBRanker.load(tmp_path).predict(X), ranker.predict(X))
        assert len(list(tmp_path.iterdir())) == files
    assert np.ptp(plain.predict(X)) > 0
