"""An experiment: how rows of a paper come about, once."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.settings import Settings
from gbrank.common.files import replace_file

__all__ = ["Experiment", "finish", "finished"]


class Experiment(NamedTuple):
    """How rows of a paper come about, which data that reads, and where it deviates.

    Parameters
    ----------
    datasets : tuple of str
        The folders of data.
    run : callable
        Takes the settings and yields the rows.
    deviations : str
        Of the rows that do not name their own.
    pictures : dict of str to str
        What `run` draws, by name, and what the paper's picture shows.
    minutes : float
        Of a processor, roughly: the share of the progress bar.
    """

    datasets: tuple[str, ...]
    run: Callable[[Settings], Iterator[PaperRow]]
    deviations: str = ""
    pictures: Mapping[str, str] = {}
    minutes: float = 1.0

    def with_deviations(self, rows: list[PaperRow]) -> list[PaperRow]:
        """Return the rows, each with its deviations from the paper."""
        return [replace(row, deviations=row.deviations or self.deviations) for row in rows]


def finish(
    name: str, experiment: Experiment, settings: Settings, after_row: Callable[[], object]
) -> list[PaperRow]:
    """Run an experiment, and keep its rows, rounded, in the folder of results."""
    rows = []
    for row in experiment.run(settings):
        rows.append(row.rounded)
        after_row()
    content = {**_made_with(settings), "rows": list(map(asdict, rows))}
    text = json.dumps(content, ensure_ascii=False, indent=1)
    replace_file(_path(name, settings), text.encode())
    return rows


def finished(name: str, settings: Settings) -> list[PaperRow] | None:
    """Return the rows of an experiment that was run with the same settings, if they are kept."""
    path = _path(name, settings)
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    rows = content.pop("rows")
    return [PaperRow(**row) for row in rows] if content == _made_with(settings) else None


def _made_with(settings: Settings) -> dict[str, str | int]:
    return {"data": str(settings.folder.resolve()), "queries": settings.queries}


def _path(name: str, settings: Settings) -> Path:
    return settings.results / f"{name}.json"
