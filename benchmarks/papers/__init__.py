"""The papers' tables and figures, computed anew and set beside what the papers say."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from benchmarks.papers import approxrank, lambdarank, lost, smoothrank, tierank
from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.settings import Settings

__all__ = ["EXPERIMENTS", "Experiment"]


class Experiment(NamedTuple):
    """How rows of a paper come about, and which folders of data that reads."""

    datasets: tuple[str, ...]
    run: Callable[[Settings], Iterator[PaperRow]]


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
