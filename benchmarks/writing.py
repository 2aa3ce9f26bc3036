"""Where numbers and pages go, and how they are written: rows as JSON, tables as Markdown."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gbrank.common.table import Table

RESULTS = Path(__file__).parent / "results"  # numbers, and the tables made of them
SITE = Path(__file__).parents[1] / "docs" / "studies"  # pages for users


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a table whose first `words` columns are text, the others right-aligned numbers."""
    return Table(head, [*rows], words=range(words)).to_markdown()


def rows_to_json(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a JSON list with a line for each row, its numbers to four significant digits."""
    lines = (
        json.dumps(
            {name: _rounded(value) for name, value in row.items()},
            ensure_ascii=False,
            allow_nan=False,
        )
        for row in rows
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value
