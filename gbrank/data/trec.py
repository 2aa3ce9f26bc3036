"""TREC runs and relevance judgments (qrels), in files and in memory, as ir_measures reads them."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import (
    ArgumentError,
    Positions,
    Vector,
    check_entries,
    check_finite,
    error_context,
    quoted,
    warn_user,
)
from gbrank.common.files import StrPath, is_path

from .documents import Documents
from .frames import as_frame
from .ids import find_matches, is_missing, key_of
from .lookup import document_names
from .queries import Queries
from .text_files import LARGEST_EXACT, check_names, decoded, read_bytes, write_lines

__all__ = ["read_judged_run", "read_qrels", "read_run", "write_qrels", "write_run"]

Lines: TypeAlias = tuple[Vector, list[str], list[str]]
Entry: TypeAlias = tuple[int, str, str, Any]  # line or 0, query, document, number
DocumentKey: TypeAlias = tuple[Any, str]  # its query, and its name
QueryKey: TypeAlias = Callable[[Any], Any]  # equal for ids of one query

JUDGED = "judged"  # the label of documents that have a judgment
FIRST_RANKS = 10
FEW_JUDGED = 0.1  # of the first documents

FEWEST_RANKS = 5  # fewer may contradict scores by accident

# Names in PyTerrier, ir_measures, ranx, BEIR and TREC; PyTerrier's "query" is a text.
QUERIES = ("query_id", "qid", "q_id", "query-id", "topic", "query")
DOCUMENTS = ("doc_id", "docno", "docid", "corpus-id", "document", "doc")
NUMBERS = {"score": ("score",), "label": ("label", "relevance", "rel")}

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,15}")  # which float64 holds exactly


class Form(NamedTuple):
    """The columns of a file, of which one holds a number."""

    columns: str
    number: str
    kind: str
    pattern: re.Pattern[str]


RUN = Form("query Q0 document rank score name", "score", "a finite number", _NUMBER)
QRELS = Form("query iteration document label", "label", "an integer", _INTEGER)


def read_run(run: Any) -> Lines:
    """Read the scores of documents from a run: a TREC file, as `write_run` writes it, or in memory.

    One document a line, ``query Q0 document rank score name``, in any order. The second, fourth
    and last column are not used, as in trec_eval; a warning says where ranks contradict scores in
    most queries. Blank lines are skipped.

    Parameters
    ----------
    run : str, path-like, mapping, data frame or iterable
        A text file in UTF-8, plain or compressed with gzip (detected by its content, not its name);
        ``{query: {document: score}}``; a data frame whose columns have the names of PyTerrier,
        ir_measures, ranx or TREC, such as query_id, doc_id and score; or records of ir_measures.
        Names of queries and documents are read as text.

    Returns
    -------
    scores : ndarray of float64, shape (n_documents,)
    qid, documents : list of str, length n_documents
        The query and the name of each document.

    Raises
    ------
    ValueError
        If the file is not of this form: "path, line: expected ..., got ...", lines counted from
        1; among others, a duplicate document in a query, with two scores.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank.data.trec import read_run, write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run(f"{folder}/run.txt", [0.5, 2.5], ["q1", "q1"], ["d1", "d3"])
    ...     read_run(f"{folder}/run.txt")
    (array([2.5, 0.5]), ['q1', 'q1'], ['d3', 'd1'])
    """
    return _read(run, "run", RUN)


def read_qrels(qrels: Any) -> Lines:
    """Read relevance judgments: a TREC file, as `write_qrels` writes it, or in memory.

    One document a line, ``query iteration document label``, in any order. The second column plays
    no part. Blank lines, and comments, which begin with ``#``, are skipped. Some collections have
    labels below 0, say for spam, which trec_eval counts as 0, and gbrank's measures do not take.

    Parameters
    ----------
    qrels : str, path-like, mapping, data frame or iterable
        As for `read_run`, with labels in place of scores.

    Returns
    -------
    y : ndarray of float64, shape (n_documents,)
        Labels; integers in files.
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
    return _read(qrels, "qrels", QRELS)


def is_in_memory(source: object) -> bool:
    """Recognize {query: {document: number}}, ranx, frames with both columns, and records."""
    if isinstance(source, Mapping):
        return bool(source) and all(isinstance(item, Mapping) for item in source.values())
    if isinstance(source, Iterator) or _is_of_ranx(source):
        return True
    return bool(_name(QUERIES, source) and _name(DOCUMENTS, source))


def _read(source: Any, argument: str, form: Form) -> Lines:
    if is_path(source):
        return parse_lines(source, read_bytes(source), form)
    if isinstance(source, Iterator):
        source = list(source)
    if not is_in_memory(source):
        raise ArgumentError(
            argument,
            f"must be a path, {{query: {{document: {form.number}}}}}, a data frame with columns "
            f"such as query_id, doc_id and {form.number}, or records of ir_measures",
            quoted(source),
        )
    with error_context(f"{argument}: "):
        entries = _entries_of(source, form.number)
    return _collect(argument, entries, form)


def _entries_of(source: Any, column: str) -> list[Entry]:
    """List the query, the document and the score or label of each entry."""
    if _is_of_ranx(source):
        source = source.to_dict()
    if isinstance(source, Mapping):
        entries: Iterable[Any] = (
            (query, document, number)
            for query, numbers in source.items()
            for document, number in numbers.items()
        )
    else:
        frame: Any = as_frame(source, "source")
        # BEIR and ranx call labels scores, too; records of scores are a run.
        numbers = NUMBERS[column] if frame is None else (*NUMBERS[column], "score")
        names = [_name(known, source) for known in (QUERIES, DOCUMENTS, numbers)]
        if not all(names):
            raise ArgumentError(
                column,
                f"must be in a column called {' or '.join(dict.fromkeys(numbers))}",
                quoted(source[:1] if frame is None else frame.columns),
            )
        entries = map(attrgetter(*names), source) if frame is None else frame.select(names).rows()
    return [
        (0, _text(query, "query"), _text(document, "document"), number)
        for query, document, number in entries
    ]


def _is_of_ranx(source: object) -> bool:
    return type(source).__module__.startswith("ranx.")


def _name(names: Iterable[str], source: Any) -> str:
    """Find the first of these names among a frame's columns, or in the first record."""
    if isinstance(source, list | tuple):
        known = dir(source[0]) if source else []
    else:
        known = getattr(as_frame(source, "source"), "columns", [])
    return next(filter(known.__contains__, names), "")


def _text(name: Any, kind: str) -> str:
    """Name a query or a document as a file would; frames have whole numbers as floats."""
    if is_missing(name):
        raise ArgumentError(
            kind,
            "must not be missing",
            quoted(name),
            " pandas reads NA as missing, unless keep_default_na=False.",
        )
    return str(int(name) if isinstance(name, float) and name.is_integer() else name)


def read_judged_run(run: Any, qrels: Any) -> tuple[Vector, Vector, list[str]]:
    """Read a run with relevance judgments, as trec_eval does.

    Documents without judgment have label 0, and so have negative labels. Documents that were
    never retrieved have the score −inf: measures count them in the ideal. Queries that qrels lack
    are left out, with a warning; queries that the run lacks count as queries of which nothing was
    retrieved (trec_eval's option -c), with a warning too.

    Parameters
    ----------
    run, qrels
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
        If one is malformed, no query is in both, or no retrieved document is judged.

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
    documents, scores = judged_run(run, qrels)
    return documents.y, scores, documents.queries.qid.tolist()


def judged_run(run: Any, qrels: Any) -> tuple[Documents, Vector]:
    """Read a run and judgments as documents, which have the label "judged", and their scores."""
    y, qid, names = read_qrels(qrels)
    judged = Documents(None, np.maximum(y, 0.0), Queries.from_qid(qid))
    documents, scores = with_retrieved(judged, names, {"run": Run.read(run)}, str)
    return documents, scores["run"]


class Run(NamedTuple):
    """The scores of a run, each with its query and its document; `path` is what errors call it."""

    path: StrPath
    scores: Vector
    qid: list[str]
    documents: list[str]

    @classmethod
    def read(cls, source: Any, name: str = "run") -> Run:
        """Read a run from a file, or from memory, under this name."""
        return cls(source if is_path(source) else name, *read_run(source))

    def rows(self, docid: Any, queries: Queries) -> list[DocumentKey]:
        """List the number of the query and the name of the document of each row."""
        if docid is None:
            raise ArgumentError(
                "docid",
                f"must name the document of each row, to match it with the run {self.path}",
                "None",
            )
        names = map(str, document_names(docid, queries))
        return list(zip(queries.index.tolist(), names, strict=True))

    def ranks(self, queries: Queries, query_key: QueryKey) -> dict[DocumentKey, float]:
        """Rank the documents of these queries, by their query's number and their name.

        Ranks are from 1 by score in single precision, equal ones by name, the last first.
        """
        topics = Queries.from_qid(self.qid)
        with np.errstate(over="ignore"):
            single = self.scores.astype(np.float32)
        worst_first = np.lexsort((np.array(self.documents), single, topics.index))
        ranks = np.empty(len(self.scores))
        ranks[worst_first] = np.repeat(topics.sizes, topics.sizes) - topics.places
        return self.by_document(queries, query_key, ranks)

    def by_document(
        self, queries: Queries, query_key: QueryKey, values: Vector
    ) -> dict[DocumentKey, float]:
        """Map the number of a query and the name of a document to its value.

        Queries that only the run has are left out, those that only we have lack documents, both
        with a warning.
        """
        ids = queries.id_list
        topics = list(dict.fromkeys(self.qid))
        numbers = dict[str, int]()
        for number, matching in enumerate(find_matches(ids, topics, query_key)):
            if len(matching) > 1:
                raise ArgumentError(
                    "run",
                    f"must have one topic for each query; {self.path} has {len(matching)} for",
                    quoted(str(ids[number])),
                )
            numbers |= {topics[index]: number for index in matching}
        lacking = [ids[number] for number in {*range(len(ids))} - {*numbers.values()}]
        example = quoted(str(min(lacking, key=str, default="")))
        if not numbers:
            first = quoted(topics[0])
            raise ValueError(
                f"{self.path}: no query is judged. Are queries named differently? The run has "
                f"{first}, the judgments have {example}."
            )
        if unjudged := sorted({*topics} - {*numbers}):
            text = f"{len(unjudged)} queries without judgments are left out, such as"
            warn_user(f"{self.path}: {text} {quoted(unjudged[0])}.")
        if lacking:
            text = f"nothing was retrieved for {len(lacking)} of {len(ids)} judged queries, such as"
            warn_user(f"{self.path}: {text} {example}: its documents count as not retrieved.")
        lines = zip(self.qid, self.documents, values.tolist(), strict=True)
        return {(numbers[query], name): value for query, name, value in lines if query in numbers}

    def check_names(
        self, ranks: Mapping[DocumentKey, float], judged: Mapping[DocumentKey, Any]
    ) -> None:
        """Raise if no document of the run is judged; warn if few of the first ones are."""
        if ranks.keys().isdisjoint(judged):
            retrieved = quoted(next(iter(ranks))[1])
            known = quoted(next(iter(judged))[1])
            raise ValueError(
                f"{self.path}: no retrieved document is judged. Are documents named differently? "
                f"The run has {retrieved}, the judgments have {known}."
            )
        first = [row in judged for row, rank in ranks.items() if rank <= FIRST_RANKS]
        share = sum(first) / len(first)
        if share < FEW_JUDGED:
            warn_user(
                f"{self.path}: only {share:.1%} of the first {FIRST_RANKS} documents are judged; "
                "the others count as not relevant. Are documents named differently?"
            )


def with_retrieved(
    documents: Documents, docid: Any, sources: Mapping[str, Any], query_key: QueryKey = key_of
) -> tuple[Documents, dict[str, Vector]]:
    """Add the documents that only runs retrieved, and score all as trec_eval ranks them.

    A document that a run lacks was never retrieved: its score is −inf. Without runs, nothing
    changes; beside them, documents that are judged have the label "judged", and there is no X.
    Queries have the same key: str of ids from files, where "1" and "1.0" differ, as in trec_eval.
    """
    runs = {key: source for key, source in sources.items() if isinstance(source, Run)}
    if not runs:
        return documents, dict(sources)
    queries = documents.queries
    n = queries.n_documents
    rows = next(iter(runs.values())).rows(docid, queries)
    by_run = {key: run.ranks(queries, query_key) for key, run in runs.items()}
    judged = dict.fromkeys(rows)
    for key, run in runs.items():
        run.check_names(by_run[key], judged)
    rows += [row for row in dict.fromkeys(chain(*by_run.values())) if row not in judged]
    index = np.array([query for query, _ in rows])

    def extended(values: Vector, fill: float) -> Vector:
        """Extend a column; it has NaN in queries where it has NaN."""
        filled = np.full(queries.n_queries, fill)
        filled[queries.index[np.isnan(values)]] = np.nan
        return np.append(values, filled[index[n:]])

    labels = {JUDGED: np.ones(n), **documents.labels}
    scores = {
        key: extended(source, -np.inf)
        if key not in runs
        else np.array([-by_run[key].get(row, np.inf) for row in rows])
        for key, source in sources.items()
    }
    documents = Documents(
        None,
        extended(documents.y, 0.0),
        Queries.from_qid(queries.ids[index]),
        labels={name: extended(values, 0.0) for name, values in labels.items()},
    )
    return documents, scores


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
    write_lines(path, run_lines(scores, qid, documents, name))


def run_lines(
    scores: ArrayLike, qid: ArrayLike, documents: Sequence[str], name: str
) -> Iterator[str]:
    """Format the lines of a TREC run."""
    values = check_finite(scores, "scores")
    names, document_names = _check_documents(qid, documents, len(values))
    check_names([name], "name", 1)
    queries = Queries.from_qid(names)
    best_first = np.lexsort((-values, queries.index))
    return (
        f"{names[row]} Q0 {document_names[row]} {rank} {values[row].item()!r} {name}"
        for row, rank in zip(best_first.tolist(), (queries.places + 1).tolist(), strict=True)
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
    labels = check_finite(y, "y")
    wrong = (labels != np.floor(labels)) | (np.abs(labels) > LARGEST_EXACT)
    check_entries(wrong, labels, "y", "must hold integers up to 2**53")
    queries, names = _check_documents(qid, documents, len(labels))
    for query in queries:
        if query.startswith("#"):
            raise ArgumentError("qid", "must not begin with #, as comments do", quoted(query))
    rows = zip(queries, names, labels.tolist(), strict=True)
    write_lines(path, (f"{query} 0 {document} {int(label)}" for query, document, label in rows))


def parse_lines(path: StrPath, data: bytes, form: Form) -> Lines:
    """Parse the bytes of a file of this form."""
    columns = form.columns.split()
    ranks: dict[DocumentKey, str] = {}
    decoded(path, data)  # or an error

    def entries() -> Iterator[Entry]:
        for line, content in enumerate(io.BytesIO(data), 1):
            fields = [field.decode() for field in content.split()]
            if not fields or (form == QRELS and fields[0].startswith("#")):
                continue
            if len(fields) != len(columns):
                owner = {4: ", as qrels have", 6: ", as runs have"}.get(len(fields), "")
                raise ValueError(
                    f"{os.fspath(path)}, line {line}: expected the columns {form.columns}, got "
                    f"{len(fields)} columns{owner}"
                )
            named = dict(zip(columns, fields, strict=True))
            query = sys.intern(named["query"])
            ranks.setdefault((query, named["document"]), named.get("rank", ""))
            yield line, query, named["document"], named[form.number]

    lines = _collect(os.fspath(path), entries(), form)
    if all(map(_INTEGER.fullmatch, ranks.values())):
        _warn_of_ranks(path, lines, np.array([*ranks.values()], np.int64))
    return lines


def _collect(name: str, entries: Iterable[Entry], form: Form) -> Lines:
    """Collect the numbers of documents; duplicates must have the same number."""
    numbers: dict[DocumentKey, float] = {}
    for line, query, document, value in entries:
        wrong = ""
        number = math.nan
        if not isinstance(value, str) or form.pattern.fullmatch(value):
            with suppress(TypeError, ValueError):
                number = float(value)
        if not math.isfinite(number):
            wrong = f"{form.kind} as {form.number}, got {quoted(value)}"
        elif (first := numbers.setdefault((query, document), number)) != number:
            wrong = f"one {form.number}, got {number:.15g} after {first:.15g},"
        if wrong:
            where = f"{name}, line {line}" if line else name
            names = f"document {quoted(document)} of query {quoted(query)}"
            raise ValueError(f"{where}: expected {wrong} for {names}")
    if not numbers:
        raise ValueError(f"{name}: expected at least one document: {form.columns}; got none")
    qid, documents = zip(*numbers, strict=True)
    return np.array([*numbers.values()]), [*qid], [*documents]


def _warn_of_ranks(path: StrPath, lines: Lines, ranks: Positions) -> None:
    """Warn where ranks and scores contradict each other in most queries."""
    scores, qid, _ = lines
    queries = Queries.from_qid(qid)
    contradictory = []
    for query in range(queries.n_queries):
        rows = queries.rows(query)
        by_rank = rows[np.argsort(ranks[rows])]
        steps = np.sign(np.diff(scores[by_rank]))
        if len(steps) and np.diff(ranks[by_rank]).all() and steps.sum() >= 0:
            contradictory.append(query)
    if len(ranks) > FEWEST_RANKS and 2 * len(contradictory) > queries.n_queries:
        warn_user(
            f"{os.fspath(path)}: ranks contradict scores in {len(contradictory)} of "
            f"{queries.n_queries} queries, such as {quoted(str(queries.ids[contradictory[0]]))}. "
            "Scores are used, as in trec_eval. Negate them if they are distances; replace them "
            "with the negated ranks if they are not meaningful."
        )


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
            f"documents must have unique names within a query, got {name!r} twice in query "
            f"{query}; trec_eval would merge them."
        )
    return queries, names
