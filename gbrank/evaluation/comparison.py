"""The results of a comparison: values of queries, with rows, tables and JSON made from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gbrank.common.checks import Positions, Vector, as_json, check_choice
from gbrank.common.runtime import import_optional
from gbrank.common.table import Table
from gbrank.data.documents import Documents
from gbrank.data.queries import Queries
from gbrank.measures.judges import JUDGE, PEOPLE, both_values, queries_of_people
from gbrank.measures.measure import Measure, bind_to_rows

from . import statistics
from .statistics import LEVEL, MOST_QUERIES, POWER

if TYPE_CHECKING:
    import pandas as pd

Cube: TypeAlias = Vector  # shape (n_rankers, n_seeds, n_queries)

PARTS = ("valid", "test")  # of a fold, in which rankers are judged
NOTE = (
    "p-values are corrected for the number of rankers (Holm); intervals are not, so one may\n"
    "exclude 0 while its p-value is large."
)
MEANS = (
    ("mean", "{mean:.4f}"),
    ("95% interval", "{low:.4f} to {high:.4f}"),
    ("seeds ±", "{seed_deviation:.4f}"),
)
COSTS = ("rounds", "{rounds:.0f}"), ("CPU s", "{cpu_seconds:.1f}")
DIFFERENCES = (
    ("difference", "{difference:+.4f}"),
    ("95% interval", "{difference_low:+.4f} to {difference_high:+.4f}"),
    ("p (random., Holm)", "{p_randomization:.4f}"),
    ("p (t, Holm)", "{p_t:.4f}"),
    ("wins/ties/losses", "{wins}/{ties}/{losses}"),
)


@dataclass(frozen=True, eq=False)
class QueryValues:
    """Values of the queries of all folds; a query of several folds is there several times."""

    queries: Sequence[Any]  # their ids, fold by fold
    folds: Positions  # the fold of each, counted from 1
    # By measure, NaN where a query is skipped. Beside a judge also by its labels ("map[judge]"),
    # and 1 for queries that people have judged ("people").
    values: Mapping[str, Cube]

    def by_query(self, measure: str) -> Cube:
        """Average the values of a query over folds."""
        queries = Queries.from_qid(self.queries)
        cube = self.values[measure]
        total = np.zeros((*cube.shape[:2], queries.n_queries))
        np.add.at(total, (..., queries.index), cube)  # type: ignore[arg-type]
        return total / queries.sizes

    @classmethod
    def of_scores(
        cls, measures: Sequence[Measure], documents: Documents, fold: int, scores: Cube
    ) -> QueryValues:
        """Measure scores of the documents of a fold, of shape (n_rankers, n_seeds, n_documents)."""
        values: dict[str, Cube] = {}
        if JUDGE in documents.labels:
            judged = queries_of_people(documents).astype(np.float64)
            values[PEOPLE] = np.broadcast_to(judged, (*scores.shape[:2], len(judged)))
            for measure in measures:
                people, judge = both_values(measure, documents, scores)
                values |= {str(measure): people, f"{measure}[{JUDGE}]": judge}
        else:
            for measure in measures:
                bound = bind_to_rows(measure, documents)
                values[str(measure)] = np.apply_along_axis(bound.per_query, 2, scores)
        queries = documents.queries
        return cls(queries.id_list, np.full(queries.n_queries, fold), values)

    @classmethod
    def concatenate(cls, folds: Sequence[QueryValues]) -> QueryValues:
        """Put the queries of folds together."""
        return cls(
            queries=list(chain(*(fold.queries for fold in folds))),
            folds=np.concatenate([fold.folds for fold in folds]),
            values={
                name: np.concatenate([fold.values[name] for fold in folds], axis=2)
                for name in folds[0].values
            },
        )


@dataclass(frozen=True)
class Row:
    """The value of one ranker by one measure, and its difference; NaN where there is no number."""

    data: str
    metric: str
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
    p_randomization: float  # of paired tests of the difference
    p_t: float
    rounds: float  # mean number of rounds kept
    cpu_seconds: float  # mean CPU seconds of a fit
    # Of both p-values, for the number of rankers compared with the baseline; intervals have none.
    p_correction: str = field(default="Holm", init=False)
    minimum_detectable: float = math.nan  # difference: power 0.8, level 0.05
    required_queries: float = math.nan  # to detect the target difference
    judge_equivalent_queries: float = math.nan  # judged by people, that the judge is worth

    wins: int = 0  # queries on which it is better than the baseline, equal, and worse
    ties: int = 0
    losses: int = 0

    @property
    def is_compared(self) -> bool:
        """Whether it is compared with the baseline."""
        return not (math.isnan(self.p_randomization) and math.isnan(self.p_t))

    def power_sentence(self, target: float) -> str:
        """Report the minimum detectable difference, and the queries that the target needs."""
        if math.isnan(self.minimum_detectable):
            return "Too few queries to estimate the minimum detectable difference."
        needed = f"{self.required_queries:,.0f}"
        if self.required_queries > MOST_QUERIES:
            needed = f"more than {MOST_QUERIES:,}"
        return (
            f"Minimum detectable difference with {self.n_queries:,} queries: "
            f"{self.minimum_detectable:.4f} (power {POWER:g}, α {LEVEL:g}). Detecting {target:g} "
            f"needs {needed} queries."
        )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Values of rankers on the same queries of one data set, from which all results are computed.

    Made by `cross_validate_rankers`, `compare_rankers` and `compare_scores`.

    Parameters
    ----------
    data : str
        The name of the data set.
    rankers, seeds, metrics : sequence
        The names of the rankers and of the metrics, and the seeds.
    parts : mapping of str to QueryValues
        By part of the folds, "valid" and "test": `queries`, their ids; `folds`, the fold of each;
        and `values`, for each metric an array of shape (n_rankers, n_seeds, n_queries).
    rounds, cpu_seconds : ndarray, shape (n_rankers, n_seeds, n_folds)
        The rounds of each fit, NaN if unknown, and its CPU seconds.
    baseline : str
        The ranker that the others are compared with.
    target_difference : float
        The summary states how many queries are needed to detect a difference of this size.

    Examples
    --------
    >>> from gbrank import GBRanker, cross_validate_rankers, make_cubic
    >>> rankers = {name: GBRanker(name, n_estimators=10) for name in ("ranknet", "lambdarank")}
    >>> result = cross_validate_rankers(rankers, *make_cubic(9, random_state=0), folds=3, n_jobs=1)
    >>> row = result.summary()[1]
    >>> row.ranker, row.n_queries, row.difference_low < row.difference < row.difference_high
    ('lambdarank', 9, True)
    >>> result.parts["test"].values["ndcg@10"].shape
    (2, 5, 9)
    """

    data: str
    rankers: Sequence[str]
    seeds: Sequence[int]
    metrics: Sequence[str]
    parts: Mapping[str, QueryValues] = field(repr=False)
    rounds: Cube = field(repr=False)
    cpu_seconds: Cube = field(repr=False)
    baseline: str
    target_difference: float = 0.01

    @cached_property
    def _blocks(self) -> dict[str, list[list[Row]]]:
        return {
            part: [self._rows(scores, measure) for measure in self.metrics]
            for part, scores in self.parts.items()
        }

    def _rows(self, scores: QueryValues, measure: str) -> list[Row]:
        reference = self.rankers.index(self.baseline)
        every = scores.by_query(measure)
        cube = every[:, :, ~np.isnan(every).any(axis=(0, 1))]
        n_rankers, n_seeds, n_queries = cube.shape
        if PEOPLE in scores.values:
            judge = scores.by_query(f"{measure}[{JUDGE}]").mean(axis=1)
            judged = scores.by_query(PEOPLE)[0, 0] > 0
            tests = statistics.compared_with_judge(every.mean(axis=1), judge, judged, reference)
        else:
            tests = statistics.compared(cube.mean(axis=1), reference)
        deviation = np.nan
        if n_seeds > 1 and n_queries:
            deviation = cube.mean(axis=2).std(axis=1, ddof=1)
        needed = [
            statistics.queries_needed_for(self.target_difference, error * math.sqrt(n_queries))
            for error in tests.error
        ]
        leads = np.sign(cube.mean(axis=1) - cube[reference].mean(axis=0))
        columns = {
            "n_queries": n_queries,
            "n_skipped": every.shape[2] - n_queries,
            **tests.means._asdict(),
            "seed_deviation": deviation,
            "p_randomization": statistics.holm(tests.p_randomization),
            "p_t": statistics.holm(tests.p_t),
            "rounds": self.rounds.reshape(n_rankers, -1).mean(axis=1),
            "cpu_seconds": self.cpu_seconds.reshape(n_rankers, -1).mean(axis=1),
            "minimum_detectable": [*map(statistics.minimum_detectable, tests.error, tests.freedom)],
            "required_queries": needed,
            "judge_equivalent_queries": tests.worth,
            "wins": (leads > 0).sum(axis=1),
            "ties": (leads == 0).sum(axis=1),
            "losses": (leads < 0).sum(axis=1),
        }
        lists = [np.broadcast_to(column, n_rankers).tolist() for column in columns.values()]
        return [
            Row(self.data, measure, ranker, **dict(zip(columns, numbers, strict=True)))
            for ranker, *numbers in zip(self.rankers, *lists, strict=True)
        ]

    def blocks(self, part: str = "test") -> list[list[Row]]:
        """Group the rows by measure.

        Parameters
        ----------
        part : {"test", "valid"}
            As for `summary`.

        Returns
        -------
        list of list of Row
        """
        return self._blocks.get(check_choice(part, "part", PARTS), [])

    def summary(self, part: str = "test") -> list[Row]:
        """Summarise each measure and ranker in a row.

        The scores of a query are averaged over seeds (and over folds, where several test it)
        before anything else.

        Parameters
        ----------
        part : {"test", "valid"}
            A fold's test queries, to report, or its validation queries, to choose by.

        Returns
        -------
        list of Row
        """
        return list(chain(*self.blocks(part)))

    def table(self, part: str = "test") -> str:
        """Format the summary as text.

        Parameters
        ----------
        part : {"test", "valid"}
            As for `summary`.

        Returns
        -------
        str
        """
        texts = []
        for rows in self.blocks(part):
            title, *power = self._sentences(rows)
            lines = [title, table_of(rows, (*MEANS, *COSTS), "ranker").to_text()]
            if power:
                compared = [row for row in rows if row.is_compared]
                head = f"minus {self.baseline}"
                lines += [table_of(compared, DIFFERENCES, head).to_text(), *power]
            texts.append("\n".join(lines))
        return "\n\n".join([*texts, *self._notes()])

    def to_markdown(self, part: str = "test") -> str:
        """Format the summary as Markdown.

        Parameters
        ----------
        part : {"test", "valid"}
            As for `summary`.

        Returns
        -------
        str
        """
        tables = map(self._as_table, self.blocks(part))
        texts = (f"**{table.caption}**\n\n{table.to_markdown()}" for table in tables)
        return "\n\n".join([*texts, *self._notes()])

    def to_pandas(self, part: str = "test") -> pd.DataFrame:
        """Make a data frame of the summary, whose columns are the fields of `Row`.

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
        return import_optional("pandas").DataFrame(map(asdict, self.summary(part)))

    def to_json(self) -> dict[str, Any]:
        """Make summaries that JSON can hold.

        Returns
        -------
        dict
            "baseline", "metrics", "seeds"; and "test" and "valid", each a list with a dict for
            every `Row`, with None for NaN and infinity.
        """
        content = {name: getattr(self, name) for name in ("baseline", "metrics", "seeds")}
        content |= {part: [*map(asdict, self.summary(part))] for part in reversed(PARTS)}
        return as_json(content)

    def _repr_html_(self) -> str:
        """Format the tables as notebooks show them."""
        tables = (self._as_table(block).to_html() for block in self.blocks())
        return "".join([*tables, *(f"<p>{note}</p>" for note in self._notes())])

    def _notes(self) -> list[str]:
        return [NOTE] if len(self.rankers) > 1 else []

    def _as_table(self, rows: Sequence[Row]) -> Table:
        """Format the rows of one measure as one table."""
        caption = ". ".join(self._sentences(rows))
        return table_of(rows, (*MEANS, *DIFFERENCES, *COSTS), "ranker", caption)

    def _sentences(self, rows: Sequence[Row]) -> list[str]:
        """Make the title, and the sentence on the minimum detectable difference, if any."""
        first = rows[0]
        counts = f"{first.n_queries} queries, {first.n_skipped} skipped"
        if not math.isnan(first.judge_equivalent_queries):
            counts = (
                f"{first.n_queries} queries judged by people, {first.n_skipped} more by a judge"
            )
        title = f"{first.data}, {first.metric}: {counts}"
        if not (compared := [row for row in rows if row.is_compared]):
            return [title]
        widest = max(compared, key=lambda row: row.minimum_detectable)
        text = widest.power_sentence(self.target_difference)
        if not math.isnan(widest.judge_equivalent_queries):
            worth = min(row.judge_equivalent_queries for row in compared)
            text += (
                f"\nFor the differences, the judge is equivalent to {worth:.1f} more queries of "
                "people."
            )
        return [title, text]


def table_of(
    rows: Sequence[Row], columns: Sequence[tuple[str, str]], head: str, caption: str = ""
) -> Table:
    """Make a table of the columns that have a number: heads, and what stands below, from a row."""
    cells = {column: [_cell(row, column) for row in rows] for column in columns}
    shown = [column for column in columns if any(cells[column])]
    names = [row.ranker for row in rows]
    lines = list(zip(names, *(cells[column] for column in shown), strict=True))
    return Table([head, *(name for name, _ in shown)], lines, caption=caption)


def _cell(row: Row, column: tuple[str, str]) -> str:
    """Format numbers; nothing for NaN."""
    if column in DIFFERENCES and not row.is_compared:
        return "baseline" if column is DIFFERENCES[0] else ""
    text = column[1].format_map(vars(row))
    return "" if "nan" in text else text
