"""TREC runs and relevance judgements (qrels): what trec_eval and ir_measures read."""

from __future__ import annotations

import io
import math
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.arrays import Vector
from gbrank.common.checks import check_finite, check_vector, quoted, refuse_where
from gbrank.data.queries import Queries
from gbrank.datasets.text_files import EXACT_INTEGERS, StrPath, check_names, read_bytes, written

Judged: TypeAlias = tuple[Vector, list[str], list[str]]

NO_RUNS = {  # what files of other kinds hold
    rb"## |\s*<": "a model of RankLib, or other XML",
    rb"(?s)\s*\{.*org\.apache\.solr": "a model of Solr (JSON)",
    rb"(?s)\s*\{.*\"trained_model\"": "a model of Elasticsearch (JSON)",
    rb"(?s)\s*\{.*\"tree_info\"": "LightGBM's JSON, as Vespa reads it",
    rb"(?s)\s*\[.*\"nodeid\"": "XGBoost's dump of trees (JSON), as OpenSearch reads it",
    rb"(?s)\{.*\blearner\b": "a model of XGBoost",
    rb"tree\r?\n": "a model of LightGBM",
    rb"CBM1": "a model of CatBoost",
    rb"\s*[\[{]": "JSON",
    rb"\x08[\x01-\x20]": "a binary file, as ONNX",
    rb"\x80[\x02-\x05]": "a pickle",
}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,15}")  # which float64 holds exactly


def read_run(path: StrPath) -> Judged:
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
        1; among others, if a document is there twice in a query.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank.datasets import read_run, write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_run(f"{folder}/run.txt", [0.5, 2.5], ["q1", "q1"], ["d1", "d3"])
    ...     read_run(f"{folder}/run.txt")
    (array([2.5, 0.5]), ['q1', 'q1'], ['d3', 'd1'])
    """
    return parse_run(path, read_bytes(path))


def parse_run(path: StrPath, content: bytes) -> Judged:
    """Return what a TREC run holds, given its bytes."""
    form = "query Q0 document rank score name"
    try:
        return _parse(path, content, form, "score", "a finite number", _NUMBER)
    except ValueError:
        for pattern, kind in NO_RUNS.items():
            if re.match(pattern, content):
                raise ValueError(
                    f"{path}: expected a TREC run, got {kind}. gbrank scores by models that "
                    "gbrank, LightGBM, XGBoost or CatBoost saved; of others, give the scores: a "
                    "TREC run, or one score per row."
                ) from None
        raise


def read_qrels(path: StrPath) -> Judged:
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
    >>> from gbrank.datasets import read_qrels, write_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_qrels(f"{folder}/qrels.txt", [0, 2], ["q1", "q1"], ["d1", "d3"])
    ...     read_qrels(f"{folder}/qrels.txt")
    (array([0., 2.]), ['q1', 'q1'], ['d1', 'd3'])
    """
    form = "query iteration document label"
    return _parse(path, read_bytes(path), form, "label", "an integer", _INTEGER)


def read_judged_run(run: StrPath, qrels: StrPath) -> tuple[Vector, Vector, list[str]]:
    """Read a TREC run with the labels that a qrels file gives its documents.

    Documents without judgement have label 0, as in trec_eval, and so have negative labels.

    Parameters
    ----------
    run, qrels : str or path-like
        As for `read_run` and `read_qrels`.

    Returns
    -------
    y, scores : ndarray of float64, shape (n_documents,)
        In the order of the run.
    qid : list of str, length n_documents

    Raises
    ------
    ValueError
        If a file is malformed; if a query is in one file only; or if the run lacks a document of
        a label above 0. (trec_eval counts it as never found. gbrank's measures are of rankings
        of all documents.)

    Examples
    --------
    >>> import tempfile
    >>> from gbrank import NDCG
    >>> from gbrank.datasets import read_judged_run, write_qrels, write_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run, qrels = f"{folder}/run.txt", f"{folder}/qrels.txt"
    ...     write_run(run, [2.5, 0.5], ["q1", "q1"], ["d1", "d3"])
    ...     write_qrels(qrels, [2], ["q1"], ["d3"])
    ...     y, scores, qid = read_judged_run(run, qrels)
    >>> NDCG()(y, scores, qid=qid)
    0.6309...
    """
    scores, qid, documents = read_run(run)
    labels, judged_qid, judged = read_qrels(qrels)
    _check_same_queries(run, set(qid), qrels, set(judged_qid))
    labels = np.maximum(labels, 0.0)
    label_of = dict(zip(zip(judged_qid, judged, strict=True), labels.tolist(), strict=True))
    y = np.array([label_of.pop(item, 0.0) for item in zip(qid, documents, strict=True)])
    missing = [item for item, label in label_of.items() if label > 0]
    if missing:
        query, document = missing[0]
        raise ValueError(
            f"{os.fspath(run)}: expected every relevant document of {os.fspath(qrels)}, got a run "
            f"without document {quoted(document)} of query {quoted(query)} "
            f"({len(missing)} are missing)"
        )
    return y, scores, qid


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
    >>> from gbrank.datasets import write_run
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
    """Return the lines of a TREC run."""
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
    >>> from gbrank.datasets import write_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "qrels.txt")
    ...     write_qrels(path, [0, 2], ["q1", "q1"], ["d1", "d3"])
    ...     print(path.read_text(), end="")
    q1 0 d1 0
    q1 0 d3 2
    """
    labels = check_finite(check_vector(y, "y"), "y")
    wrong = (labels != np.floor(labels)) | (np.abs(labels) > EXACT_INTEGERS)
    refuse_where(wrong, labels, "y", "must hold integers up to 2**53")
    rows = zip(*_check_documents(qid, documents, len(labels)), labels.tolist(), strict=True)
    with written(path) as file:
        lines = (f"{query} 0 {document} {int(label)}\n" for query, document, label in rows)
        file.writelines(map(str.encode, lines))


def _parse(
    path: StrPath, data: bytes, form: str, column: str, kind: str, pattern: re.Pattern[str]
) -> Judged:
    """Read lines of this form, with a number of this pattern in one column."""
    columns = form.split()
    numbers, lines = array("d"), array("q")
    qid: list[str] = []
    documents: list[str] = []
    for line, content in enumerate(io.BytesIO(data), 1):
        where = f"{os.fspath(path)}, line {line}: expected"
        try:
            fields = [field.decode() for field in content.split()]
        except UnicodeDecodeError:
            raise ValueError(f"{where} text in UTF-8, got {_shown(content)}") from None
        if b"\0" in content:
            raise ValueError(f"{where} text without NUL bytes, got {_shown(content)}")
        if not fields or (fields[0].startswith("#") and _is_comment(form, fields)):
            continue
        if len(fields) != len(columns):
            raise ValueError(f"{where} the columns {form}, got {len(fields)} columns")
        named = dict(zip(columns, fields, strict=True))
        text = named[column]
        number = float(text) if pattern.fullmatch(text) else math.nan
        if not math.isfinite(number):
            raise ValueError(f"{where} {kind} as {column}, got {quoted(text)}")
        query = named["query"]
        numbers.append(number)
        lines.append(line)
        qid.append(qid[-1] if qid and qid[-1] == query else query)  # one string for a query's lines
        documents.append(named["document"])
    if not numbers:
        raise ValueError(f"{os.fspath(path)}: expected lines {form}, got none")
    if twice := _repeated(qid, documents):
        first, row = twice
        raise ValueError(
            f"{os.fspath(path)}, line {lines[row]}: expected each document of query "
            f"{quoted(qid[row])} once, got {quoted(documents[row])} again, after line "
            f"{lines[first]}"
        )
    return np.array(numbers), qid, documents


def _is_comment(form: str, fields: list[str]) -> bool:
    """Return whether a line that begins with # is none of qrels, of which a query may do so."""
    return "label" in form and len(fields) != len(form.split())


def _shown(content: bytes) -> str:
    return quoted(content.decode(errors="replace"))


def _repeated(qid: list[str], documents: list[str]) -> tuple[int, int] | None:
    """Return the first two rows of the same query and document, or None."""
    rows: dict[tuple[str, str], int] = {}
    for row, document in enumerate(zip(qid, documents, strict=True)):
        if (first := rows.setdefault(document, row)) != row:
            return first, row
    return None


def _check_same_queries(run: StrPath, in_run: set[str], qrels: StrPath, in_qrels: set[str]) -> None:
    for here, there, only in ((run, qrels, in_run - in_qrels), (qrels, run, in_qrels - in_run)):
        if only:
            raise ValueError(
                f"{os.fspath(here)}: expected the queries of {os.fspath(there)}, got query "
                f"{quoted(min(only))} ({len(only)} are in the one file only)"
            )


def _check_documents(
    qid: ArrayLike, documents: Sequence[str], length: int
) -> tuple[list[str], list[str]]:
    """Return the query and the name of each document as text."""
    queries = check_names(qid, "qid", length)
    names = check_names(documents, "documents", length)
    if twice := _repeated(queries, names):
        raise ValueError(
            f"documents must have different names within a query, got {names[twice[1]]!r} twice in "
            f"query {queries[twice[1]]}; trec_eval would take them for one."
        )
    return queries, names
