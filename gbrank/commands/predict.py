"""`gbrank predict`."""

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.shared import add_files, open_text, read_files
from gbrank.data.queries import Queries
from gbrank.datasets.trec import run_lines
from gbrank.fit.loading import load_ranker
from gbrank.ranker import GBRanker

__all__ = ["add_options", "run"]

USAGE = "gbrank predict MODEL FILE [FILE ...] [options]"
DETAILS = """\
Writes one score a line, in the order of the documents; higher ranks earlier. Or, with --format
trec, lines "QID Q0 DOCUMENT RANK SCORE NAME" as trec_eval reads them: queries in the order in which
they first appear, documents best first, equal scores in the order of the documents (trec_eval
itself ranks by score, and then by document name). A document has the name that follows "docid =" in
its comment, else the comment's first word, else QID-POSITION. With --probability, the number is not
the score but the label that it lets expect, as a share of the largest label."""
EXAMPLES = """\
  gbrank predict my-ranker test.txt --output scores.txt
  gbrank predict my-ranker test.txt --probability
  gbrank predict my-ranker test.txt --format trec --run-name first > run.txt
  gbrank predict my-ranker test.txt | gbrank evaluate test.txt --scores -"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank predict`."""
    parser.add_argument("model", metavar="MODEL", help="folder of a model")
    add_files(parser)
    parser.add_argument(
        "--output", default="-", metavar="PATH", help="where to write (default: -, standard output)"
    )
    parser.add_argument(
        "--format", choices=["scores", "trec"], default="scores", help="(default: scores)"
    )
    parser.add_argument(
        "--probability", action="store_true", help="write probabilities instead of scores"
    )
    parser.add_argument(
        "--run-name", type=_word, default="gbrank", metavar="NAME", help="(default: gbrank)"
    )


def _word(text: str) -> str:
    if text.split() != [text]:
        raise argparse.ArgumentTypeError(f"expected a name without white space, got {text!r}")
    return text


def run(arguments: argparse.Namespace) -> None:
    """Score documents and write the scores."""
    ranker = load_ranker(arguments.model)
    predict: Callable[[Any], NDArray[np.float64]] = ranker.predict
    if arguments.probability:
        if not isinstance(ranker, GBRanker):
            raise ValueError(
                f"--probability needs a GBRanker, got {arguments.model} with a "
                f"{type(ranker).__name__}."
            )
        predict = partial(ranker.predict, output="probability")
    trec = arguments.format == "trec"
    X, _, qid, *comments = read_files(
        arguments.files,
        sparse=arguments.sparse,
        n_features=ranker.n_features_in_,
        comments=trec,
    )
    scores = predict(X)
    lines: Iterable[str] = map(repr, scores.tolist())
    if trec:
        lines = run_lines(scores, qid, _document_names(qid, comments[0]), arguments.run_name)
    with open_text(arguments.output, "w") as file:
        file.writelines(f"{line}\n" for line in lines)


def _document_names(qid: NDArray[Any], comments: Sequence[str]) -> list[str]:
    """Return the name of each row."""
    queries = Queries.from_qid(qid)
    places = np.empty(len(qid), dtype=np.int64)
    places[queries.order] = np.arange(1, len(qid) + 1)
    places -= queries.offsets[queries.index]
    return [
        _named(comment) or f"{query}-{place}"
        for comment, query, place in zip(comments, qid.tolist(), places.tolist(), strict=True)
    ]


def _named(comment: str) -> str | None:
    found = re.search(r"\bdocid\s*=\s*(\S+)", comment) or re.search(r"(\S+)", comment)
    return found and found[1]
