"""Rows of the tables: what a paper says, and what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.writing import markdown_table
from gbrank.evaluation.statistics import interval, stratified_mean

__all__ = ["PaperRow", "measured", "rows_to_markdown"]

HEAD = ("paper", "data", "figure", "ours", "95% interval", "paper's", "deviations", "note")


@dataclass(frozen=True)
class PaperRow:
    """One figure of a paper.

    Parameters
    ----------
    paper, data : str
        Whose figure it is, on which data.
    figure : str
        What it says, and where it stands in the paper.
    ours : float or None
        What was measured; None where the data are lost, as `note` says.
    paper_value : float, str or None
        The paper's; words where it only draws or describes it, None where it is lost.
    ci_low, ci_high : float or None
        95% bootstrap interval over queries of `ours`.
    note : str
        What else there is to know.
    deviations : str
        How it was made otherwise than in the paper.
    """

    paper: str
    data: str
    figure: str
    ours: float | None
    paper_value: float | str | None
    ci_low: float | None = None
    ci_high: float | None = None
    note: str = ""
    deviations: str = ""


def measured(
    paper: str,
    data: str,
    figure: str,
    folds: Sequence[NDArray[np.float64]],
    paper_value: float | str | None,
    note: str = "",
) -> PaperRow:
    """Return a row of the mean over folds of the mean over queries, as LETOR's scripts average."""
    strata = [values[None, ~np.isnan(values)] for values in folds]
    (mean,), (low,), (high,) = stratified_mean(strata), *interval(strata)
    return PaperRow(paper, data, figure, float(mean), paper_value, float(low), float(high), note)


def rows_to_markdown(rows: Sequence[PaperRow]) -> str:
    """Return rows as a table in Markdown."""
    return markdown_table(HEAD, map(_cells, rows), words=len(HEAD))


def _cells(row: PaperRow) -> tuple[str, ...]:
    ours = "–" if row.ours is None else f"{row.ours:.4f}"
    between = "" if row.ci_low is None else f"{row.ci_low:.4f} to {row.ci_high:.4f}"
    said = "lost" if row.paper_value is None else str(row.paper_value)
    return row.paper, row.data, row.figure, ours, between, said, row.deviations, row.note
