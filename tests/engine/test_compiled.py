"""Compilation where nothing can be stored."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FIT = """
from numba.core.caching import CompileResultCacheImpl
CompileResultCacheImpl._locator_classes = []
import gbrank.measures.measure
print(gbrank.NDCG()([1, 0], [1.0, 2.0], group=[2]))
"""


@pytest.mark.slow
def test_no_place_for_compiled_code() -> None:
    """As in a container that is read-only: it compiles in memory, and says so once."""
    run = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "0.6309297535714575"
    assert run.stderr.count("numba's cache cannot be written") == 1


STALE = """
import pickle
from pathlib import Path

import numba
from gbrank import NDCG

NDCG()([1, 0], [1.0, 2.0])
indices = list(Path({folder!r}).rglob("measure.measure_value_loop*.nbi"))
for index in indices:  # as if a module of the types in it had another name now
    index.write_bytes(pickle.dumps(numba.__version__) + b"cgbrank.engine.gone\\nThing\\n.")
print(len(indices))
"""


@pytest.mark.slow
def test_code_that_another_version_stored(tmp_path: Path) -> None:
    """Where it needs modules that are no longer there, it is compiled anew, once."""
    fit = "import gbrank; print(gbrank.NDCG()([1, 0], [1.0, 2.0]))"
    answers = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for code in (STALE.format(folder=str(tmp_path)), fit)
    ]
    assert answers == ["1\n", "0.6309297535714575\n"]
    (index,) = tmp_path.rglob("measure.measure_value_loop*.nbi")
    assert b"gone" not in index.read_bytes()
