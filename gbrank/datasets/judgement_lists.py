"""Judgement lists of OpenSearch's workbench and of Elastic's ranking evaluation, and in Parquet."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from gbrank.common.checks import quoted
from gbrank.common.extras import needed
from gbrank.datasets.text_files import StrPath

Judgement: TypeAlias = tuple[str, str, float]  # query, document and label

# What ir_datasets calls the columns of qrels.
PARQUET = {"query": "query_id", "document": "doc_id", "label": "relevance"}
PARQUET_START = b"PAR1"


def listed_judgements(path: StrPath, data: bytes) -> list[Judgement] | None:
    """Return what a list in JSON or Parquet holds; None where the content is neither."""
    if data.startswith(PARQUET_START):
        return list(_of_parquet(path, data))
    if not data.lstrip().startswith(b"{"):
        return None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        if not os.fspath(path).lower().endswith(".json"):
            return None  # a query of TREC's may be called so
        raise ValueError(f"{path}: expected JSON, got {error}") from None
    try:
        for hit in content.get("hits", {}).get("hits", [])[:1]:  # as OpenSearch gives it back
            content = hit["_source"]
        if "judgmentRatings" in content:
            return [
                (str(item["query"]), str(rated["docId"]), float(rated["rating"]))
                for item in content["judgmentRatings"]
                for rated in item["ratings"]
            ]
        return [
            (str(item["id"]), str(rated["_id"]), float(rated["rating"]))
            for item in content["requests"]
            for rated in item["ratings"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path}: expected judgmentRatings, as OpenSearch's workbench imports them, or the "
            f"requests of Elastic's ranking evaluation with their ratings, got {error!r}"
        ) from None


def _of_parquet(path: StrPath, data: bytes) -> Iterator[Judgement]:
    parquet = needed("pyarrow.parquet", "tables")
    try:
        table = parquet.read_table(io.BytesIO(data))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: expected a whole Parquet file, got {error}") from None
    if lacking := [name for name in PARQUET.values() if name not in table.column_names]:
        raise ValueError(
            f"{path}: expected the columns {[*PARQUET.values()]}, got {table.column_names}: it "
            f"lacks {lacking}"
        )
    for row in table.select([*PARQUET.values()]).to_pylist():
        query, document, label = row.values()
        if query is None or document is None or not isinstance(label, int | float):
            raise ValueError(f"{path}: expected a query, a document and a label, got {quoted(row)}")
        yield str(query), str(document), float(label)


def written_judgements(rows: Sequence[Judgement], form: str, index: str) -> bytes:
    """Return a list as a file of the form holds it."""
    if form == "parquet":
        arrow, parquet = needed("pyarrow", "tables"), needed("pyarrow.parquet", "tables")
        columns = zip(*rows, strict=True)
        table = arrow.table(dict(zip(PARQUET.values(), map(list, columns), strict=True)))
        buffer = io.BytesIO()
        parquet.write_table(table, buffer)
        return buffer.getvalue()
    by_query: dict[str, list[dict[str, Any]]] = {}
    for query, document, label in rows:
        rated: dict[str, Any] = {"_index": index, "_id": document, "rating": int(label)}
        if form == "opensearch":
            rated = {"docId": document, "rating": f"{label:.17g}"}
        by_query.setdefault(query, []).append(rated)
    content: dict[str, Any] = {
        "name": index,
        "description": "written by gbrank",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [{"query": q, "ratings": own} for q, own in by_query.items()],
    }
    if form == "elastic":
        content = {"requests": [{"id": q, "ratings": own} for q, own in by_query.items()]}
    return json.dumps(content, indent=1).encode()
