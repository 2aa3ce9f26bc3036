"""TREC runs as they are: some judged documents are not retrieved, and others not judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, eq=False)
class Rows:
    """Labels of documents, and scores of them; −inf is never retrieved."""

    queries: Queries
    y: Any
    judged_by: Any
    labels: Mapping[str, Any] | None
    scores: Sequence[Vector]


def read_judgements(qrels: StrPath, judged_by: Any) -> dict[str, Any]:
    """Return the columns of qrels, and those of a judge's where these are a path.

    Labels below 0 are 0. People's are NaN in queries that only the judge has.
    """
    y, qid, docid = read_qrels(qrels)
    y = np.maximum(y, 0)
    if judged_by is None:
        return {"y": y, "qid": qid, "docid": docid, "judged_by": None}
    labels, judge_qid, judge_docid = read_qrels(judged_by)
    if lacking := sorted(set(qid) - set(judge_qid)):
        demand = f"must hold all queries of {qrels}; it lacks {len(lacking)}"
        raise ArgumentError("judged_by", demand, quoted(lacking[0]))
    people = dict(zip(zip(qid, docid, strict=True), y, strict=True))
    judge = dict(zip(zip(judge_qid, judge_docid, strict=True), np.maximum(labels, 0), strict=True))
    rows, queries = list(people | judge), set(qid)
    return {
        "y": np.array([people.get(row, 0.0 if row[0] in queries else np.nan) for row in rows]),
        "qid": [query for query, _ in rows],
        "docid": [name for _, name in rows],
        "judged_by": np.array([judge.get(row, 0.0) for row in rows]),
    }


def add_retrieved(rows: Rows, runs: Mapping[int, Run], docid: Any) -> Rows:
    """Add rows for documents that only runs have, of label 0, and put in the runs' scores.

    `runs` are by their place among the scores. Ranks are as trec_eval has them.
    """
    queries, n = rows.queries, rows.queries.n_documents
    for run in runs.values():
        names = run.document_names(docid, queries)
    documents = list(zip(queries.index.tolist(), map(str, names), strict=True))
    every, values = pooled(documents, [run.retrieved(queries) for run in runs.values()])
    extra = np.array([query for query, _ in every[n:]], np.int64)
    scores = [np.append(vector, np.full(len(extra), -np.inf)) for vector in rows.scores]
    for place, vector in zip(runs, values, strict=True):
        scores[place] = vector
    y = np.asarray(rows.y, np.float64)
    unjudged = np.zeros(queries.n_queries)
    unjudged[queries.index[np.isnan(y)]] = np.nan  # by people
    nothing = np.zeros(len(extra))
    labels = {name: np.append(label, nothing) for name, label in (rows.labels or {}).items()}
    return Rows(
        Queries.from_qid(queries.ids[np.append(queries.index, extra)]),
        np.append(y, unjudged[extra]),
        None if rows.judged_by is None else np.append(rows.judged_by, nothing),
        {JUDGED: np.append(np.ones(n), nothing)} | labels,
        scores,
    )
