"""The rows of a comparison's summary, and its tables."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from gbrank.common.table import Table
from gbrank.evaluation.statistics import power_sentence

NOTE = (
    "p is corrected for the number of rankers (Holm), which intervals are not: one without 0 may\n"
    "stand beside a large p."
)


@dataclass(frozen=True)
class Row:
    """The value of one ranker by one measure, and its difference; NaN where there is no number."""

    data: str
    measure: str
    ranker: str
    n_queries: int  # that count
    n_skipped: int  # as the measure is undefined there, such as without a relevant document
    mean: float  # over the queries of all folds, of scores averaged over seeds
    low: float  # the ends of its 95% bootstrap interval over queries
    high: float
    seed_deviation: float  # standard deviation, over seeds, of the mean over queries
    difference: float  # of the mean from the baseline's
    difference_low: float  # the ends of its 95% bootstrap interval over queries
    difference_high: float
    p_randomisation: float  # of paired tests of the difference
    p_t: float
    rounds: float  # mean number of rounds kept
    cpu_seconds: float  # mean CPU seconds of a fit
    # Of both p-values, for the number of rankers compared with the baseline; intervals have none.
    p_correction: str = field(default="Holm", init=False)
    smallest: float = math.nan  # difference that these queries tell: power 0.8, level 0.05
    n_needed: float = math.nan  # queries that tell the difference that was asked for
    n_worth: float = math.nan  # queries that people need not judge, thanks to the judge

    @property
    def is_compared(self) -> bool:
        """Whether it is compared with the baseline."""
        return not (math.isnan(self.p_randomisation) and math.isnan(self.p_t))


Columns: TypeAlias = tuple[tuple[str, str], ...]  # heads, and the numbers of a row below them

MEANS = (
    ("mean", "{mean:.4f}"),
    ("95% interval", "{low:.4f} to {high:.4f}"),
    ("seeds ±", "{seed_deviation:.4f}"),
)
COSTS = ("rounds", "{rounds:.0f}"), ("CPU s", "{cpu_seconds:.1f}")
DIFFERENCES = (
    ("difference", "{difference:+.4f}"),
    ("95% interval", "{difference_low:+.4f} to {difference_high:+.4f}"),
    ("p (random., Holm)", "{p_randomisation:.4f}"),
    ("p (t, Holm)", "{p_t:.4f}"),
)


def as_text(rows: Sequence[Row], asked: float) -> str:
    """Return the rows of one measure in columns: means, and below them differences."""
    compared = [row for row in rows if row.is_compared]
    parts = [_title(rows), table_of(rows, (*MEANS, *COSTS), "ranker").to_text()]
    if compared:
        baseline = next(row.ranker for row in rows if not row.is_compared)
        parts.append(table_of(compared, DIFFERENCES, f"minus {baseline}").to_text())
        parts.append(_queries_line(compared, asked))
    return "\n".join(parts)


def as_table(rows: Sequence[Row], asked: float) -> Table:
    """Return the rows of one measure as one table."""
    compared = [row for row in rows if row.is_compared]
    caption = [_title(rows), *([_queries_line(compared, asked)] if compared else [])]
    return table_of(rows, (*MEANS, *DIFFERENCES, *COSTS), "ranker", ". ".join(caption))


def table_of(rows: Sequence[Row], columns: Columns, head: str, caption: str = "") -> Table:
    """Return a table of the columns that have a number."""
    cells = {column: [_cell(row, column) for row in rows] for column in columns}
    kept = [column for column in columns if any(cells[column])]
    names = [row.ranker for row in rows]
    lines = list(zip(names, *(cells[column] for column in kept), strict=True))
    return Table([head, *(name for name, _ in kept)], lines, caption=caption)


def _cell(row: Row, column: tuple[str, str]) -> str:
    """Return numbers as text; nothing for NaN."""
    if column in DIFFERENCES and not row.is_compared:
        return "baseline" if column is DIFFERENCES[0] else ""
    text = column[1].format_map(vars(row))
    return "" if "nan" in text else text


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
