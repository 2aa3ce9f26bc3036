"""What came out of a comparison: as rows, text and JSON."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from gbrank.common.checks import check_choice
from gbrank.evaluation.stored_outcomes import columns, rows
from gbrank.evaluation.summary import Row, summarise
from gbrank.evaluation.trial import PARTS, Outcome

__all__ = ["Comparison"]

HEAD = (
    "ranker", "mean", "95% interval", "seeds ±", "difference", "95% interval", "p (random.)",
    "p (t)", "ECE", "rounds", "s/fit",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Comparison:
    """What rankers are worth on the same queries; made by `compare_rankers`.

    Parameters
    ----------
    outcomes : sequence of Outcome
        What came out of each fit.
    measures : sequence of str
    baseline : str
        The ranker that the others are compared with.

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic
    >>> X, y, qid = make_cubic(30, n_documents=10, n_features=5, random_state=0)
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> comparison = cross_validate_rankers(rankers, X, y, qid, folds=3, seeds=2, n_jobs=1)
    >>> row = comparison.summary()[1]
    >>> row.ranker, row.n_queries, row.difference_low < row.difference < row.difference_high
    ('lambdarank', 30, True)
    """

    outcomes: Sequence[Outcome] = field(repr=False)
    measures: Sequence[str]
    baseline: str

    @property
    def records(self) -> dict[str, list[Any]]:
        """What each query is worth in each fit: columns, as data frames are made from."""
        table = [row for outcome in self.outcomes for row in rows(outcome)]
        return dict(zip(columns(self.measures), map(list, zip(*table, strict=True)), strict=True))

    @cached_property
    def _summaries(self) -> dict[str, list[Row]]:
        return {
            part: summarise(self.outcomes, self.measures, self.baseline, part) for part in PARTS
        }

    def summary(self, part: str = "test") -> list[Row]:
        """Return a row per data set, measure and ranker, and those of all data sets together.

        The scores of a query are averaged over seeds (and over folds, where several test it)
        before anything else. The mean over data sets gives each of them the same weight; its
        intervals and tests resample queries within their data set.

        Parameters
        ----------
        part : {"test", "valid"}
            Which queries: those that a fold tests, to report; or those that it validates, to
            choose by.

        Returns
        -------
        list of Row
        """
        return self._summaries[check_choice(part, "part", PARTS)]

    def table(self, part: str = "test") -> str:
        """Return the summary as text.

        Parameters
        ----------
        part : {"test", "valid"}
            As for `summary`.

        Returns
        -------
        str
        """
        return "\n\n".join(map(_text, self.blocks(part)))

    def to_json(self) -> dict[str, Any]:
        """Return the summaries as JSON can hold them.

        Returns
        -------
        dict
            "baseline", "measures", "seeds"; and "test" and "valid", each a list with a dict for
            every `Row`, with None for NaN.
        """
        seeds = list(dict.fromkeys(outcome.trial.seed for outcome in self.outcomes))
        described = {"baseline": self.baseline, "measures": list(self.measures), "seeds": seeds}
        return described | {
            part: [
                {name: None if value != value else value for name, value in asdict(row).items()}
                for row in self.summary(part)
            ]
            for part in reversed(PARTS)
        }

    def blocks(self, part: str = "test") -> list[list[Row]]:
        """Return the rows of each data set and measure.

        Parameters
        ----------
        part : {"test", "valid"}
            As for `summary`.

        Returns
        -------
        list of list of Row
        """
        blocks: dict[tuple[str, str], list[Row]] = {}
        for row in self.summary(part):
            blocks.setdefault((row.data, row.measure), []).append(row)
        return list(blocks.values())


def _text(rows: Sequence[Row]) -> str:
    """Return the rows of one data set and measure as text."""
    first = rows[0]
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join([name.ljust(widths[0]), *map(str.rjust, numbers, widths[1:])])
        for name, *numbers in cells
    ]
    title = f"{first.data}, {first.measure}: {first.n_queries} queries, {first.n_skipped} skipped"
    return "\n".join([title, *(f"  {line}".rstrip() for line in lines)])


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
        f"{row.seconds:.1f}",
    )


def _interval(low: float, high: float, form: str) -> str:
    return "" if math.isnan(low) else f"{low:{form}} to {high:{form}}"


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)
