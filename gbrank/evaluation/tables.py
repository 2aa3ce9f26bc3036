"""A comparison's tables."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from gbrank.common.table import Table
from gbrank.evaluation.power import power_sentence
from gbrank.evaluation.summary import Row

NOTE = (
    "p is corrected for the number of rankers (Holm), which intervals are not: one without 0 may\n"
    "stand beside a large p."
)


class Column(NamedTuple):
    """A column of a table: its head, and the format and names of the numbers of a `Row`."""

    head: str
    form: str
    names: tuple[str, ...]  # two are the ends of an interval


MEANS = (
    Column("mean", ".4f", ("mean",)),
    Column("95% interval", ".4f", ("low", "high")),
    Column("seeds ±", ".4f", ("seed_deviation",)),
)
COSTS = Column("rounds", ".0f", ("rounds",)), Column("CPU s", ".1f", ("cpu_seconds",))
DIFFERENCES = (
    Column("difference", "+.4f", ("difference",)),
    Column("95% interval", "+.4f", ("difference_low", "difference_high")),
    Column("p (random., Holm)", ".4f", ("p_randomisation",)),
    Column("p (t, Holm)", ".4f", ("p_t",)),
)


def as_text(rows: Sequence[Row], asked: float) -> str:
    """Return the rows of one measure in columns: means, and below them differences."""
    compared = [row for row in rows if row.is_compared]
    parts = [_title(rows), _table(rows, (*MEANS, *COSTS), "ranker").to_text()]
    if compared:
        baseline = next(row.ranker for row in rows if not row.is_compared)
        parts.append(_table(compared, DIFFERENCES, f"minus {baseline}").to_text())
        parts.append(_queries_line(compared, asked))
    return "\n".join(parts)


def as_table(rows: Sequence[Row], asked: float) -> Table:
    """Return the rows of one measure as one table."""
    compared = [row for row in rows if row.is_compared]
    caption = [_title(rows), *([_queries_line(compared, asked)] if compared else [])]
    return _table(rows, (*MEANS, *DIFFERENCES, *COSTS), "ranker", ". ".join(caption))


def _table(rows: Sequence[Row], columns: Sequence[Column], head: str, caption: str = "") -> Table:
    """Return a table of the columns that have a number."""
    cells = {column: [_cell(row, column) for row in rows] for column in columns}
    kept = [column for column in columns if any(cells[column])]
    names = [row.ranker for row in rows]
    lines = list(zip(names, *(cells[column] for column in kept), strict=True))
    return Table([head, *(column.head for column in kept)], lines, caption=caption)


def _cell(row: Row, column: Column) -> str:
    """Return a number, or the ends of an interval; nothing for NaN."""
    if column in DIFFERENCES and not row.is_compared:
        return "baseline" if column is DIFFERENCES[0] else ""
    numbers = [getattr(row, name) for name in column.names]
    return "" if math.isnan(numbers[0]) else " to ".join(format(x, column.form) for x in numbers)


def _title(rows: Sequence[Row]) -> str:
    first = rows[0]
    counts = f"{first.n_queries} queries, {first.n_skipped} skipped"
    if not math.isnan(first.n_worth):
        counts = f"{first.n_queries} queries judged by people, {first.n_skipped} more by a judge"
    return f"{first.data}, {first.measure}: {counts}"


def _queries_line(compared: Sequence[Row], asked: float) -> str:
    """Return the sentence on the difference that the queries tell; of several, the widest."""
    widest = max(compared, key=lambda row: row.smallest)
    text = power_sentence(widest.n_queries, widest.smallest, widest.n_needed, asked)
    if math.isnan(widest.n_worth):
        return text
    worth = min(row.n_worth for row in compared)
    judge = f"as much as {worth:.1f} more queries judged by people" if worth > 0 else "nothing"
    return f"{text}\nTo the differences, the judge is worth {judge}."
