"""Pages of HTML, each one file that needs no other and no network."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from importlib.resources import files
from pathlib import Path

from gbrank.common.extras import needed
from gbrank.common.files import check_folder
from gbrank.common.table import cell_text
from gbrank.common.version import __version__
from gbrank.datasets.text_files import written
from gbrank.plots.report.blocks import Fact, Section

TEMPLATE = "template.html"


def check_page(path: str | os.PathLike[str], argument: str) -> None:
    """Refuse a page that could not be written, before any work."""
    needed("jinja2", "report")
    check_folder(path, argument)


def write_page(
    path: str | os.PathLike[str],
    kind: str,
    title: str,
    sections: Sequence[Section],
    facts: Sequence[Fact] = (),
) -> Path:
    """Write a page, whole or not at all; `kind` stands above its title, facts below."""
    jinja2 = needed("jinja2", "report")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["text"] = cell_text
    template = files("gbrank.plots.report").joinpath(TEMPLATE).read_text(encoding="utf-8")
    page = environment.from_string(template).render(
        kind=kind,
        title=title,
        facts=facts,
        sections=sections,
        made=f"Made by gbrank {__version__} on {date.today():%Y-%m-%d}.",
    )
    with written(path) as file:
        file.write(page.encode(errors="backslashreplace"))  # a lone surrogate has no code
    return Path(path)
