"""What the tests of commands share."""

from pathlib import Path

import pytest

import gbrank.measures
import gbrank.objectives

PLUGIN = """
import gbrank, numpy as np

def regression(scores, labels, sigma):
    error = scores - labels
    return error @ error / 2, error, np.ones_like(error)

gbrank.custom_objective(regression, name="mine")

@gbrank.register_measure
class Mine(gbrank.NDCG):
    name = "mine"
"""


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test register objectives and measures for itself only."""
    monkeypatch.setattr(gbrank.objectives, "OBJECTIVES", dict(gbrank.objectives.OBJECTIVES))
    monkeypatch.setattr(gbrank.measures, "MEASURES", dict(gbrank.measures.MEASURES))


@pytest.fixture
def plugin(tmp_path: Path, registries: None) -> Path:
    """Write a module that registers an objective and a measure."""
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return path
