"""Say why a query's documents are ranked as they are, or why one is above another.

The table has a row for each document, by rank: its row in the file, label, score, the features that
lift it most above the mean of the query's documents and those that lower it most, and the wrongly
ordered document with which it should swap, and what that alone would add to the model's measure.

With --pair, it has a row for each feature, the largest first: its values in both documents, which
are given by their ranks, or with --docid by their names, and what it adds to the gap of their
scores. The shares sum to the gap.

For example:

  gbrank explain test.txt --model my-ranker --query 18219
  gbrank explain test.txt --model my-ranker --query 18219 --pair 1 4
  gbrank explain test.parquet --model my-ranker --query shoes --docid sku --pair A17 B3
  gbrank explain test.parquet --model my-ranker --query shoes --against live.txt --html shoes.html
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gbrank.commands.data_files import add_file, read_labelled
from gbrank.commands.outputs import check_html
from gbrank.commands.shared import add, columns_of, load_any, load_trees
from gbrank.common.argument_error import ArgumentError, found_in
from gbrank.common.checks import unknown_name
from gbrank.data.ids import as_list
from gbrank.evaluation.scorable import scores_from
from gbrank.fit.explanations import PairExplanation, QueryExplanation
from gbrank.plots.report.report_data import column_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USAGE = "gbrank explain FILE --model FOLDER --query QUERY [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank explain`."""
    add_file(parser, "unjudged")
    add(parser, "--model FOLDER", "folder of a model", required=True)
    add(parser, "--query QUERY", "the query's id in the data", required=True)
    text = "explain why one document is above another: by their ranks, or with --docid by names"
    parser.add_argument("--pair", nargs=2, metavar="DOCUMENT", help=text)
    text = "say at which rank another model, a TREC run or a column has each document"
    add(parser, "--against PATH", text)
    add(parser, "--docid COLUMN", "what documents are called, in the table and in TREC runs")
    text = "write a page with the table and a picture instead of printing it"
    add(parser, "--html PATH", text, written=check_html)


def run(arguments: argparse.Namespace) -> None:
    """Explain a query or a pair of its documents."""
    ranker = load_trees(arguments.model)
    against, keep = arguments.against, {arguments.docid} - {None}
    if against is not None:
        model = load_any(against) if Path(against).exists() else None
        keep |= {against} if model is None else columns_of(model)
        against = against if model is None else model
    data = read_labelled(arguments, arguments.file, ranker._schema, keep=keep)
    known = {str(query): query for query in dict.fromkeys(as_list(data.qid))}
    if arguments.query not in known:
        raise unknown_name("query", arguments.query, known)
    docid = None if arguments.docid is None else column_of(data.X, arguments.docid, "docid")
    options: dict[str, Any] = {
        "qid": data.qid, "query": known[arguments.query], "docid": docid,
    }  # fmt: skip
    why: PairExplanation | QueryExplanation
    if arguments.pair is not None:
        pair = arguments.pair if docid is not None else map(_rank, arguments.pair)
        try:
            why = ranker.explain_pair(data.X, *pair, **options)
        except ArgumentError as error:  # of one of both
            raise ArgumentError("pair", error.demand, error.got) from None
    else:
        if against is not None:
            with found_in("--against: "):
                against = scores_from(against, data.X, qid=data.qid, docid=docid)
        why = ranker.explain_query(data.X, data.y, against=against, **options)
    if arguments.html is None:
        words = [why.in_words()] if isinstance(why, PairExplanation) else []
        print(why, *words, why.to_markdown(), sep="\n\n")
        return
    _write(arguments.html, why, f"Query {arguments.query}")


def _rank(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        demand = "must be of ranks, or of names with --docid"
        raise ArgumentError("pair", demand, text) from None


def _write(path: str, why: PairExplanation | QueryExplanation, title: str) -> None:
    """Write a page with the picture and the table."""
    from gbrank import plots
    from gbrank.plots.report.blocks import Block, Paragraph, Section, picture
    from gbrank.plots.report.html_page import write_page

    def draw(ax: "Axes") -> None:
        if isinstance(why, QueryExplanation):
            plots.query(why, ax=ax)
        else:
            plots.pair(why, ax=ax).set_xlabel("")  # the caption says it
        ax.set_title("")

    said: list[Block] = []
    if isinstance(why, QueryExplanation):
        caption = "Scores of the documents by rank."
        names = {"document", "lifts", "lowers"}
        words = tuple(i for i, name in enumerate(why._table().head) if name in names)
    else:
        caption = "What features add to the gap: to the right, in favour of the first document."
        words = (0, 1, 2)
        said = [Paragraph(why.in_words())]
    shown = picture(draw, caption)
    section = Section("reasons", str(why), [*said, shown, replace(why._table(), words=words)])
    write_page(path, "Why this order", title, [section])
