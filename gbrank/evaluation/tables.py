"""A comparison's tables: as text, Markdown and HTML."""

import math
from collections.abc import Iterator, Sequence

from gbrank.common.tabulate import html_table, markdown_table
from gbrank.evaluation.summary import Row

MEANS = ("ranker", "mean", "95% interval", "seeds ±", "ECE", "rounds", "CPU s")
DIFFERENCES = ("difference", "95% interval", "p (random., Holm)", "p (t, Holm)")
NOTE = (
    "p is corrected for the number of rankers (Holm), which intervals are not: one without 0 may\n"
    "stand beside a large p."
)
WIDEST_NAME = 32  # longer ones get a line of their own, so that lines have at most 100 columns


def as_text(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure in columns: means, and below them differences."""
    compared = list(filter(_is_compared, rows))
    lines = [_title(rows), *_columns([MEANS, *map(_means, rows)])]
    if compared:
        baseline = next(row.ranker for row in rows if row not in compared)
        head = (f"minus {baseline}", *DIFFERENCES)
        lines += _columns([head, *((row.ranker, *_differences(row)) for row in compared)])
    return "\n".join(lines)


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure as a Markdown table."""
    return f"**{_title(rows)}**\n\n{markdown_table(_HEAD, map(_cells, rows))}"


def as_html(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure as an HTML table."""
    return html_table(_HEAD, map(_cells, rows), _title(rows))


def _title(rows: Sequence[Row]) -> str:
    first = rows[0]
    return f"{first.data}, {first.measure}: {first.n_queries} queries, {first.n_skipped} skipped"


_HEAD = (*MEANS[:4], *DIFFERENCES, *MEANS[4:])


def _cells(row: Row) -> tuple[str, ...]:
    means = _means(row)
    return (*means[:4], *_differences(row), *means[4:])


def _is_compared(row: Row) -> bool:
    return not math.isnan(row.p_randomisation)


def _means(row: Row) -> tuple[str, ...]:
    return (
        row.ranker,
        f"{row.mean:.4f}",
        _shown(".4f", row.low, row.high),
        _shown(".4f", row.seed_deviation),
        _shown(".4f", row.calibration_error),
        _shown(".0f", row.rounds),
        f"{row.cpu_seconds:.1f}",
    )


def _differences(row: Row) -> tuple[str, ...]:
    if not _is_compared(row):
        return ("baseline", "", "", "")
    return (
        f"{row.difference:+.4f}",
        _shown("+.4f", row.difference_low, row.difference_high),
        _shown(".4f", row.p_randomisation),
        _shown(".4f", row.p_t),
    )


def _shown(form: str, *values: float) -> str:
    """Return a number, or the ends of an interval; nothing for NaN."""
    return "" if math.isnan(values[0]) else " to ".join(format(value, form) for value in values)


def _columns(cells: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield lines of a name and numbers, aligned."""
    names, *numbers = zip(*cells, strict=True)
    width = max(len(name) for name in ("", *names) if len(name) <= WIDEST_NAME)
    widths = [max(map(len, column)) for column in numbers]
    for name, *line in cells:
        if len(name) > width:
            yield f"  {name}"
            name = ""
        yield "  ".join([f"  {name:<{width}}", *map(str.rjust, line, widths)]).rstrip()
