"""The results of a comparison, as rows, tables and JSON."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

from gbrank.common.checks import check_choice
from gbrank.common.extras import needed
from gbrank.evaluation.summary import Row, summarise
from gbrank.evaluation.tables import NOTE, as_table, as_text
from gbrank.evaluation.trial import PARTS, Outcome, Scores

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Comparison:
    """What rankers are worth on the same queries; made by `compare_rankers`.

    Parameters
    ----------
    outcomes : sequence of Outcome
        The outcome of each fit.
    measures, baseline
        The names of the measures, and of the ranker that the others are compared with.
    asked : float
        The difference of which the summary says how many queries tell it.

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> result = cross_validate_rankers(rankers, *make_cubic(9, random_state=0), folds=3, n_jobs=1)
    >>> row = result.summary()[1]
    >>> row.ranker, row.n_queries, row.difference_low < row.difference < row.difference_high
    ('lambdarank', 9, True)
    """

    outcomes: Sequence[Outcome] = field(repr=False)
    measures: Sequence[str]
    baseline: str
    asked: float = 0.01

    @property
    def records(self) -> dict[str, list[Any]]:
        """The value of each query in each fit, as columns from which to make a data frame."""
        columns = defaultdict[str, list[Any]](list)
        for outcome, part in product(self.outcomes, PARTS):
            scores: Scores = getattr(outcome, part)
            head = asdict(outcome.trial) | {"part": part}
            end = {"rounds": outcome.rounds, "cpu_seconds": outcome.cpu_seconds}
            for place, query in enumerate(scores.queries):
                values = {name: own[place].item() for name, own in scores.values.items()}
                for name, value in {**head, "query": query, **values, **end}.items():
                    columns[name].append(value)
        return dict(columns)

    @cached_property
    def _summaries(self) -> dict[str, list[Row]]:
        inputs = self.outcomes, self.measures, self.baseline
        return {part: summarise(*inputs, part, self.asked) for part in PARTS}

    def summary(self, part: str = "test") -> list[Row]:
        """Return a row per data set, measure and ranker, and those of all data sets together.

        The scores of a query are averaged over seeds (and over folds, where several test it)
        before anything else. The mean over data sets gives each of them the same weight; its
        intervals and tests resample queries within their data set.

        Parameters
        ----------
        part : {"test", "valid"}
            A fold's test queries, to report, or its validation queries, to choose by.

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
        texts = (as_text(block, self.asked) for block in self.blocks(part))
        return "\n\n".join([*texts, *self._notes()])

    def to_markdown(self, part: str = "test") -> str:
        """Return the summary as Markdown.

        Parameters
        ----------
        part : {"test", "valid"}
            As for `summary`.

        Returns
        -------
        str
        """
        tables = (as_table(block, self.asked) for block in self.blocks(part))
        texts = (f"**{table.caption}**\n\n{table.to_markdown()}" for table in tables)
        return "\n\n".join([*texts, *self._notes()])

    def to_pandas(self, part: str = "test") -> "pd.DataFrame":
        """Return the summary as a data frame, whose columns are the fields of `Row`.

        p-values are corrected for the number of rankers, as the column ``p_correction`` says;
        intervals are not.

        Parameters
        ----------
        part : {"test", "valid"}
            As for `summary`.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return needed("pandas").DataFrame(map(asdict, self.summary(part)))

    def _repr_html_(self) -> str:
        """Return the tables as notebooks show them."""
        tables = (as_table(block, self.asked).to_html() for block in self.blocks())
        return "".join([*tables, *(f"<p>{note}</p>" for note in self._notes())])

    def _notes(self) -> list[str]:
        """Return what the tables need to be said of them."""
        return [NOTE] if any(len(rows) > 1 for rows in self.blocks()) else []

    def to_json(self) -> dict[str, Any]:
        """Return the summaries as JSON can hold them.

        Returns
        -------
        dict
            "baseline", "measures", "seeds"; and "test" and "valid", each a list with a dict for
            every `Row`, with None for NaN.
        """
        seeds = list(dict.fromkeys(outcome.trial.seed for outcome in self.outcomes))
        content = {"baseline": self.baseline, "measures": list(self.measures), "seeds": seeds}
        for part in reversed(PARTS):
            rows = map(asdict, self.summary(part))
            content[part] = [{k: None if v != v else v for k, v in row.items()} for row in rows]
        return content

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
