"""What a page is made of: sections with texts, tables, pictures, and parts that fold away."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeAlias

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gbrank.common.checks import shortened
from gbrank.common.table import Table
from gbrank.plots.style import BLUE, GREY, ORANGE

SPACE = "\u00a0"  # at which no line breaks
NONE = "–"  # where there is no number
INK = "#010203"  # stands for the colour of the page's text
# The page's own colours, which depend on whether it is light or dark.
THEME = {INK: "currentColor", BLUE: "var(--accent)", ORANGE: "var(--second)", GREY: "var(--quiet)"}
STYLE: dict[Any, Any] = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor"), INK),
    **dict.fromkeys(("xtick.color", "ytick.color"), INK),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    "grid.color": GREY,
    "font.size": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "gbrank",
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Cell:
    """A cell of a table: a text, perhaps with a bar that is a share of the column's largest."""

    text: str
    bar: float | None = None
    strong: bool = False

    def __str__(self) -> str:
        return self.text


Cells: TypeAlias = Sequence[Cell | str]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str
    strong: bool = False
    kind: str = field(default="text", init=False)


@dataclass(frozen=True)
class Picture:
    """A picture as SVG, and what it shows."""

    svg: str
    caption: str
    kind: str = field(default="picture", init=False)


@dataclass(frozen=True)
class Details:
    """What is shown when its title is clicked."""

    title: str
    blocks: Sequence[Block]
    open: bool = False
    kind: str = field(default="fold", init=False)


TEXTS: dict[str, str] = json.loads(
    files("gbrank.plots.report").joinpath("texts.json").read_text(encoding="utf-8")
)


def said(key: str, strong: bool = False, **values: object) -> Paragraph:
    """Return a paragraph of texts.json with these values in it."""
    return Paragraph(TEXTS[key].format(**values), strong)


Block: TypeAlias = Paragraph | Table | Picture | Details
Fact: TypeAlias = tuple[str, str, str]  # a number, what it is of, and a note


@dataclass(frozen=True)
class Section:
    """A part of the page; `key` is what links to it are called."""

    key: str
    title: str
    blocks: Sequence[Block]


def number(value: float, form: str = ".4f") -> str:
    """Return a number with its sign as printers set it; a dash for NaN."""
    return NONE if math.isnan(value) else format(value, form).replace("-", "−")


def share(value: float, largest: float) -> float:
    """Return a value as a share of the largest, for a bar; 0 where there is none."""
    return value / largest if value > 0 < largest else 0.0


def span(low: float, high: float, form: str = ".4f") -> str:
    """Return the ends of an interval."""
    return NONE if math.isnan(low) else f"{number(low, form)} to {number(high, form)}"


def count(n: int, word: str) -> str:
    """Return a number of things."""
    return f"{n:,} {word}{'' if n == 1 else 's'}".replace("querys", "queries")


def name(value: object) -> str:
    """Return a name of the user's, not too long."""
    return shortened(str(value))


def fold_rows(
    head: Sequence[str], rows: Sequence[Cells], shown: int, words: Sequence[int] = (0,)
) -> list[Block]:
    """Return a table of the first rows, and one of the others folded away."""
    table = Table(head, rows[:shown], words)
    if len(rows) <= shown:
        return [table]
    return [table, Details(f"{len(rows) - shown:,} more", [Table(head, rows[shown:], words)])]


def picture(draw: Callable[[Axes], object], caption: str) -> Picture:
    """Draw a picture in the colours of the page."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 2.9), layout="constrained")
        draw(figure.add_subplot())
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", dpi=200, metadata=nothing)
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    for colour, own in THEME.items():
        svg = re.sub(colour, own, svg, flags=re.IGNORECASE)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)  # a page needs none
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)  # would be the same in all pictures
    return Picture(re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2), caption)
