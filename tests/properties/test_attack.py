"""Odd arguments, drawn at random: see attack.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cases import at_length

ATTACK = Path(__file__).parents[1] / "support" / "attack.py"


@pytest.mark.parametrize(
    "cases",
    [
        20,
        pytest.param(300, marks=pytest.mark.slow),
        pytest.param(at_length(4_000), marks=pytest.mark.exhaustive),
    ],
)
def test_attack(cases: int) -> None:
    """No call crashes or hangs, returns what it should not, or fails with somebody else's error."""
    done = subprocess.run(
        [sys.executable, str(ATTACK), str(cases), str(100 * cases)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-5000:]}\nthe last was {done.stderr[-2000:]}"
