"""Write one score a line, in the order of the documents; higher ranks earlier.

Where --output ends in .parquet, .csv or .tsv, it becomes a table: the columns that are no features,
such as queries and names of documents, with a column "score".

With --format trec, lines are "QID Q0 DOCUMENT RANK SCORE NAME" as trec_eval reads them: queries in
the order in which they first appear, documents best first, equal scores in the order of the
documents (trec_eval itself ranks by score, and then by document name). In LETOR files a document
has the name that follows "docid =" in its comment, else the comment's first word; without one it is
QID-POSITION.

For example:

  gbrank predict test.txt --model my-ranker --output scores.txt
  gbrank predict test.parquet --model my-ranker --output scores.parquet
  gbrank predict test.txt --model my-ranker --format trec --run-name first > run.txt
  gbrank predict test.txt --model my-ranker | gbrank evaluate test.txt --scores -
"""

import argparse
import io
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.data_files import SCORE, Unlabelled, add_file, read_documents
from gbrank.commands.shared import add
from gbrank.commands.table_files import is_table, write_table
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import unknown_name
from gbrank.datasets.text_files import check_names, written
from gbrank.datasets.trec import run_lines
from gbrank.ranker import load_ranker

USAGE = "gbrank predict FILE --model FOLDER [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank predict`."""
    add_file(parser)
    add(parser, "--model FOLDER", "folder of a model", required=True)
    add(parser, "--output PATH", "where to write; - is standard output", written=True, default="-")
    text, kinds = "what to write", ["scores", "trec"]
    add(parser, "--format KIND", text, choices=kinds, metavar=None, default="scores")
    text = "the run's name in TREC's format"
    add(parser, "--run-name NAME", text, type=_word, default="gbrank")
    add(parser, "--docid COLUMN", "names of documents in tables, for --format trec")


def _word(text: str) -> str:
    if text.split() != [text]:
        raise argparse.ArgumentTypeError(f"expected a name without white space, got {text!r}")
    return text


def run(arguments: argparse.Namespace) -> None:
    """Score documents and write the scores."""
    ranker = load_ranker(arguments.model)
    documents = read_documents(arguments, arguments.file, ranker._schema)
    scores, path = np.asarray(ranker.predict(documents.X)), arguments.output
    if is_table(path):
        if arguments.format == "trec":
            raise ArgumentError("format", f"must be scores for a table, {path}", "trec")
        if SCORE in documents.others:
            raise ValueError(f"{arguments.file} must not have a column {SCORE!r} of its own.")
        write_table(path, {**documents.others, SCORE: scores})
        return
    lines: Iterable[str] = map(repr, scores.tolist())
    if arguments.format == "trec":
        lines = _run_lines(arguments, documents, scores)
    if path == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # as files are
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    with written(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def _run_lines(
    arguments: argparse.Namespace, documents: Unlabelled, scores: NDArray[np.float64]
) -> Iterator[str]:
    qid, docid = documents.qid, arguments.docid
    if qid is None:
        column = arguments.qid or "qid"
        raise ArgumentError("qid", f"must name a column of {arguments.file}", repr(column))
    if docid is None:
        comments = documents.comments or [""] * len(qid)
        names = list(_names(comments, qid.tolist()))
    elif docid not in documents.others:
        raise unknown_name("column (docid)", docid, documents.others)
    else:
        names = check_names(documents.others[docid].tolist(), "docid", len(qid))
    return run_lines(scores, qid, names, arguments.run_name)


def _names(comments: Sequence[str], qid: Sequence[Any]) -> Iterator[str]:
    """Yield what a comment calls its document, else the query and the position in it."""
    places = Counter[Any]()
    for comment, query in zip(comments, qid, strict=True):
        places[query] += 1
        match = re.search(r"\bdocid\s*=\s*(\S+)", comment) or re.search(r"(\S+)", comment)
        yield match[1] if match else f"{query}-{places[query]}"
