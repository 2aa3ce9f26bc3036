"""Say why a query's documents are ranked as they are, or why one is above another.

The table has a row for each document, by rank: its row in the file, label, score, the features that
lift it most above the mean of the query's documents and those that lower it most, and the wrongly
ordered document with which it should swap, and what that alone would add to the model's measure.

With --pair, it has a row for each feature, the largest first: its values in both documents, which
are given by their ranks, and what it adds to the gap of their scores. The shares sum to the gap.

For example:

  gbrank explain test.txt --model my-ranker --query 18219
  gbrank explain test.txt --model my-ranker --query 18219 --pair 1 4
  gbrank explain test.parquet --model my-ranker --query shoes --html shoes.html
"""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from gbrank.commands.data_files import add_files, read_labelled
from gbrank.commands.outputs import check_html
from gbrank.commands.shared import add, load_trees
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import unknown_name
from gbrank.data.ids import as_list
from gbrank.fit.explanations import PairExplanation, QueryExplanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OUTPUTS = {"html": check_html}
USAGE = "gbrank explain FILE [FILE ...] --model FOLDER --query QUERY [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank explain`."""
    add_files(parser, "unjudged")
    add(parser, "--model FOLDER", "folder of a model", required=True)
    add(parser, "--query QUERY", "the query's id in the data", required=True)
    text = "explain why the document of one rank is above that of another"
    parser.add_argument("--pair", nargs=2, type=int, metavar="RANK", help=text)
    add(parser, "--html PATH", "write a page with the table and a picture instead of printing it")


def run(arguments: argparse.Namespace) -> None:
    """Explain a query or a pair of its documents."""
    ranker = load_trees(arguments.model)
    data = read_labelled(arguments, arguments.files, ranker._schema)
    known = {str(query): query for query in dict.fromkeys(as_list(data.qid))}
    if arguments.query not in known:
        raise unknown_name("query", arguments.query, known)
    query = known[arguments.query]
    why: PairExplanation | QueryExplanation
    why = ranker.explain_query(data.X, data.y, qid=data.qid, query=query)
    if arguments.pair is not None:
        for rank in arguments.pair:
            if not 1 <= rank <= len(why.rows):
                demand = f"must be of ranks from 1 to {len(why.rows)}"
                raise ArgumentError("pair", demand, f"{rank}")
        first, second = (why.rows[rank - 1] for rank in arguments.pair)
        why = ranker.explain_pair(data.X, first, second, qid=data.qid)
    if arguments.html is None:
        print(why, why.to_markdown(), sep="\n\n")
        return
    _write(arguments.html, why, f"Query {arguments.query}")


def _write(path: str, why: PairExplanation | QueryExplanation, title: str) -> None:
    """Write a page with the picture and the table."""
    from gbrank import plots
    from gbrank.plots.report.blocks import Section, picture
    from gbrank.plots.report.html_page import write_page

    def draw(ax: "Axes") -> None:
        if isinstance(why, QueryExplanation):
            plots.query(why, ax=ax)
        else:
            plots.pair(why, ax=ax).set_xlabel("")  # the caption says it
        ax.set_title("")

    if isinstance(why, QueryExplanation):
        caption = "Scores of the documents by rank."
        words: tuple[int, ...] = (4, 5) if why.labels is not None else (3, 4)
    else:
        caption = "What features add to the gap: to the right, in favour of the first document."
        words = (0, 1, 2)
    shown = picture(draw, caption)
    section = Section("reasons", str(why), [shown, replace(why._table(), words=words)])
    write_page(path, "Why this order", title, [section])
