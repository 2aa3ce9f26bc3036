"""TREC runs and relevance judgements (qrels): what trec_eval and ir_measures read."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import check_entries, check_finite, check_vector, quoted
from gbrank.common.errors import ArgumentError, warn_user
from gbrank.common.values import Mask, Vector
from gbrank.data.ids import as_list, places_among
from gbrank.data.lookup import document_names
from gbrank.data.queries import Queries
from gbrank.data.text_files import LARGEST_EXACT, StrPath, check_names, decoded, read_bytes, written

__all__ = ["read_judged_run", "read_qrels", "read_run", "write_qrels", "write_run"]

Lines: TypeAlias = tuple[Vector, list[str], list[str]]
DocumentKey: TypeAlias = tuple[Any, str]  # its query, and its name
QueryKey: TypeAlias = Callable[[Any], Any]  # equal for ids of one query

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,15}")  # which float64 holds exactly


def read_run(path: StrPath) -> Lines:
    """Read the scores of documents from a TREC run, as `write_run` writes them.

    One document a line, ``query Q0 document rank score name``, in any order. The second, fourth
    and last column play no part, as in trec_eval. Blank lines are skipped.

    Parameters
    ----------
    path : str or path-like
        A text file in UTF-8, plain or compressed with gzip (told by its content, not its name).

    Returns
    -------
    scores : ndarray of float64, shape (n_documents,)
    qid, documents : list of str, length n_documents
        The query and the name of each document.

    Raises
    ------
    ValueError
        If the file is not of this form: "path, line: expected ..., got ...", lines counted from
        1; among others, if a document is there twice in a query, with two scores.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank.data.trec import read_run, write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run(f"{folder}/run.txt", [0.5, 2.5], ["q1", "q1"], ["d1", "d3"])
    ...     read_run(f"{folder}/run.txt")
    (array([2.5, 0.5]), ['q1', 'q1'], ['d3', 'd1'])
    """
    return parse_run(path, read_bytes(path))


def parse_run(path: StrPath, content: bytes) -> Lines:
    """Parse the bytes of a TREC run."""
    form = "query Q0 document rank score name"
    return _parse(path, content, form, "score", "a finite number", _NUMBER)


def read_qrels(path: StrPath) -> Lines:
    """Read relevance judgements from a TREC qrels file, as `write_qrels` writes them.

    One document a line, ``query iteration document label``, in any order. The second column plays
    no part. Blank lines, and comments, which begin with ``#``, are skipped. Some collections have
    labels below 0, say for spam, which trec_eval counts as 0, and gbrank's measures do not take.

    Parameters
    ----------
    path : str or path-like
        As for `read_run`.

    Returns
    -------
    y : ndarray of float64, shape (n_documents,)
        Labels, integers.
    qid, documents : list of str, length n_documents
        As from `read_run`.

    Raises
    ------
    ValueError
        If the file is not of this form, as for `read_run`.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank.data.trec import read_qrels, write_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_qrels(f"{folder}/qrels.txt", [0, 2], ["q1", "q1"], ["d1", "d3"])
    ...     read_qrels(f"{folder}/qrels.txt")
    (array([0., 2.]), ['q1', 'q1'], ['d1', 'd3'])
    """
    form = "query iteration document label"
    return _parse(path, read_bytes(path), form, "label", "an integer", _INTEGER)


def read_judged_run(run: StrPath, qrels: StrPath) -> tuple[Vector, Vector, list[str]]:
    """Read a TREC run with relevance judgements, as trec_eval does.

    Documents without judgement have label 0, and so have negative labels. Documents that were
    never retrieved have the score −inf: measures count them in the ideal. Queries that qrels lack
    are left out, with a warning; queries that the run lacks count as queries of which nothing was
    retrieved (trec_eval's option -c), with a warning too.

    Parameters
    ----------
    run, qrels : str or path-like
        As for `read_run` and `read_qrels`.

    Returns
    -------
    y, scores : ndarray of float64, shape (n_documents,)
        The scores are minus the rank that trec_eval gives a document: by its score in single
        precision, equal ones by name, the last name first.
    qid : list of str, length n_documents

    Raises
    ------
    ValueError
        If a file is malformed, or no query is in both.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank import NDCG
    >>> from gbrank.data.trec import read_judged_run, write_qrels, write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run, qrels = f"{folder}/run.txt", f"{folder}/qrels.txt"
    ...     write_run(run, [2.5, 0.5], ["q1", "q1"], ["d1", "d3"])
    ...     write_qrels(qrels, [2, 1], ["q1", "q1"], ["d3", "d7"])
    ...     y, scores, qid = read_judged_run(run, qrels)
    >>> scores, qid
    (array([ -2., -inf,  -1.]), ['q1', 'q1', 'q1'])
    >>> NDCG()(y, scores, qid=qid)
    0.5212...
    """
    return judged_run(run, qrels)[:3]


def judged_run(run: StrPath, qrels: StrPath) -> tuple[Vector, Vector, list[str], Mask]:
    """Read as `read_judged_run` does, with the mask of the rows that qrels have."""
    labels, qid, judged = read_qrels(qrels)
    runs = {"run": Run(run, *read_run(run))}
    queries, scores = add_retrieved(Queries.from_qid(qid), judged, runs, str)
    y = extended(np.maximum(labels, 0.0), queries, "y", len(qid))
    return y, scores["run"], queries.ids[queries.index].tolist(), np.arange(len(y)) < len(qid)


class Run(NamedTuple):
    """The scores of a TREC run, each with its query and its document."""

    path: StrPath
    scores: Vector
    qid: list[str]
    documents: list[str]

    def names(self, docid: Any, queries: Queries) -> list[Any]:
        """List the names of the documents in all rows."""
        if docid is None:
            demand = f"must name the documents of the rows for a TREC run, {self.path}"
            raise ArgumentError("docid", demand, "None")
        return document_names(docid, queries)

    def ranks(self, queries: Queries, query_key: QueryKey) -> dict[DocumentKey, float]:
        """Rank the documents of these queries, by their query's number and their name.

        Ranks are from 1 by score in single precision, equal ones by name, the last first.
        """
        topics = Queries.from_qid(self.qid)
        with np.errstate(over="ignore"):
            keys = np.array(self.documents), self.scores.astype(np.float32), topics.index
        ascending = np.lexsort(keys)
        ranks = np.empty(len(self.scores))
        ranks[ascending] = topics.offsets[1:][topics.index[ascending]] - np.arange(len(ranks))
        numbers = self._numbers(queries, query_key)
        lines = zip(self.qid, self.documents, ranks.tolist(), strict=True)
        return {(numbers[query], name): rank for query, name, rank in lines if query in numbers}

    def _numbers(self, queries: Queries, query_key: QueryKey) -> dict[str, int]:
        """Find the number of each query of the run; warn about those that only one side has."""
        ids, topics, numbers = as_list(queries.ids), list(dict.fromkeys(self.qid)), dict[str, int]()
        for number, places in enumerate(places_among(ids, topics, query_key)):
            if len(places) > 1:
                demand = f"must have one topic for each query; {self.path} has {len(places)} for"
                raise ArgumentError("run", demand, quoted(str(ids[number])))
            numbers |= {topics[place]: number for place in places}
        lacking = [ids[number] for number in {*range(len(ids))} - {*numbers.values()}]
        example = quoted(str(min(lacking, key=str, default="")))
        if not numbers:
            text = f"expected queries that are judged, such as {example}, got none: its first one"
            raise ValueError(f"{self.path}: {text} is {quoted(topics[0])}")
        if unjudged := sorted({*topics} - {*numbers}):
            text = f"{len(unjudged)} queries without judgements are left out, such as"
            warn_user(f"{self.path}: {text} {quoted(unjudged[0])}.")
        if lacking:
            text = f"nothing was retrieved for {len(lacking)} of {len(ids)} judged queries, such as"
            warn_user(f"{self.path}: {text} {example}: its documents count as never retrieved.")
        return numbers


def add_retrieved(
    queries: Queries, docid: Any, runs: Mapping[str, Run], query_key: QueryKey
) -> tuple[Queries, dict[str, Vector]]:
    """Add rows, behind the others, for documents that only runs have.

    Queries have the same key: str of ids from files, where "1" and "1.0" differ, as in trec_eval.
    Returns all queries, and minus the ranks that trec_eval gives by each run, −inf without one.
    """
    names = map(str, next(iter(runs.values())).names(docid, queries))
    rows = list(zip(queries.index.tolist(), names, strict=True))
    by_run = {key: run.ranks(queries, query_key) for key, run in runs.items()}
    known = set(rows)
    rows += [row for row in dict.fromkeys(chain(*by_run.values())) if row not in known]
    scores = {
        key: np.array([-ranks.get(row, np.inf) for row in rows]) for key, ranks in by_run.items()
    }
    return Queries.from_qid(queries.ids[[query for query, _ in rows]]), scores


def extended(column: Any, queries: Queries, name: str, length: int, fill: float = 0.0) -> Vector:
    """Extend a column to rows that were added; NaN in queries where it has NaN."""
    values, filled = check_vector(column, name, length), np.full(queries.n_queries, fill)
    filled[queries.index[: len(values)][np.isnan(values)]] = np.nan
    return np.append(values, filled[queries.index[len(values) :]])


def write_run(
    path: StrPath,
    scores: ArrayLike,
    qid: ArrayLike,
    documents: Sequence[str],
    *,
    name: str = "gbrank",
) -> None:
    """Write scores of documents as a TREC run, which `read_run` reads.

    Lines are ``query Q0 document rank score name``: queries in the order in which they first
    appear, documents best first, equal scores in the order of the rows. trec_eval itself ranks by
    score, read in single precision, and then by document name.

    Parameters
    ----------
    path : str or path-like
        The file, overwritten if it exists. A name ending in ``.gz`` is compressed with gzip.
    scores : array-like, shape (n_documents,)
        Finite; higher ranks earlier.
    qid : array-like of int or str, shape (n_documents,)
        The query of each row, in any order; strings without white space.
    documents : sequence of str, length n_documents
        The name of each document, without white space; each once in a query.
    name : str, default "gbrank"
        The name of the run, without white space.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank.data.trec import write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.txt")
    ...     write_run(path, [0.5, 2.5], ["q1", "q1"], ["d1", "d3"])
    ...     print(path.read_text(), end="")
    q1 Q0 d3 1 2.5 gbrank
    q1 Q0 d1 2 0.5 gbrank
    """
    lines = run_lines(scores, qid, documents, name)
    with written(path) as file:
        file.writelines(f"{line}\n".encode() for line in lines)


def run_lines(
    scores: ArrayLike, qid: ArrayLike, documents: Sequence[str], name: str
) -> Iterator[str]:
    """Format the lines of a TREC run."""
    values = check_finite(check_vector(scores, "scores"), "scores")
    names, document_names = _check_documents(qid, documents, len(values))
    check_names([name], "name", 1)
    queries = Queries.from_qid(names)
    best_first = np.lexsort((-values, queries.index))
    ranks = np.arange(1, len(values) + 1) - queries.offsets[queries.index[best_first]]
    return (
        f"{names[row]} Q0 {document_names[row]} {rank} {values[row].item()!r} {name}"
        for row, rank in zip(best_first.tolist(), ranks.tolist(), strict=True)
    )


def write_qrels(path: StrPath, y: ArrayLike, qid: ArrayLike, documents: Sequence[str]) -> None:
    """Write labels of documents as a TREC qrels file, which `read_qrels` reads.

    Lines are ``query 0 document label``, in the order of the rows.

    Parameters
    ----------
    path, qid, documents
        As for `write_run`.
    y : array-like, shape (n_documents,)
        Labels, integers: trec_eval reads no others.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from gbrank.data.trec import write_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     write_qrels(path, [0, 2], ["q1", "q1"], ["d1", "d3"])
    ...     print(path.read_text(), end="")
    q1 0 d1 0
    q1 0 d3 2
    """
    labels = check_finite(check_vector(y, "y"), "y")
    wrong = (labels != np.floor(labels)) | (np.abs(labels) > LARGEST_EXACT)
    check_entries(wrong, labels, "y", "must hold integers up to 2**53")
    rows = zip(*_check_documents(qid, documents, len(labels)), labels.tolist(), strict=True)
    with written(path) as file:
        lines = (f"{query} 0 {document} {int(label)}\n" for query, document, label in rows)
        file.writelines(map(str.encode, lines))


def _parse(
    path: StrPath, data: bytes, form: str, column: str, kind: str, pattern: re.Pattern[str]
) -> Lines:
    """Read lines of this form, with a number of this pattern in one column."""
    columns = form.split()
    numbers: dict[DocumentKey, float] = {}
    decoded(path, data)  # or an error
    for line, content in enumerate(io.BytesIO(data), 1):
        where = f"{os.fspath(path)}, line {line}: expected"
        if not (fields := [field.decode() for field in content.split()]):
            continue
        if len(fields) != len(columns):
            if column == "label" and fields[0].startswith("#"):  # as a query's name may, too
                continue
            raise ValueError(f"{where} the columns {form}, got {len(fields)} columns")
        named = dict(zip(columns, fields, strict=True))
        query, document, text = sys.intern(named["query"]), named["document"], named[column]
        number = float(text) if pattern.fullmatch(text) else math.nan
        if not math.isfinite(number):
            raise ValueError(f"{where} {kind} as {column}, got {quoted(text)}")
        if (first := numbers.setdefault((query, document), number)) != number:
            raise ValueError(
                f"{where} one {column} of document {quoted(document)} of query {quoted(query)}, "
                f"got {number:.15g} after {first:.15g}"
            )
    if not numbers:
        raise ValueError(f"{os.fspath(path)}: expected lines {form}, got none")
    qid, documents = zip(*numbers, strict=True)
    return np.array(list(numbers.values())), list(qid), list(documents)


def _check_documents(
    qid: ArrayLike, documents: Sequence[str], length: int
) -> tuple[list[str], list[str]]:
    """Check queries and names of documents; return both as text."""
    queries = check_names(qid, "qid", length)
    names = check_names(documents, "documents", length)
    pairs = Counter(zip(queries, names, strict=True))
    if len(pairs) < length:
        (query, name), _ = pairs.most_common(1)[0]
        raise ValueError(
            f"documents must have different names within a query, got {name!r} twice in query "
            f"{query}; trec_eval would take them for one."
        )
    return queries, names
