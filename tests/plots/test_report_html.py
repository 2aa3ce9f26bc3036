"""The page of a report: what it is safe from, how it looks, and that it is written whole."""

import re
import sys
from pathlib import Path

import matplotlib
import pytest

import gbrank
from gbrank import GBRanker
from gbrank.common import files
from report_page import EVIL, FRAME, QUERIES, TEST, Page, Y


def test_nothing_from_elsewhere(page: Page) -> None:
    """No script, no address, no resource; every link leads to a section."""
    assert not re.search(
        r"https?:|//\w|@import|url\((?!#)|\bsrc=|<script|<link|<iframe", page.source
    )
    links = {str(attrs["href"]) for tag, attrs in page.tags if tag == "a"}
    assert links == {f"#{section}" for section in page.tables}
    used = {str(attrs["xlink:href"]) for tag, attrs in page.tags if tag == "use"}
    assert used <= {f"#{attrs['id']}" for _, attrs in page.tags if "id" in attrs}


def test_names_are_text(page: Page) -> None:
    """Of queries, documents, features and models."""
    assert "script" not in {tag for tag, _ in page.tags}
    for section in ("worst", "importances", "data", "changes"):
        assert EVIL in page.texts[section]


def test_the_same_page_again(rankers: tuple[GBRanker, GBRanker], tmp_path: Path) -> None:
    """Byte for byte, over an older file; the settings of pictures stay."""
    before = dict(matplotlib.rcParams)
    paths = [tmp_path / "1.html", tmp_path / "2.html"]
    paths[1].write_text("old")
    for path in paths:
        assert gbrank.report(rankers[0], FRAME[TEST], Y[TEST], qid=QUERIES, html=path) == path
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert dict(matplotlib.rcParams) == before


def test_an_older_page_stays(
    rankers: tuple[GBRanker, GBRanker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the disk is full."""
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        gbrank.report(rankers[0], FRAME[TEST], Y[TEST], qid=QUERIES, html=path)
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["report.html"]


def test_without_jinja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What to install is said before any argument is read."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'gbrank[report]'")):
        gbrank.report(None, TEST, Y, qid=QUERIES, html=tmp_path / "page.html")
