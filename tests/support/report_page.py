"""What the tests of reports share: data, and a reader of the page."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gbrank import make_cubic

SMALL: dict[str, Any] = {"n_estimators": 20, "min_child_samples": 3, "n_jobs": 1, "random_state": 0}

X, Y, QID = make_cubic(46, n_documents=10, n_features=4, random_state=0)

EVIL = "<script>alert('&')</script>"

FRAME = pd.DataFrame(X, columns=["a", "b", "c", EVIL]).assign(
    kind=pd.Categorical(np.array(["x", "y", "z"])[np.arange(460) % 3])
)

FRAME.loc[::7, "b"] = np.nan

TRAIN, TEST = slice(0, 300), slice(300, 460)

QUERIES = np.array([f"{EVIL} {query}" for query in QID])[TEST]

COUNTRY = np.array(["DE", "FR", "US"])[QID % 3][TEST]


class Page(HTMLParser):
    """What a page holds: tables as lists of rows by section, text, tags and attributes."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.texts: dict[str, str] = {"": ""}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.section, self.open = "", list[str]()
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)
        if tag == "section":
            self.section = str(dict(attrs)["id"])
            self.tables[self.section], self.texts[self.section] = [], ""
        if tag == "table":
            self.tables[self.section].append([])
        if tag == "tr":
            self.tables[self.section][-1].append([])
        if tag in ("td", "th"):
            self.tables[self.section][-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        """Close a tag, and those in it that have no end."""
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Note text."""
        text = data.replace("\u00a0", " ").replace("−", "-")
        self.texts[self.section] += text
        if {"td", "th"} & set(self.open[-2:]):
            self.tables[self.section][-1][-1][-1] += text

    def table(self, section: str, head: str) -> dict[str, list[str]]:
        """Return the rows of the first table whose head begins so, by their first cell."""
        (found, *_) = [item for item in self.tables[section] if item[0][0] == head]
        return {row[0]: row[1:] for row in found[1:]}


def ends(text: str) -> list[float]:
    """Return the ends of an interval."""
    return [float(end) for end in text.split(" to ")]


def lists(page: Page, section: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the title and the table of each query."""
    titles = re.findall(r"<summary>(.*?)</summary>", page.source)
    titles = [
        title
        for title in titles
        if "relevant" in title and ("→" in title) == (section == "changes")
    ]
    tables = [table for table in page.tables[section] if table[0][0] == "rank"]
    yield from zip(titles, tables, strict=True)


def bars(page: Page, section: str) -> list[float]:
    """Return the lengths of the bars in a section, from 0 to 1."""
    text = page.source.partition(f'<section id="{section}"')[2].partition("</section>")[0]
    return [float(share) for share in re.findall(r"--share:(.*?)\"", text)]
