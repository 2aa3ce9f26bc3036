"""What the tests of commands share."""

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from gbrank.measures.measure_registry import MEASURES
from gbrank.objectives.objective_registry import OBJECTIVES

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
def registries() -> Iterator[None]:
    """Let a test register objectives and measures for itself only."""
    with patch.dict(OBJECTIVES), patch.dict(MEASURES):
        yield


@pytest.fixture
def plugin(tmp_path: Path, registries: None) -> Path:
    """Write a module that registers an objective and a measure."""
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return path
