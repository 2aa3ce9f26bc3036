"""A comparison's tables: as text, Markdown and HTML."""

import math
from collections.abc import Sequence
from html import escape

from gbrank.evaluation.summary import Row

__all__ = ["as_html", "as_markdown", "as_text"]

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
    """Return the rows of one data set and measure as a Markdown table, numbers to the right."""
    rule = "|---|" + "---:|" * (len(HEAD) - 1)
    head, *lines = (
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        for cells in (HEAD, *map(_cells, rows))
    )
    return "\n".join([f"**{_title(rows)}**", "", head, rule, *lines])


def as_html(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure as an HTML table."""
    head, *lines = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
        for tag, cells in (("th", HEAD), *(("td", _cells(row)) for row in rows))
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    caption = f"<caption>{escape(_title(rows))}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _title(rows: Sequence[Row]) -> str:
    first = rows[0]
    return f"{first.data}, {first.measure}: {first.n_queries} queries, {first.n_skipped} skipped"


def _cells(row: Row) -> tuple[str, ...]:
    compared = not math.isnan(row.p_randomisation)
    return (
        row.ranker,
        f"{row.mean:.4f}",
        _interval(row.low, row.high, ".4f"),
        _number(row.seed_deviation, ".4f"),
        f"{row.difference:+.4f}" if compared else "baseline",
        _interval(row.difference_low, row.difference_high, "+.4f") if compared else "",
        _number(row.p_randomisation, ".4f"),
        _number(row.p_t, ".4f"),
        _number(row.calibration_error, ".4f"),
        _number(row.rounds, ".0f"),
        f"{row.cpu_seconds:.1f}",
    )


def _interval(low: float, high: float, form: str) -> str:
    return "" if math.isnan(low) else f"{low:{form}} to {high:{form}}"


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)
