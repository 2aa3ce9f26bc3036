"""A comparison's tables."""

import math
from collections.abc import Sequence

from gbrank.common.table import Table
from gbrank.evaluation.summary import Row

MEANS = ("ranker", "mean", "95% interval", "seeds ±", "ECE", "rounds", "CPU s")
DIFFERENCES = ("difference", "95% interval", "p (random., Holm)", "p (t, Holm)")
NOTE = (
    "p is corrected for the number of rankers (Holm), which intervals are not: one without 0 may\n"
    "stand beside a large p."
)


def as_text(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure in columns: means, and below them differences."""
    compared = list(filter(_is_compared, rows))
    parts = [as_table(rows).caption, Table(MEANS, list(map(_means, rows))).to_text()]
    if compared:
        baseline = next(row.ranker for row in rows if row not in compared)
        cells = [(row.ranker, *_differences(row)) for row in compared]
        parts.append(Table((f"minus {baseline}", *DIFFERENCES), cells).to_text())
    return "\n".join(parts)


def as_table(rows: Sequence[Row]) -> Table:
    """Return the rows of one data set and measure as one table."""
    first = rows[0]
    counts = f"{first.n_queries} queries, {first.n_skipped} skipped"
    caption = f"{first.data}, {first.measure}: {counts}"
    head = (*MEANS[:4], *DIFFERENCES, *MEANS[4:])
    return Table(head, list(map(_cells, rows)), caption=caption)


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
