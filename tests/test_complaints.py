"""docs/complaints.md: its lines run, its links lead somewhere, and none of the 23 is missing."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "complaints.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not beside the tests")


@pytest.fixture(scope="module")
def text() -> str:
    """Return the page."""
    return PAGE.read_text(encoding="utf-8")


def test_lines_run(text: str) -> None:
    """Blocks of code share one session."""
    session = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    test = doctest.DocTestParser().get_doctest(session, {}, PAGE.name, str(PAGE), 0)
    options = doctest.ELLIPSIS | doctest.REPORT_NDIFF
    found = doctest.DocTestRunner(optionflags=options).run(test)
    assert found.attempted > 30
    assert found.failed == 0


def test_links(text: str) -> None:
    """Every file exists, and every test in it."""
    links = re.findall(r"\[`?([^\]`]+)`?\]\(([^)]+)\)", text)
    assert len(links) > 40
    for name, target in links:
        content = (PAGE.parent / target).read_text(encoding="utf-8")
        _, _, function = name.partition("::")
        assert not function or f"\ndef {function}(" in content, name


def test_all_are_answered(text: str) -> None:
    """By a link to a test, by lines that run, or by saying that there is nothing."""
    sections = re.split(r"^## (\d+)\. ", text, flags=re.MULTILINE)[1:]
    assert sections[::2] == [str(number) for number in range(1, 24)]
    for answer in sections[1::2]:
        assert "](../tests/" in answer or ">>> " in answer or "gbrank does nothing" in answer
