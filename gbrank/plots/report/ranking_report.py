"""The report: arguments are checked, each section is made, and the page is written."""

from __future__ import annotations  # short signatures in the documentation

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gbrank.common.checks import error_context, quoted
from gbrank.common.files import StrPath, check_folder
from gbrank.common.registry import first_line
from gbrank.common.runtime import import_optional
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import n_rows
from gbrank.data.frames import as_frame
from gbrank.data.lookup import warn_of_repeats
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema, column_of
from gbrank.data.trec import Run, with_retrieved
from gbrank.evaluation.comparing import compared_scores
from gbrank.evaluation.scorable import open_source, scores_from, select_columns
from gbrank.evaluation.statistics import LEVEL
from gbrank.fit.arguments import Ids
from gbrank.fit.estimator import BaseRanker
from gbrank.fit.known_elsewhere import explains_words
from gbrank.measures.judges import with_judge
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.measures.measure_registry import USUAL, Metrics, get_measure, get_measures

from . import page, query_sections, report_data
from .report_data import ReportData


@explains_words
def report(
    ranker: Any,
    X: Any,
    y: ArrayLike,
    *,
    html: StrPath,
    qid: Ids | None = None,
    group: ArrayLike | None = None,
    against: Any = None,
    judge_labels: ArrayLike | None = None,
    train: Any = None,
    by: str | Sequence[str] = (),
    docid: str | None = None,
    metric: Metrics | None = None,
    names: tuple[str, str] = ("this model", "the other model"),
) -> Path:
    """Write a page on a ranker's quality, what it learned, and where it fails.

    The file is one page of HTML, without scripts, that needs no network. It has metrics with 95%
    intervals, the metric by groups of queries and by query, the worst queries with their lists,
    importances, learning curves, the data, parameters and versions; with a second ranker also
    paired tests, and the queries that changed most. Sections without content say so.

    Parameters
    ----------
    ranker : model, str, path or array-like
        A fitted ranker of gbrank, or anything else that `gbrank.evaluation.scores_from` accepts.
    X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
        Data to evaluate on. A data frame may have columns that are not features.
    y : array-like, shape (n_documents,)
        Nonnegative relevance labels; with `judge_labels`, NaN in queries that people did not judge.
    html : path
        The file, which is written atomically.
    qid, group
        The queries, as for `GBRanker.fit`; by default, all rows are one query.
    against : model, str, path or array-like, optional
        The ranker to compare with: any model, its file, a column of X, scores, a TREC run.
    judge_labels : array-like, shape (n_documents,), optional
        Labels by a judge, such as a language model, for all documents. Means and differences are
        then those of `compare_scores`, and a section states the value of the judge; groups and
        lists use people's labels where available, else the judge's.
    train : array-like, sparse matrix or data frame, optional
        The ranker's training data: the page then shows the drift of each feature.
    by : str or sequence of str
        Columns of X, constant within each query, by which queries are grouped. Columns of an array
        are named f0, f1, ...
    docid : str, optional
        The column of X with the names of documents, in TREC runs too; their row by default, from 0.
    metric : str, Measure, callable, or sequence of them, optional
        Groups, worst queries and changes use the first. By default the ranker's `eval_metric`
        except those of named labels, then ndcg@1, ndcg@5, ndcg@10, map and mrr.
    names : tuple of str
        Names of the two rankers.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ImportError
        If Jinja2 is not installed (``pip install 'gbrank[report]'``).
    ValueError, TypeError
        If an argument is invalid; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> from gbrank import GBRanker, make_cubic, report
    >>> X, y, qid = make_cubic(40, n_documents=10, n_features=5, random_state=0)
    >>> ranker = GBRanker(n_estimators=10, n_jobs=1).fit(X[:300], y[:300], qid=qid[:300])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = report(ranker, X[300:], y[300:], qid=qid[300:], html=f"{folder}/report.html")
    ...     path.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    import_optional("jinja2", "report")
    check_folder(html, "html")
    called = _check_names(names)
    chosen = _check_measures(ranker, metric)
    columns = [by] if isinstance(by, str) else list(by)
    documents = None if docid is None else column_of(X, docid, "docid")
    queries = Queries.resolve(n_rows(X), qid, group)
    warn_of_repeats(documents, queries)
    sources: dict[str, Any] = {}
    scores: dict[str, Any] = {}
    for context, name, source in zip(("", "against: "), called, (ranker, against), strict=True):
        if source is not None:
            with error_context(context):
                sources[name] = open_source(source, X)
                scores[name] = scores_from(sources[name], X, qid=queries.qid, docid=documents)
    rankers = [source if hasattr(source, "predict") else None for source in sources.values()]
    table = select_columns(rankers[0], X)
    schema = _schema_of(rankers[0], table, {*columns, docid})
    with error_context("train: "):
        seen = None if train is None else schema.transform(select_columns(rankers[0], train))
    labels = {"y": y} if judge_labels is None else with_judge(y, judge_labels, queries, None)
    rows = Documents.checked(table, queries=queries, **labels)
    runs = {name: source for name, source in sources.items() if isinstance(source, Run)}
    lists, vectors = with_retrieved(rows, documents, scores | runs)
    main = bind_to_rows(chosen[0], lists)
    judged = ReportData(
        rows=rows,
        schema=schema,
        features=schema.transform(table),
        training=seen,
        names=list(map(page.name, sources)),
        rankers=rankers,
        scores=list(scores.values()),
        measures=chosen,
        comparison=compared_scores(chosen, lists, vectors, data="", baseline=list(sources)[-1]),
        values=np.array([main.per_query(vector) for vector in vectors.values()]),
        by={
            column: queries.one_each(column_of(X, column, "by"), f"by: column {column!r}").tolist()
            for column in columns
        },
        documents=range(len(rows.y)) if documents is None else documents.tolist(),
        docid=docid,
    )
    return page.write_page(
        html,
        "report.html",
        judged=judged,
        query_sections=query_sections,
        report_data=report_data,
        level=LEVEL,
        first_line=first_line,
    )


def _check_names(names: object) -> tuple[str, str]:
    match names:
        case [str(first), str(second)] if first != second:
            return first, second
    raise ValueError(f"names must be two different strings, got {quoted(names)}.")


def _check_measures(ranker: Any, metric: Metrics | None) -> list[Measure]:
    if metric is not None:
        return get_measures(metric, "metric")
    of_ranker = ranker._measures() if isinstance(ranker, BaseRanker) else [get_measure("ndcg@10")]
    of_y = (measure for measure in of_ranker if measure.label is None)
    return list({str(measure): measure for measure in (*of_y, *map(get_measure, USUAL))}.values())


def _schema_of(model: Any, table: Any, others: Collection[str | None]) -> Schema:
    """Find the columns that a model sees; of those that do not say, all that are features."""
    if isinstance(model, BaseRanker):
        return model._schema
    if (frame := as_frame(table)) is None:
        return Schema.learn(table)
    return Schema.learn(frame.drop([c for c in frame.columns if c in others]).to_native())
