"""Processes that have imported nothing of gbrank, forked from one that has imported the rest.

A library that gbrank needs takes as long to import as all that such a process is to do. It ends as
any other does: streams are flushed, and what is registered to be called at the exit is called.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import TypeAlias

Fresh: TypeAlias = Callable[..., CompletedProcess[str]]
FORKS = """
import json, os, sys
import lightgbm, narwhals, numba, pandas, scipy.optimize, sklearn.linear_model, xgboost
assert not any(name.split(".")[0] == "gbrank" for name in sys.modules)
for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(job["folder"])
        for number, path in enumerate(job["streams"]):
            os.dup2(os.open(path, os.O_RDWR), number)
        sys.stdin = open(0, closefd=False)
        sys.argv = ["-c", *job["arguments"]]
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
exec(job["code"], {"__name__": "__main__"})
"""


def without(*packages: str) -> str:
    """Return code after which packages cannot be imported, nor have been."""
    return f"""
import sys
for name in [name for name in sys.modules if name.split(".")[0] in {packages}]:
    del sys.modules[name]
sys.modules.update(dict.fromkeys({packages}))  # None raises ImportError wherever it is imported
"""


@contextmanager
def forks(folder: Path) -> Iterator[Fresh]:
    """Start the process, and yield what runs code in a fork of it, with streams in the folder."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", FORKS],
        stdin=pipe,
        stdout=pipe,
        text=True,
        cwd=folder,
        env=os.environ
        # Streams have buffers, whatever the caller's have: what is left in them shows at the exit.
        | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUNBUFFERED": ""},
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None

        def run(code: str, *arguments: object, given: str = "") -> CompletedProcess[str]:
            files = [folder / name for name in ("stdin", "stdout", "stderr")]
            for file, text in zip(files, (given, "", ""), strict=True):
                file.write_text(text, encoding="utf-8")
            job = {
                "code": code, "arguments": list(map(str, arguments)), "folder": os.getcwd(),
                "streams": list(map(str, files)),
            }  # fmt: skip
            print(json.dumps(job), file=parent.stdin, flush=True)
            status = int(parent.stdout.readline())
            _, out, error = (file.read_text(encoding="utf-8") for file in files)
            return CompletedProcess(code, status, out, error)

        yield run
