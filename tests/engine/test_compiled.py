"""Compilation where nothing can be stored."""

import os
import subprocess
import sys

import pytest

FIT = """
import gbrank.measures.measure
print(gbrank.NDCG()([1, 0], [1.0, 2.0], group=[2]))
"""


@pytest.mark.slow
def test_no_place_for_compiled_code() -> None:
    """As in a container that is read-only: it compiles in memory, and says so once."""
    # The one place that numba may look for does not exist outside archives.
    run = subprocess.run(
        [sys.executable, "-c", FIT],
        env=os.environ | {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "0.6309297535714575"
    assert run.stderr.count("compiled code cannot be stored") == 1
