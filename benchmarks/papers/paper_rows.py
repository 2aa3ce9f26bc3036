"""Rows of the tables: what a paper says, and what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.strata import interval, stratified_mean

__all__ = ["AVERAGE", "FAR", "PaperRow", "as_letor", "measured"]

FAR = 0.012  # a row whose difference is larger is explained
AVERAGE = "over folds and their queries; one without a relevant document counts as 0"


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
        What was measured; None where that is not possible, as `note` says.
    paper_value : float, str or None
        The paper's; words where it only draws or describes it, None where it is lost.
    ci_low, ci_high : float or None
        95% interval of `ours`: a bootstrap over queries, or that of t for means over trainings.
    note : str
        What else there is to know.
    deviations : str
        How it was made otherwise than in the paper.
    average : str
        Over what `ours` is a mean, if it is one.
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
    average: str = ""

    @property
    def rounded(self) -> "PaperRow":
        """The row as it is printed: four decimals, or four digits of a number above 1."""
        return replace(
            self,
            ours=_rounded(self.ours),
            ci_low=_rounded(self.ci_low),
            ci_high=_rounded(self.ci_high),
        )

    @property
    def difference(self) -> float | None:
        """Ours less the paper's, if both are numbers."""
        if self.ours is None or self.paper_value is None or isinstance(self.paper_value, str):
            return None
        return _rounded(self.ours - self.paper_value)

    @property
    def number(self) -> tuple[str, str, str, float | str | None]:
        """The paper's number: in several figures we train in another way for the same one."""
        measure = self.figure.split(maxsplit=1)[0].rstrip(",")
        return self.paper, self.figure.rpartition("(")[2], measure, self.paper_value

    @property
    def is_far(self) -> bool:
        """Whether ours is so far from the paper's that it must be explained."""
        return self.difference is not None and abs(self.difference) > FAR

    @property
    def is_within(self) -> bool:
        """Whether the paper's number is within our interval."""
        numbers = (self.ci_low, self.paper_value, self.ci_high)
        low, value, high = (np.nan if isinstance(x, str) or x is None else x for x in numbers)
        return bool(low <= value <= high)


def _rounded(value: float | None) -> float | None:
    if value is None or isinstance(value, int):
        return value
    return round(value, 4) + 0.0 if abs(value) < 1 else float(f"{value:.4g}")


def as_letor(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return queries' values as LETOR's scripts average them: 0 without a relevant document."""
    return np.nan_to_num(values)


def measured(
    paper: str,
    data: str,
    figure: str,
    folds: Sequence[NDArray[np.float64]],
    paper_value: float | str | None,
    note: str = "",
    average: str = AVERAGE,
) -> PaperRow:
    """Return a row of the mean over folds of the mean over queries."""
    strata = [values[None] for values in folds]
    (mean,), (low,), (high,) = stratified_mean(strata), *interval(strata)
    ours = float(mean), paper_value, float(low), float(high)
    return PaperRow(paper, data, figure, *ours, note, average=average)
