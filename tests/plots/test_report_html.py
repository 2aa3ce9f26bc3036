"""The page of a report: what it is safe from, how it looks, and that it is written whole."""

import re
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import gbrank
from gbrank import GBRanker, LinearRanker
from gbrank.common import files
from report_page import EVIL, FRAME, QID, QUERIES, TEST, Page, X, Y


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


def test_light_dark_and_narrow(page: Page) -> None:
    """Pictures take the page's colours, and each table scrolls by itself."""
    assert "@media (prefers-color-scheme: dark)" in page.source
    pictures = re.findall(r"<svg.*?</svg>", page.source, re.DOTALL)
    assert len(pictures) == 3
    for picture in pictures:
        assert "$" not in picture
        assert "currentColor" in picture
        colours = set(re.findall(r"(?:fill|stroke): ?([^;\"]+)", picture))
        assert colours <= {"none", "currentColor", "var(--accent)", "var(--second)", "var(--quiet)"}
    assert page.source.count("<table>") == page.source.count(
        '<div class="box" tabindex="0"><table>'
    )


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


def test_names_of_models_and_queries(tmp_path: Path) -> None:
    """Are shown as they are; a lone surrogate, which no file can hold, by its code."""
    ranker = LinearRanker("regression").fit(X, Y, qid=QID)
    queries = np.array([f"\ud800{query}" for query in QID], dtype=object)[:30]
    page = Page(
        gbrank.report(
            ranker, X[:30], Y[:30], qid=queries, against=ranker, html=tmp_path / "r.html",
            names=("_a $x_{$", "b$"),
        )
    )  # fmt: skip
    legend = page.texts["distribution"]
    assert "_a $x_{$" in legend.partition("How many queries")[0]
    assert "\\ud8000" in page.texts["worst"]
