"""docs/complaints.md: none of the 23 is missing. (test_docs.py runs its lines.)"""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "complaints.md"


@pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not beside the tests")
def test_all_are_answered() -> None:
    """By a link to a test, by lines that run, or by saying that there is nothing."""
    text = PAGE.read_text(encoding="utf-8")
    sections = re.split(r"^## (\d+)\. ", text, flags=re.MULTILINE)[1:]
    assert sections[::2] == [str(number) for number in range(1, 24)]
    for answer in sections[1::2]:
        assert "](../tests/" in answer or ">>> " in answer or "gbrank does nothing" in answer
