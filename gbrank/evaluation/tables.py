"""A comparison's tables: as text, Markdown and HTML."""

import math
from collections.abc import Sequence

from gbrank.common.tabulate import html_table, markdown_table
from gbrank.evaluation.summary import Row

HEAD = (
    "ranker", "mean", "95% interval", "seeds ±", "difference", "95% interval", "p (random.)",
    "p (t)", "ECE", "rounds", "CPU s",
)  # fmt: skip


def as_text(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure in columns."""
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join([name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])])
        for name, *numbers in cells
    ]
    return "\n".join([_title(rows), *(f"  {line}".rstrip() for line in lines)])


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure as a Markdown table."""
    return f"**{_title(rows)}**\n\n{markdown_table(HEAD, map(_cells, rows))}"


def as_html(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure as an HTML table."""
    return html_table(HEAD, map(_cells, rows), _title(rows))


def _title(rows: Sequence[Row]) -> str:
    first = rows[0]
    return f"{first.data}, {first.measure}: {first.n_queries} queries, {first.n_skipped} skipped"


def _cells(row: Row) -> tuple[str, ...]:
    compared = not math.isnan(row.p_randomisation)
    return (
        row.ranker,
        f"{row.mean:.4f}",
        _shown(".4f", row.low, row.high),
        _shown(".4f", row.seed_deviation),
        f"{row.difference:+.4f}" if compared else "baseline",
        _shown("+.4f", row.difference_low, row.difference_high) if compared else "",
        _shown(".4f", row.p_randomisation),
        _shown(".4f", row.p_t),
        _shown(".4f", row.calibration_error),
        _shown(".0f", row.rounds),
        f"{row.cpu_seconds:.1f}",
    )


def _shown(form: str, *values: float) -> str:
    """Return a number, or the ends of an interval; nothing for NaN."""
    return "" if math.isnan(values[0]) else " to ".join(format(value, form) for value in values)
