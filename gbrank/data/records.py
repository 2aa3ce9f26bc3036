"""Runs and judgments in memory: nested dicts, data frames, and the records of ir_measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from gbrank.common.checks import quoted
from gbrank.common.errors import ArgumentError
from gbrank.data.frames import as_frame

# Names of columns in PyTerrier, ir_measures, ranx and TREC; PyTerrier's "query" is a text.
QUERIES = ("query_id", "qid", "q_id", "topic", "query")
DOCUMENTS = ("doc_id", "docno", "docid", "document", "doc")
NUMBERS = {"score": ("score",), "label": ("label", "relevance", "rel", "score")}


def is_in_memory(source: object) -> bool:
    """Recognise {query: {document: number}}, ranx, frames with both columns, and records."""
    if _is_of_ranx(source):
        return True
    if isinstance(source, Mapping):
        return bool(source) and all(isinstance(item, Mapping) for item in source.values())
    if isinstance(source, list | tuple):
        return bool(source) and hasattr(source[0], "query_id") and hasattr(source[0], "doc_id")
    if not hasattr(source, "columns") or (frame := as_frame(source, "source")) is None:
        return False
    return bool(_known(frame, QUERIES) and _known(frame, DOCUMENTS))


def entries_of(source: Any, column: str) -> Iterable[tuple[str, str, float]]:
    """List the query, the document and the score or label of each entry."""
    if _is_of_ranx(source):
        source = source.to_dict()
    if isinstance(source, Mapping):
        entries = [
            (query, document, number)
            for query, numbers in source.items()
            for document, number in numbers.items()
        ]
    elif isinstance(source, list | tuple):
        name = "relevance" if column == "label" else "score"
        entries = [(item.query_id, item.doc_id, getattr(item, name)) for item in source]
    else:
        frame: Any = as_frame(source, "source")
        if not (numbers := _known(frame, NUMBERS[column])):
            demand = f"must have a column {' or '.join(map(repr, NUMBERS[column]))}"
            raise ArgumentError("frame", demand, quoted(frame.columns))
        names = _known(frame, QUERIES)[0], _known(frame, DOCUMENTS)[0], numbers[0]
        entries = frame.select(names).rows()
    return [
        (_text(query, "query"), _text(document, "document"), float(number))
        for query, document, number in entries
    ]


def _is_of_ranx(source: object) -> bool:
    return type(source).__module__.startswith("ranx.")


def _known(frame: Any, names: Iterable[str]) -> list[str]:
    return [name for name in names if name in frame.columns]


def _text(name: Any, kind: str) -> str:
    """Name a query or a document as a file would; frames have whole numbers as floats."""
    if name is None or name != name:
        raise ArgumentError(kind, "must not be missing", quoted(name))
    if isinstance(name, float) and math.isfinite(name) and name == int(name):
        return str(int(name))
    return str(name)
