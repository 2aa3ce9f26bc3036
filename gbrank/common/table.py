"""Tables: one value that is shown as text, Markdown, HTML and a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from .runtime import import_optional

if TYPE_CHECKING:
    import pandas as pd

WIDEST_NAME = 32  # longer ones get a line of their own, so that lines have at most 100 columns


@dataclass(frozen=True)
class Table:
    """Rows of values under the names of their columns.

    Numbers are shown with four digits, missing ones as nothing; all columns but those of `words`
    are numbers.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    words: Collection[int] = (0,)
    caption: str = ""

    @classmethod
    def of(cls, columns: Mapping[str, Sequence[Any]], **options: Any) -> Table:
        """Make a table from its columns."""
        return cls([*columns], [*zip(*columns.values(), strict=True)], **options)

    def to_pandas(self) -> pd.DataFrame:
        """Convert the table to a data frame."""
        return import_optional("pandas").DataFrame([*self.rows], columns=[*self.head])

    def to_markdown(self) -> str:
        """Format the table as Markdown, without its caption."""
        rule = ["---" if column in self.words else "---:" for column in range(len(self.head))]
        title, *lines = (
            f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
            for cells in (self.head, *self._cells())
        )
        return "\n".join([title, f"|{'|'.join(rule)}|", *lines])

    def to_html(self) -> str:
        """Format the table as HTML, for notebooks."""
        title, *lines = (
            "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
            for tag, cells in (("th", self.head), *(("td", cells) for cells in self._cells()))
        )
        above = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        return f"<table>{above}<thead><tr>{title}</tr></thead><tbody>{body}</tbody></table>"

    def to_text(self) -> str:
        """Format aligned lines of a name and numbers, for a terminal."""
        cells = [[*self.head], *self._cells()]
        names, *numbers = zip(*cells, strict=True)
        width = max(len(name) for name in ("", *names) if len(name) <= WIDEST_NAME)
        widths = [max(map(len, column)) for column in numbers]
        lines = []
        for name, *line in cells:
            if len(name) > width:
                lines.append(f"  {name}")
                name = ""
            lines.append("  ".join([f"  {name:<{width}}", *map(str.rjust, line, widths)]).rstrip())
        return "\n".join(lines)

    def _cells(self) -> Iterator[list[str]]:
        return ([cell_text(value) for value in row] for row in self.rows)


class Tabular(ABC):
    """Something that notebooks show as a table."""

    def to_pandas(self) -> pd.DataFrame:
        """Convert the table to a data frame.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self._table().to_pandas()

    def to_markdown(self) -> str:
        """Format the table as Markdown, without its caption.

        Returns
        -------
        str
        """
        return self._table().to_markdown()

    def _repr_html_(self) -> str:
        return self._table().to_html()

    @abstractmethod
    def _table(self) -> Table:
        """Return the table."""


def cell_text(value: object) -> str:
    """Format a value for a cell."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.4g}"
    return str(value)


def number_names(values: Sequence[float]) -> list[str]:
    """Name numbers, different ones differently.

    Whole and large ones are written in full, others with six digits, if these tell them apart.
    """
    full = [str(value).removesuffix(".0") for value in values]
    short = [
        name if abs(value) >= 1e5 or value == round(value) else f"{value:.6g}"
        for name, value in zip(full, values, strict=True)
    ]
    return short if len(set(short)) == len(set(values)) else full
