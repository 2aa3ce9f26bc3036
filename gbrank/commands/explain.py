"""Say why a document of a query is ranked high or low, or why one is above another.

The table has a row for each feature, the largest share first: its value, and what it adds to the
score, beside the mean of the query's documents; or, with --pair, its values in both documents, and
what it adds to the gap of their scores. The shares sum to the gap.

Documents are given by their ranks, from 1, or with --docid by their names.

For example:

  gbrank explain test.txt --model my-ranker --query 18219 --document 1
  gbrank explain test.txt --model my-ranker --query 18219 --pair 1 4
  gbrank explain test.parquet --model my-ranker --query shoes --docid sku --pair A17 B3
  gbrank explain test.parquet --model my-ranker --query shoes --document 1 --html shoes.html
"""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from gbrank.commands.data_files import add_file, read_labelled
from gbrank.commands.outputs import check_html
from gbrank.commands.shared import add, load_trees
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import unknown_name
from gbrank.data.ids import as_list
from gbrank.fit.explanations import Explanation
from gbrank.plots.report.report_data import column_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USAGE = "gbrank explain FILE --model FOLDER --query QUERY (--document A | --pair A B) [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank explain`."""
    add_file(parser, "unjudged")
    add(parser, "--model FOLDER", "folder of a model", required=True)
    add(parser, "--query QUERY", "the query's id in the data", required=True)
    asked = parser.add_mutually_exclusive_group(required=True)
    text = "explain the rank of a document, which is given by it, or with --docid by its name"
    asked.add_argument("--document", nargs=1, metavar="DOCUMENT", help=text)
    text = "explain why one document is above another: by their ranks, or with --docid by names"
    asked.add_argument("--pair", nargs=2, metavar="DOCUMENT", help=text)
    add(parser, "--docid COLUMN", "what documents are called, in the table")
    text = "write a page with the table and a picture instead of printing it"
    add(parser, "--html PATH", text, written=check_html)


def run(arguments: argparse.Namespace) -> None:
    """Explain a document, or a pair."""
    ranker = load_trees(arguments.model)
    keep = {arguments.docid} - {None}
    data = read_labelled(arguments, arguments.file, ranker._schema, keep=keep)
    known = {str(query): query for query in dict.fromkeys(as_list(data.qid))}
    if arguments.query not in known:
        raise unknown_name("query", arguments.query, known)
    docid = None if arguments.docid is None else column_of(data.X, arguments.docid, "docid")
    asked, option = (
        arguments.document or arguments.pair,
        "document" if arguments.document else "pair",
    )
    if docid is None:
        asked = [int(text) if text.isdecimal() else text for text in asked]
    explain = ranker.explain_document if arguments.document else ranker.explain_pair
    try:
        why = explain(data.X, *asked, qid=data.qid, query=known[arguments.query], docid=docid)
    except ArgumentError as error:  # of one of both
        raise ArgumentError(option, error.demand, error.got) from None
    if arguments.html is None:
        print(why, why.in_words(), why.to_markdown(), sep="\n\n")
    else:
        _write(arguments.html, why, f"Query {arguments.query}")


def _write(path: str, why: Explanation, title: str) -> None:
    """Write a page with the picture and the table."""
    from gbrank import plots
    from gbrank.plots.report.html_page import Block, Section, picture, write_page

    def draw(ax: "Axes") -> None:
        plots.explanation(why, ax=ax).set_xlabel("")  # the caption says it
        ax.set_title("")

    caption = "What features add to the gap: to the right, in favour of the first document."
    if why.second is None:
        caption = "What features add to the score, beside the mean of the list."
    table = why._table()
    words = tuple(range(len(table.head) - 1))
    blocks: list[Block] = [why.in_words(), picture(draw, caption), replace(table, words=words)]
    write_page(path, "Why this order", title, [Section("reasons", str(why), blocks)])
