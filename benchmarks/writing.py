"""Where numbers and pages go, and how they are written: rows as JSON, tables as Markdown."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gbrank.common.tabulate import markdown_table

__all__ = ["PAGES", "RESULTS", "markdown_table", "rows_to_json"]

RESULTS = Path(__file__).parent / "results"
PAGES = Path(__file__).parents[1] / "docs" / "studies"


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
