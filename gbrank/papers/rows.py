"""Rows of the tables: what a paper says, and what was measured."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from gbrank.evaluation.statistics import interval, stratified_mean

__all__ = ["Row", "measured", "rows_to_json", "rows_to_markdown"]

Vector = NDArray[np.float64]

HEAD = ("paper", "data", "figure", "ours", "95% interval", "paper's", "note")


@dataclass(frozen=True)
class Row:
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
    """

    paper: str
    data: str
    figure: str
    ours: float | None
    paper_value: float | str | None
    ci_low: float | None = None
    ci_high: float | None = None
    note: str = ""


def measured(
    paper: str,
    data: str,
    figure: str,
    folds: Sequence[Vector],
    paper_value: float | str | None,
    note: str = "",
) -> Row:
    """Return a row of the mean over folds of the mean over queries, as LETOR's scripts average.

    Parameters
    ----------
    paper, data, figure : str
    folds : sequence of ndarray, shape (n_queries,)
        What each query of a fold is worth; NaN where it is skipped.
    paper_value : float, str or None
    note : str

    Returns
    -------
    Row

    Examples
    --------
    >>> row = measured("a paper", "data", "NDCG@10", [np.array([0.0, 1.0, np.nan])], 0.5)
    >>> row.ours, row.ci_low, row.ci_high
    (0.5, 0.0, 1.0)
    """
    strata = [values[None, ~np.isnan(values)] for values in folds]
    (mean,), (low,), (high,) = stratified_mean(strata), *interval(strata)
    return Row(paper, data, figure, float(mean), paper_value, float(low), float(high), note)


def rows_to_json(rows: Sequence[Row]) -> str:
    """Return rows as a JSON list, with null for None.

    Parameters
    ----------
    rows : sequence of Row

    Returns
    -------
    str

    Examples
    --------
    >>> rows_to_json([]).strip()
    '[]'
    """
    return json.dumps([asdict(row) for row in rows], indent=1, allow_nan=False) + "\n"


def rows_to_markdown(rows: Sequence[Row]) -> str:
    """Return rows as a table in Markdown.

    Parameters
    ----------
    rows : sequence of Row

    Returns
    -------
    str

    Examples
    --------
    >>> print(rows_to_markdown([Row("a paper", "data", "NDCG@10", 0.5, 0.457, 0.25, 0.75)]))
    | paper | data | figure | ours | 95% interval | paper's | note |
    |---|---|---|---|---|---|---|
    | a paper | data | NDCG@10 | 0.5000 | 0.2500 to 0.7500 | 0.457 |  |
    """
    lines = [HEAD, ("---",) * len(HEAD), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(line)} |".replace(" --- ", "---") for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    ours = "–" if row.ours is None else f"{row.ours:.4f}"
    between = "" if row.ci_low is None else f"{row.ci_low:.4f} to {row.ci_high:.4f}"
    said = "lost" if row.paper_value is None else str(row.paper_value)
    return row.paper, row.data, row.figure, ours, between, said, row.note
