"""What the tests of data sets share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a file name for tests that hypothesis runs many times."""
    return tmp_path_factory.mktemp("letor") / "data.txt"
