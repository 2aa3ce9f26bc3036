"""The papers' tables and figures, computed anew and set beside what the papers say."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from gbrank.papers import approxrank, lambdarank, lost, smoothrank, tierank
from gbrank.papers.bench import Bench, cubic_queries
from gbrank.papers.rows import Row, rows_to_json, rows_to_markdown

__all__ = [
    "EXPERIMENTS",
    "Bench",
    "Experiment",
    "Row",
    "cubic_queries",
    "rows_to_json",
    "rows_to_markdown",
]


class Experiment(NamedTuple):
    """How rows of a paper come about.

    Parameters
    ----------
    datasets : tuple of str
        The folders of data that it reads.
    run : callable
        From a `Bench` to rows.
    """

    datasets: tuple[str, ...]
    run: Callable[[Bench], Iterator[Row]]


EXPERIMENTS = {
    "smoothrank-table-3": Experiment(("ohsumed",), smoothrank.table_3),
    "smoothrank-table-2": Experiment(("ohsumed",), smoothrank.table_2),
    "smoothrank-figures": Experiment(("ohsumed",), smoothrank.figures),
    "approxrank-6.4": Experiment(("ohsumed25", "ohsumed"), approxrank.section_6_4),
    "approxrank-6.2": Experiment(("ohsumed25",), approxrank.section_6_2),
    "lambdarank-6.3.1": Experiment((), lambdarank.linear_nets),
    "lambdarank-trees": Experiment((), lambdarank.boosted_trees),
    "tierank": Experiment(("mq2008",), tierank.against_lambdamart_and_smoothrank),
    "lost": Experiment((), lost.figures_without_data),
}
