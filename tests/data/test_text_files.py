"""What all readers of text share: encodings; and what all writers share: whole files or none."""

import codecs
import errno
import gzip
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gbrank import read_letor, write_letor
from gbrank.commands.data_files import write_table
from gbrank.common.files import replaced
from gbrank.data.text_files import read_lines
from gbrank.data.trec import read_qrels, read_run, write_qrels, write_run

READERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "letor.txt": (read_letor, "1 qid:1 1:0.5 # é\n0 qid:1 1:1\n"),
    "run.txt": (read_run, "é Q0 d1 1 0.5 n\né Q0 d2 2 0.25 n\n"),
    "qrels.txt": (read_qrels, "é 0 d1 1\né 0 d2 0\n"),
    "names.txt": (read_lines, "bm25\npagerank é\n"),
}
reader = pytest.mark.parametrize("name", READERS)

# --- Encodings --------------------------------------------------------------------------------


@reader
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_byte_order_mark_is_no_part_of_a_text(
    name: str, pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    read, text = READERS[name]
    found = []
    for place, mark in (("without", b""), ("with", codecs.BOM_UTF8)):
        path = tmp_path / f"{place}-{name}"
        path.write_bytes(pack(mark + text.encode()))
        found.append(read(path))
    np.testing.assert_equal(*found)


@reader
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-be", "utf-16-le"])
def test_other_encodings_are_named(name: str, encoding: str, tmp_path: Path) -> None:
    """By the bytes that are no text."""
    read, text = READERS[name]
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    with pytest.raises(ValueError, match=rf"{name}.*: expected text (in UTF-8|without NUL)"):
        read(path)


# --- Whole or not at all ----------------------------------------------------------------------

N = 2000
QID = np.repeat(np.arange(N // 10), 10)
NAMES = [f"document-{row}" for row in range(N)]
RANDOM = np.random.default_rng(0).random((N, 3))
WRITERS: dict[str, Callable[[Path], None]] = {
    "letor.txt": lambda path: write_letor(path, np.ones((N, 3)), np.ones(N), QID),
    "letor.txt.gz": lambda path: write_letor(path, RANDOM, np.ones(N), QID),
    "run.txt": lambda path: write_run(path, np.arange(N), QID, NAMES),
    "qrels.txt": lambda path: write_qrels(path, np.ones(N), QID, NAMES),
    "table.csv": lambda path: write_table(str(path), "t", {"name": NAMES}, np.ones(N)),
    "table.tsv.gz": lambda path: write_table(str(path), "t", {"name": NAMES}, RANDOM[:, 0]),
    "table.parquet": lambda path: write_table(str(path), "t", {"name": NAMES}, np.ones(N)),
}
writer = pytest.mark.parametrize("name", WRITERS)


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Let no file grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@writer
def test_a_full_disk_leaves_the_old_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(OSError, match="File too large"), full_disk(5000):
        WRITERS[name](path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [name]
    WRITERS[name](path)
    assert path.stat().st_size > 5000
    assert os.listdir(tmp_path) == [name]


@writer
def test_a_named_pipe_is_written_to(name: str, tmp_path: Path) -> None:
    """It stays a pipe."""
    plain, pipe = tmp_path / name, tmp_path / f"pipe-{name}"
    WRITERS[name](plain)
    os.mkfifo(pipe)
    content: list[bytes] = []
    thread = threading.Thread(target=lambda: content.append(pipe.read_bytes()), daemon=True)
    thread.start()
    WRITERS[name](pipe)
    thread.join(10)
    assert content == [plain.read_bytes()]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replaced(link) as file:
        file.write(b"new")
        assert target.read_text() == "old"
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert os.listdir(tmp_path / "far") == ["target"]


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system has no /dev/stdout")
def test_standard_output_by_name(tmp_path: Path) -> None:
    """A file that it is redirected to is written to, not replaced: others have it open."""
    code = "from gbrank.data.trec import write_qrels; write_qrels('/dev/stdout', [1], ['q'], ['d'])"
    with open(tmp_path / "out", "wb+") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
        file.seek(0)
        assert file.read() == b"q 0 d 1\n"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a device, and of a file, which stays as it was."""
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_qrels("/dev/full", [1], ["q"], ["d"])
    path = tmp_path / "qrels.txt"
    path.write_text("q 0 d 1\n")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_qrels(path, [0], ["q"], ["d"])
    assert caught.value.filename == str(path)
    assert [file.name for file in tmp_path.iterdir()] == ["qrels.txt"]
    assert path.read_text() == "q 0 d 1\n"
