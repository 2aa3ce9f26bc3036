"""Runs and judgments in memory: nested dicts, data frames, and the records of ir_measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

from gbrank.common.checks import ArgumentError, quoted

from .frames import as_frame
from .ids import is_missing

# Names in PyTerrier, ir_measures, ranx, BEIR and TREC; PyTerrier's "query" is a text.
QUERIES = ("query_id", "qid", "q_id", "query-id", "topic", "query")
DOCUMENTS = ("doc_id", "docno", "docid", "corpus-id", "document", "doc")
NUMBERS = {"score": ("score",), "label": ("label", "relevance", "rel")}


def is_in_memory(source: object) -> bool:
    """Recognize {query: {document: number}}, ranx, frames with both columns, and records."""
    if isinstance(source, Mapping):
        return bool(source) and all(isinstance(item, Mapping) for item in source.values())
    if isinstance(source, Iterator) or _is_of_ranx(source):
        return True
    return bool(_name(QUERIES, source) and _name(DOCUMENTS, source))


def entries_of(source: Any, column: str) -> Iterable[tuple[str, str, Any]]:
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
            demand = f"must be in a column called {' or '.join(dict.fromkeys(numbers))}"
            got = source[:1] if frame is None else frame.columns
            raise ArgumentError(column, demand, quoted(got))
        entries = map(attrgetter(*names), source) if frame is None else frame.select(names).rows()
    return [
        (_text(query, "query"), _text(document, "document"), number)
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
        hint = " pandas reads NA as missing, unless keep_default_na=False."
        raise ArgumentError(kind, "must not be missing", quoted(name), hint)
    return str(int(name) if isinstance(name, float) and name.is_integer() else name)
