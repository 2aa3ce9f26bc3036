"""`gbrank predict`."""

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gbrank.commands.data_files import SCORE, Documents, add_files, read_documents
from gbrank.commands.shared import add_model, open_output
from gbrank.commands.table_files import is_table, write_tables
from gbrank.common.checks import unknown_name
from gbrank.common.extras import needed
from gbrank.data.queries import Queries
from gbrank.datasets.text_files import check_names
from gbrank.datasets.trec import run_lines
from gbrank.fit.loading import load_ranker
from gbrank.ranker import GBRanker

__all__ = ["add_options", "run"]

Predict: TypeAlias = Callable[[Any], NDArray[np.float64]]

USAGE = "gbrank predict FILE [FILE ...] --model FOLDER [options]"
DETAILS = """\
Writes one score a line, in the order of the documents; higher ranks earlier. Where --output ends in
.parquet, .csv or .tsv, it becomes a table: the columns that are no features, such as queries and
names of documents, with a column "score". A folder of Parquet files is scored batch by batch, in
memory that does not grow with it. With --format trec, lines "QID Q0 DOCUMENT RANK SCORE
NAME" as trec_eval reads them: queries in the order in which they first appear, documents best
first, equal scores in the order of the documents (trec_eval itself ranks by score, and then by
document name). In LETOR files a document has the name that follows "docid =" in its comment, else
the comment's first word; without one it is QID-POSITION. With --probability, the number is not the
score but the label that it lets expect, as a share of the largest label."""
EXAMPLES = """\
  gbrank predict test.txt --model my-ranker --output scores.txt
  gbrank predict test.parquet --model my-ranker --output scores.parquet
  gbrank predict test.txt --model my-ranker --probability
  gbrank predict test.txt --model my-ranker --format trec --run-name first > run.txt
  gbrank predict test.txt --model my-ranker | gbrank evaluate test.txt --scores -"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank predict`."""
    add_files(parser)
    add_model(parser)
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
    parser.add_argument(
        "--docid", metavar="COLUMN", help="names of documents in tables, for --format trec"
    )


def _word(text: str) -> str:
    if text.split() != [text]:
        raise argparse.ArgumentTypeError(f"expected a name without white space, got {text!r}")
    return text


def run(arguments: argparse.Namespace) -> None:
    """Score documents and write the scores."""
    ranker = load_ranker(arguments.model)
    predict: Predict = ranker.predict
    if arguments.probability:
        if not isinstance(ranker, GBRanker):
            raise ValueError(
                f"--probability needs a GBRanker, got {arguments.model} with a "
                f"{type(ranker).__name__}."
            )
        predict = partial(ranker.predict, output="probability")
    table = is_table(arguments.output)
    if table and arguments.format == "trec":
        raise ValueError(f"format must be scores for a table, {arguments.output}, got trec.")
    batches = read_documents(arguments, arguments.files, ranker._schema)
    if table:
        write_tables(arguments.output, _scored_tables(arguments, batches, predict))
        return
    if arguments.format == "trec":
        lines = _run_lines(arguments, batches, predict)
    else:
        lines = (repr(score) for batch in batches for score in predict(batch.X).tolist())
    first = next(lines)  # a file that cannot be read leaves the output alone
    with open_output(arguments.output) as file:
        file.writelines(f"{line}\n" for line in chain([first], lines))


def _scored_tables(
    arguments: argparse.Namespace, batches: Iterable[Documents], predict: Predict
) -> Iterator[dict[str, Any]]:
    for batch in batches:
        if SCORE in batch.others:
            raise ValueError(f"{arguments.files[0]} must not have a column {SCORE!r} of its own.")
        yield {**batch.others, SCORE: predict(batch.X)}


def _run_lines(
    arguments: argparse.Namespace, batches: Iterable[Documents], predict: Predict
) -> Iterator[str]:
    scores, named = [], []
    for batch in batches:
        scores.append(predict(batch.X))
        named.append(batch._replace(X=None))
    documents = _joined(named)
    names = _document_names(arguments, documents)
    assert documents.qid is not None
    return iter(run_lines(np.concatenate(scores), documents.qid, names, arguments.run_name))


def _joined(batches: list[Documents]) -> Documents:
    """Return what is known of the documents of all batches, but for their features."""
    first, *rest = batches
    if not rest:
        return first
    qid = None if first.qid is None else np.concatenate([batch.qid for batch in batches])
    chunks = {
        name: [chunk for batch in batches for chunk in batch.others[name].chunks]
        for name in first.others
    }
    chunked = needed("pyarrow", "tables").chunked_array
    return Documents(None, qid, {name: chunked(own) for name, own in chunks.items()}, ())


def _document_names(arguments: argparse.Namespace, documents: Documents) -> list[str]:
    """Return the name of each document."""
    qid = documents.qid
    if qid is None:
        raise ValueError(
            f"qid must name a column of {arguments.files[0]}, got {arguments.qid or 'qid'!r}."
        )
    if arguments.docid is not None:
        if arguments.docid not in documents.others:
            raise unknown_name("column (docid)", arguments.docid, documents.others)
        return check_names(documents.others[arguments.docid].to_pylist(), "docid", len(qid))
    queries = Queries.from_qid(qid)
    places = np.empty(len(qid), dtype=np.int64)
    places[queries.order] = np.arange(1, len(qid) + 1)
    places -= queries.offsets[queries.index]
    comments = documents.comments or repeat("", len(qid))
    return [
        _named(comment) or f"{query}-{place}"
        for comment, query, place in zip(comments, qid.tolist(), places.tolist(), strict=True)
    ]


def _named(comment: str) -> str | None:
    found = re.search(r"\bdocid\s*=\s*(\S+)", comment) or re.search(r"(\S+)", comment)
    return found and found[1]
