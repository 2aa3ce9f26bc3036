"""Odd arguments, drawn at random: see attack.py."""

from pathlib import Path

import pytest

from cases import at_length
from fresh import Fresh

ATTACK = Path(__file__).parents[1] / "support" / "attack.py"
RUN = """
import runpy, signal, sys
signal.alarm(900)  # seconds, after which a call hangs
sys.argv[:1] = []
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize(
    "cases",
    [
        20,
        pytest.param(300, marks=pytest.mark.slow),
        pytest.param(at_length(4_000), marks=pytest.mark.exhaustive),
    ],
)
def test_attack(cases: int, fresh: Fresh) -> None:
    """No call crashes or hangs, returns what it should not, or fails with somebody else's error."""
    done = fresh(RUN, ATTACK, cases, 100 * cases)
    assert done.returncode == 0, f"{done.stdout[-5000:]}\nthe last was {done.stderr[-2000:]}"
