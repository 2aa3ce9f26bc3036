"""Pages of HTML, each in one file: their templates, numbers and pictures."""

import io
import math
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from matplotlib import rc_context, rc_params_from_file
from matplotlib.figure import Figure

from gbrank.common.checks import shortened
from gbrank.common.files import StrPath
from gbrank.common.runtime import import_optional
from gbrank.common.table import cell_text
from gbrank.common.version import __version__
from gbrank.data.text_files import written
from gbrank.plots.style import BLUE, GREY, ORANGE

SPACE = "\u00a0"  # at which no line breaks
NONE = "–"  # where there is no number
INK = "#010203"  # in picture.mplstyle: stands for the colour of the page's text
# The page's own colours, which depend on whether it is light or dark.
THEME = {INK: "currentColor", BLUE: "var(--accent)", ORANGE: "var(--second)", GREY: "var(--quiet)"}
STYLE = rc_params_from_file(
    Path(__file__).with_name("picture.mplstyle"), use_default_template=False
)


def write_page(path: StrPath, template: str, **content: Any) -> Path:
    """Write a page, whole or not at all, by a template that stands beside this file."""
    jinja = import_optional("jinja2", "report")
    environment = jinja.Environment(
        loader=jinja.PackageLoader("gbrank.plots.report", ""),
        undefined=jinja.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell_text": cell_text, "name": name, "number": number}
    made = f"Made by gbrank {__version__} on {date.today():%Y-%m-%d}."
    page = environment.get_template(template).render(count=count, made=made, **content)
    with written(path) as file:
        file.write(page.encode(errors="backslashreplace"))  # a lone surrogate has no code
    return Path(path)


def picture(draw: Callable[..., object], *arguments: Any) -> str:
    """Draw a picture, on axes that are the first argument, as SVG in the colours of the page."""
    with rc_context(STYLE):
        figure = Figure()
        draw(figure.add_subplot(), *arguments)
        file = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, metadata=nothing)
    svg = "<svg" + file.getvalue().partition("<svg")[2]
    for colour, of_page in THEME.items():
        svg = re.sub(colour, of_page, svg, flags=re.IGNORECASE)
    # A page needs no names of spaces, and names of groups would be the same in all pictures.
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"|(?<=<g) id="[^"]*"(?=>)', "", svg)
    return re.sub(r' (width|height)="[\d.]+pt"', "", svg, count=2)


def number(value: float, form: str = ".4f") -> str:
    """Format a number with its sign as printers set it; a dash for NaN."""
    return NONE if math.isnan(value) else format(value, form).replace("-", "−")


def count(n: int, word: str) -> str:
    """Format a number of things."""
    return f"{n:,} {word}{'' if n == 1 else 's'}".replace("querys", "queries")


def name(value: object) -> str:
    """Shorten a name of the user's."""
    return shortened(str(value))
