"""The papers' tables and figures, computed anew and set beside what the papers say."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from benchmarks.papers import approxrank, lambdarank, lost, smoothrank, tierank
from benchmarks.papers.paper_rows import PaperRow
from benchmarks.papers.settings import Settings

__all__ = ["EXPERIMENTS", "Experiment"]


class Experiment(NamedTuple):
    """How rows of a paper come about, which data that reads, and where it deviates."""

    datasets: tuple[str, ...]
    run: Callable[[Settings], Iterator[PaperRow]]
    deviations: str = ""

    def rows(self, settings: Settings) -> list[PaperRow]:
        """Return the rows, each with its deviations from the paper."""
        return [
            replace(row, deviations=row.deviations or self.deviations) for row in self.run(settings)
        ]


EXPERIMENTS = {
    "smoothrank-table-3": Experiment(("ohsumed",), smoothrank.table_3, smoothrank.DEVIATIONS),
    "smoothrank-table-2": Experiment(
        ("ohsumed",), smoothrank.table_2, smoothrank.BASELINE_DEVIATIONS
    ),
    "smoothrank-figures": Experiment(
        ("ohsumed",), smoothrank.figures, smoothrank.FIGURE_DEVIATIONS
    ),
    "approxrank-6.4": Experiment(
        ("ohsumed25", "ohsumed"), approxrank.section_6_4, approxrank.DEVIATIONS
    ),
    "approxrank-6.2": Experiment(
        ("ohsumed25",), approxrank.section_6_2, approxrank.FIGURE_DEVIATIONS
    ),
    "lambdarank-6.3.1": Experiment((), lambdarank.linear_nets, lambdarank.DEVIATIONS),
    "lambdarank-trees": Experiment((), lambdarank.boosted_trees, lambdarank.TREE_DEVIATIONS),
    "tierank": Experiment(
        ("mq2008",), tierank.against_lambdamart_and_smoothrank, tierank.DEVIATIONS
    ),
    "lost": Experiment((), lost.figures_without_data),
}
