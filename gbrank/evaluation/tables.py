"""A comparison's tables."""

import math
from collections.abc import Sequence

from gbrank.common.table import Table
from gbrank.evaluation.power import told_line
from gbrank.evaluation.summary import Row

MEANS = ("ranker", "mean", "95% interval", "seeds ±", "rounds", "CPU s")
DIFFERENCES = ("difference", "95% interval", "p (random., Holm)", "p (t, Holm)")
NOTE = (
    "p is corrected for the number of rankers (Holm), which intervals are not: one without 0 may\n"
    "stand beside a large p."
)


def as_text(rows: Sequence[Row], asked: float) -> str:
    """Return the rows of one data set and measure in columns: means, and below them differences."""
    compared = list(filter(_is_compared, rows))
    parts = [_title(rows), _without_empty(MEANS, list(map(_means, rows))).to_text()]
    if compared:
        baseline = next(row.ranker for row in rows if row not in compared)
        cells = [(row.ranker, *_differences(row)) for row in compared]
        parts.append(_without_empty((f"minus {baseline}", *DIFFERENCES), cells).to_text())
        parts.append(queries_line(rows, asked))
    return "\n".join(parts)


def as_table(rows: Sequence[Row], asked: float) -> Table:
    """Return the rows of one data set and measure as one table."""
    head = (*MEANS[:4], *DIFFERENCES, *MEANS[4:])
    caption = ". ".join(filter(None, [_title(rows), queries_line(rows, asked)]))
    return _without_empty(head, list(map(_cells, rows)), caption)


def _title(rows: Sequence[Row]) -> str:
    first = rows[0]
    counts = f"{first.n_queries} queries, {first.n_skipped} skipped"
    if not math.isnan(first.n_worth):
        counts = f"{first.n_queries} queries judged by people, {first.n_skipped} more by a judge"
    return f"{first.data}, {first.measure}: {counts}"


def _without_empty(head: Sequence[str], rows: list[tuple[str, ...]], caption: str = "") -> Table:
    """Return a table of the columns that say anything."""
    kept = [place for place in range(len(head)) if any(row[place] for row in rows)]
    return Table(
        [head[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        caption=caption,
    )


def queries_line(rows: Sequence[Row], asked: float) -> str:
    """Say what difference the queries of one data set and measure tell; of several, the widest."""
    compared = list(filter(_is_compared, rows))
    if not compared:
        return ""
    widest = max(compared, key=lambda row: row.smallest)
    text = told_line(widest.n_queries, widest.smallest, widest.n_needed, asked)
    if math.isnan(widest.n_worth):
        return text
    worth = min(row.n_worth for row in compared)
    judge = f"as much as {worth:.1f} more queries judged by people" if worth > 0 else "nothing"
    return f"{text}\nTo the differences, the judge is worth {judge}."


def _cells(row: Row) -> tuple[str, ...]:
    means = _means(row)
    return (*means[:4], *_differences(row), *means[4:])


def _is_compared(row: Row) -> bool:
    return not (math.isnan(row.p_randomisation) and math.isnan(row.p_t))


def _means(row: Row) -> tuple[str, ...]:
    return (
        row.ranker,
        f"{row.mean:.4f}",
        _shown(".4f", row.low, row.high),
        _shown(".4f", row.seed_deviation),
        _shown(".0f", row.rounds),
        _shown(".1f", row.cpu_seconds),
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
