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

from gbrank.commands.data_files import add_files, add_unjudged, read_labelled
from gbrank.commands.shared import add, load_trees
from gbrank.common.checks import unknown_name
from gbrank.common.files import check_folder
from gbrank.data.ids import as_list
from gbrank.datasets.text_files import written
from gbrank.fit.explanations import PairExplanation, QueryExplanation

USAGE = "gbrank explain FILE [FILE ...] --model FOLDER --query QUERY [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank explain`."""
    add_files(parser)
    add_unjudged(parser)
    add(parser, "--model FOLDER", "folder of a model", required=True)
    add(parser, "--query QUERY", "the query's id in the data", required=True)
    text = "explain why the document of one rank is above that of another"
    parser.add_argument("--pair", nargs=2, type=int, metavar="RANK", help=text)
    add(parser, "--html PATH", "write the table as HTML instead of printing it")


def run(arguments: argparse.Namespace) -> None:
    """Explain a query or a pair of its documents."""
    if arguments.html is not None:
        check_folder(arguments.html, "--html")
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
                raise ValueError(f"pair must be of ranks from 1 to {len(why.rows)}, got {rank}.")
        first, second = (why.rows[rank - 1] for rank in arguments.pair)
        why = ranker.explain_pair(data.X, first, second, qid=data.qid)
    if arguments.html is None:
        print(why, why.to_markdown(), sep="\n\n")
        return
    with written(arguments.html) as file:
        file.write(f"<!doctype html>\n<meta charset='utf-8'>\n{why._repr_html_()}\n".encode())
