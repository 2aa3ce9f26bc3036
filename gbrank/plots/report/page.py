"""Pages of HTML: sections of paragraphs, tables, pictures and parts that fold away, in one file."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gbrank.common.checks import shortened
from gbrank.common.files import StrPath
from gbrank.common.runtime import import_optional
from gbrank.common.table import Table, cell_text
from gbrank.common.version import __version__
from gbrank.data.text_files import written
from gbrank.plots.style import BLUE, GREY, ORANGE

HERE = files("gbrank.plots.report")
TEXTS: dict[str, str] = json.loads(HERE.joinpath("texts.json").read_text(encoding="utf-8"))
SPACE = "\u00a0"  # at which no line breaks
NONE = "–"  # where there is no number
INK = "#010203"  # stands for the colour of the page's text
# The page's own colours, which depend on whether it is light or dark.
THEME = {INK: "currentColor", BLUE: "var(--accent)", ORANGE: "var(--second)", GREY: "var(--quiet)"}
INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
STYLE: dict[Any, Any] = {
    **dict.fromkeys(INKED, INK),
    "grid.color": GREY,
    "font.size": 8,
    "svg.fonttype": "none",
    "svg.hashsalt": "gbrank",
    "text.parse_math": False,
}


class Cell(NamedTuple):
    """A cell of a table: a text, perhaps with a bar that is a share of the column's largest."""

    text: str
    bar: float | None = None
    strong: bool = False

    def __str__(self) -> str:
        return self.text


class Lead(str):
    """The first sentence of a section."""

    lead = True


class Picture(NamedTuple):
    """A picture as SVG, and what it shows."""

    svg: str
    caption: str


class Details(NamedTuple):
    """A part of the page that is shown when its title is clicked."""

    title: str
    blocks: Iterable[Block]
    open: bool = False


class Section(NamedTuple):
    """A part of the page; `key` is what links to it are called."""

    key: str
    title: str
    blocks: Iterable[Block]


Cells: TypeAlias = list[Cell | str]  # of a row
Block: TypeAlias = str | Table | Picture | Details  # a text is a paragraph
Blocks: TypeAlias = Iterator[Block]
Fact: TypeAlias = tuple[str, str, str]  # a number, what it is of, and a note


def write_page(
    path: StrPath, kind: str, title: str, sections: Sequence[Section], facts: Sequence[Fact] = ()
) -> Path:
    """Write a page, whole or not at all; `kind` stands above its title, facts below."""
    jinja = import_optional("jinja2", "report")
    source = HERE.joinpath("template.html").read_text("utf-8")
    template = jinja.Template(source, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made = f"Made by gbrank {__version__} on {date.today():%Y-%m-%d}."
    page = template.render(
        kind=kind, title=title, facts=facts, sections=sections, made=made, cell_text=cell_text
    )
    with written(path) as file:
        file.write(page.encode(errors="backslashreplace"))  # a lone surrogate has no code
    return Path(path)


def picture(draw: Callable[[Axes], object], caption: str) -> Picture:
    """Draw a picture in the colours of the page."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 2.9), layout="constrained")
        draw(figure.add_subplot())
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", dpi=200, transparent=True, metadata=nothing)
    svg = "<svg" + file.getvalue().partition("<svg")[2]
    for colour, of_page in THEME.items():
        svg = re.sub(colour, of_page, svg, flags=re.IGNORECASE)
    # A page needs no names of spaces, and names of groups would be the same in all pictures.
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"|(?<=<g) id="[^"]*"(?=>)', "", svg)
    return Picture(re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2), caption)


def folded(head: list[str], rows: list[Cells], shown: int, words: Sequence[int] = (0,)) -> Blocks:
    """Yield a table of the first rows, and one of the others folded away."""
    yield Table(head, rows[:shown], words)
    if others := rows[shown:]:
        yield Details(f"{len(others):,} more", [Table(head, others, words)])


def number(value: float, form: str = ".4f") -> str:
    """Format a number with its sign as printers set it; a dash for NaN."""
    return NONE if math.isnan(value) else format(value, form).replace("-", "−")


def estimate(mean: float, low: float, high: float, *, form: str = ".4f") -> list[str]:
    """Format a mean, and the ends of its interval."""
    ends = NONE if math.isnan(low) else f"{number(low, form)} to {number(high, form)}"
    return [number(mean, form), ends]


def bar(value: float, largest: float, text: str | None = None) -> Cell:
    """Make a cell with a number, or a text, and a bar: its share of the largest number."""
    return Cell(number(value) if text is None else text, value / largest if value > 0 else 0.0)


def count(n: int, word: str) -> str:
    """Format a number of things."""
    return f"{n:,} {word}{'' if n == 1 else 's'}".replace("querys", "queries")


def name(value: object) -> str:
    """Shorten a name of the user's."""
    return shortened(str(value))
