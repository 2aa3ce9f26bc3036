"""Feeds damaged bytes to all that reads files; what it once found is in corpus/.

    python fuzz.py TARGET SECONDS [FOLDER]

needs atheris (`pip install atheris`). It mutates the files of corpus/TARGET, and of FOLDER, where
it keeps what reaches new code; compiled code it cannot see into. A target fails where a reader
crashes, or rejects without naming the file. A new reader needs an entry in TARGETS and a folder in
corpus/; test_fuzz.py replays them.
"""

import inspect
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gbrank import read_letor
from gbrank.data import letor as letor_files
from gbrank.data import text_files, trec
from gbrank.data.trec import read_qrels, read_run, write_qrels, write_run

CORPUS = Path(__file__).with_name("corpus")


FOLDER = tempfile.TemporaryDirectory()


def rejected(read: Callable[[], object], path: Path) -> bool:
    """Say whether a reader rejects its file, which the message must name."""
    try:
        read()
    except (ValueError, OSError) as error:
        assert str(path) in str(error), error  # noqa: PT017
        return True
    return False


def letor(data: bytes) -> None:
    """Read it sparse, and dense where that is small; both agree, and have rows of finite labels."""
    path = Path(FOLDER.name, "data.txt")
    path.write_bytes(data)
    if rejected(lambda: read_letor(path, sparse=True, comments=True), path):
        return
    X, y, qid, comments = read_letor(path, sparse=True, comments=True)
    assert len(y) == len(qid) == len(comments) == X.shape[0] > 0
    assert np.isfinite(y).all()
    assert not np.isinf(X.data).any()
    if X.shape[0] * X.shape[1] < 2**16:
        np.testing.assert_array_equal(read_letor(path)[0], X.toarray())


def judged(data: bytes, read: Callable[[Path], trec.Lines], write: Callable[..., None]) -> None:
    """Read a number for each document of each query; what is then written reads as the same."""
    path, copy = Path(FOLDER.name, "judged.txt"), Path(FOLDER.name, "copy.txt")
    path.write_bytes(data)
    if rejected(lambda: read(path), path):
        return
    values, qid, documents = read(path)
    found = dict(zip(zip(qid, documents, strict=True), values.tolist(), strict=True))
    assert len(found) == len(values) > 0
    assert np.isfinite(values).all()
    try:
        write(copy, values, qid, documents)
    except ValueError as error:
        assert re.search("white space|begin with #", str(error))  # noqa: PT017  # or NUL
        return
    values, qid, documents = read(copy)
    assert dict(zip(zip(qid, documents, strict=True), values.tolist(), strict=True)) == found


def run(data: bytes) -> None:
    """Read it as a TREC run."""
    judged(data, read_run, write_run)


def qrels(data: bytes) -> None:
    """Read it as TREC judgments."""
    judged(data, read_qrels, write_qrels)


TARGETS = {target.__name__: target for target in (letor, run, qrels)}


def main(name: str, seconds: str, folder: str | None = None) -> None:
    """Run one target under atheris."""
    import atheris

    corpus = folder or tempfile.mkdtemp()
    for module in (letor_files, text_files, trec):
        for owner in (module, *filter(inspect.isclass, vars(module).values())):
            for function in filter(inspect.isfunction, vars(owner).values()):
                if function.__module__ == module.__name__:
                    atheris.instrument_func(function)
    for path in (CORPUS / name).iterdir():
        TARGETS[name](path.read_bytes())  # compiled before the clock of -timeout runs
    options = [
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-max_len=4096",
        f"-artifact_prefix={corpus}/",
    ]
    atheris.Setup([sys.argv[0], *options, corpus, str(CORPUS / name)], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
