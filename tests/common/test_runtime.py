"""How many threads there are for the asking."""

import os
import subprocess
import sys

import joblib
import pytest

from gbrank.common.runtime import usable_threads
from gbrank.engine import driver


def test_a_container_gets_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the quota is below the number of processors, all there are is the quota."""
    monkeypatch.setattr(joblib, "cpu_count", lambda only_physical_cores: 1)
    assert usable_threads(None) == usable_threads(-1) == 1
    assert usable_threads(5) == 5
    assert driver.usable_threads is usable_threads


def test_the_share_that_the_environment_sets() -> None:
    """In a process of its own, which reads the quota itself."""
    code = "from gbrank.common.runtime import usable_threads; print(usable_threads(None))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "LOKY_MAX_CPU_COUNT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "1\n"
