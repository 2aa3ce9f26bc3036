"""Damaged bytes, replayed: see fuzz.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz import CORPUS, TARGETS

FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file())


def test_every_target_has_files() -> None:
    """And every file a target."""
    assert {path.parent.name for path in FILES} == set(TARGETS)
    assert sum(path.stat().st_size for path in FILES) < 32_768


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_replay(path: Path) -> None:
    """The file itself, cut short at any place, and with a bit changed in any."""
    target, data = TARGETS[path.parent.name], path.read_bytes()
    target(data)
    step = 1 + len(data) // 100
    for place in range(0, len(data), step):
        target(data[:place])
        target(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])


SHAPES = {
    "blank lines": b"\n",
    "documents alone": b"0 qid:1\n",
    "a query each": b"0 qid:1\n0 qid:2\n",
    "names": b"0 qid:a\n0 qid:b\n",
    "short entries": b"0 qid:1 " + b" ".join(b"%d:1" % i for i in range(1, 10)) + b"\n",
    "numbers for Python": b"0 qid:1 " + b" ".join(b"%d:1e99" % i for i in range(1, 10)) + b"\n",
    "comments": b"0 qid:1 #abc\n",
    "a fault at the end": b"0 qid:1 1:1\n",
    "an index beyond": b"0 qid:1 100000000:1\n",
}
MEMORY = """
import resource, sys
from functools import partial
from gbrank import read_letor
from gbrank.data.trec import read_qrels, read_run

readers = {
    "letor": partial(read_letor, sparse=True, comments=True), "run": read_run, "qrels": read_qrels
}
read = readers[sys.argv.pop(1)]

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

for path in sys.argv[1:]:
    try:
        read(path)
    except ValueError as error:
        assert path in str(error)
    if path == sys.argv[1]:
        before = peak()  # all is imported, and arrays are small
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units")
@pytest.mark.parametrize("shape", SHAPES)
def test_memory(shape: str, tmp_path: Path) -> None:
    """No shape of file takes more than ten times its size."""
    size = 4_000_000
    content = SHAPES[shape] * (size // len(SHAPES[shape]))
    if shape == "a fault at the end":
        content += b"0 qid:1 1:x"
    assert memory("letor", SHAPES[shape], content, tmp_path) < 10 * len(content)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in other units")
@pytest.mark.parametrize(
    ("target", "line"), [("run", b"%d Q0 d%d 1 1 a\n"), ("qrels", b"%d 0 d%d 1\n")]
)
def test_memory_of_trec_files(target: str, line: bytes, tmp_path: Path) -> None:
    """Lines as short as they are in earnest take no more either."""
    content = b"".join(line % (i // 100, i) for i in range(300_000))
    assert memory(target, line % (1, 1), content, tmp_path) < 10 * len(content)


def memory(target: str, small: bytes, content: bytes, folder: Path) -> int:
    """Return how many bytes a process takes to read a file, beyond those for a small one."""
    paths = [folder / "small.txt", folder / "large.txt"]
    paths[0].write_bytes(small)
    paths[1].write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, target, *map(str, paths)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout)
