"""TREC runs as they are: some judged documents are not retrieved, and others not judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gbrank.common.argument_error import ArgumentError
from gbrank.common.arrays import Vector
from gbrank.common.checks import quoted
from gbrank.data.queries import Queries
from gbrank.datasets.text_files import StrPath
from gbrank.datasets.trec import pooled, read_qrels
from gbrank.evaluation.scorable import Run

JUDGED = "judged"  # the label of documents that have a judgement


def read_judgements(qrels: StrPath, judged_by: Any) -> tuple[Vector, Any, Any, Vector | None]:
    """Return y, queries and documents of qrels, and labels of a judge's where these are a path.

    Labels below 0 are 0. People's are NaN in queries that only the judge has.
    """
    people = _labels(qrels)
    judge = {} if judged_by is None else _labels(judged_by)
    queries = {query for query, _ in people}
    if judge and (lacking := sorted(queries - {query for query, _ in judge})):
        demand = f"must hold all queries of {qrels}; it lacks {len(lacking)}"
        raise ArgumentError("judged_by", demand, quoted(lacking[0]))
    rows = list(people | judge)
    y = [people.get(row, 0.0 if row[0] in queries else np.nan) for row in rows]
    labels = np.array([judge.get(row, 0.0) for row in rows]) if judge else None
    return np.array(y), [query for query, _ in rows], [name for _, name in rows], labels


def _labels(qrels: StrPath) -> dict[tuple[str, str], float]:
    """Return the label of each document of a query."""
    labels, qid, docid = read_qrels(qrels)
    return dict(zip(zip(qid, docid, strict=True), np.maximum(labels, 0).tolist(), strict=True))


def add_retrieved(
    queries: Queries, runs: Mapping[int, Run], docid: Any
) -> tuple[Queries, Callable[..., Vector], dict[int, Vector]]:
    """Add rows, behind the others, for documents that only runs have.

    Returns all queries; a function that makes a column as long, by NaN in queries where it has NaN,
    else by 0 or another number; and the scores of the runs, minus the ranks that trec_eval gives.
    """
    names = next(iter(runs.values())).document_names(docid, queries)
    documents = list(zip(queries.index.tolist(), map(str, names), strict=True))
    every, scores = pooled(documents, [run.retrieved(queries) for run in runs.values()])
    extra = np.array([query for query, _ in every[len(documents) :]], np.int64)

    def extended(column: Any, fill: float = 0.0) -> Vector:
        values, filled = np.asarray(column, np.float64), np.full(queries.n_queries, fill)
        filled[queries.index[np.isnan(values)]] = np.nan
        return np.append(values, filled[extra])

    all_queries = Queries.from_qid(queries.ids[np.append(queries.index, extra)])
    return all_queries, extended, dict(zip(runs, scores, strict=True))
