"""The page: arguments are checked, each section is made, and the file is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gbrank.common.argument_error import found_in
from gbrank.common.checks import quoted
from gbrank.common.registry import first_line
from gbrank.data.documents import Documents
from gbrank.data.feature_matrix import Features
from gbrank.data.frames import as_frame
from gbrank.data.lookup import warn_of_repeats
from gbrank.data.queries import Queries
from gbrank.data.schema import Schema
from gbrank.evaluation.scorable import n_rows, opened, own_columns, scores_from
from gbrank.evaluation.statistics import JudgedValues
from gbrank.fit.arguments import Ids
from gbrank.fit.best_feature import best_feature, difference_of
from gbrank.fit.estimator import BaseRanker
from gbrank.measures.judges import both_values, queries_of_people, with_judge
from gbrank.measures.measure import Measure, bind_to_rows
from gbrank.measures.measure_registry import USUAL, Metric, get_measure, get_measures
from gbrank.plots.report import data_sections, judge_section, model_sections, query_sections
from gbrank.plots.report.html_page import (
    NONE,
    SPACE,
    Fact,
    Section,
    check_page,
    name,
    number,
    span,
    write_page,
)
from gbrank.plots.report.report_data import ROW, ReportData, ReportedRanker, column_of

SECTIONS: tuple[Callable[[ReportData], Section | None], ...] = (
    query_sections.measures,
    query_sections.changes,
    judge_section.judge,
    query_sections.segments,
    query_sections.distribution,
    query_sections.worst,
    model_sections.importances,
    model_sections.curves,
    data_sections.data,
    model_sections.parameters,
    model_sections.versions,
)
OF_FIRST = {"worst", "importances", "curves"}  # sections on the first model alone


def report(
    ranker: Any,
    X: Any,
    y: ArrayLike,
    *,
    html: str | os.PathLike[str],
    qid: Ids | None = None,
    group: ArrayLike | None = None,
    against: Any = None,
    judged_by: ArrayLike | None = None,
    train: Any = None,
    by: str | Sequence[str] = (),
    docid: str | None = None,
    measures: Sequence[Metric] | None = None,
    names: tuple[str, str] = ("this model", "the other model"),
) -> Path:
    """Write a page on what a ranker is worth, what it learned, and where it fails.

    The file is one page of HTML, without scripts, that needs no network. It has measures with 95%
    intervals, the measure by groups of queries and from query to query, the worst queries with
    their lists, what features are worth, learning curves, the data, parameters and
    versions; with a second ranker also what changed, by paired tests, and the queries that changed
    most. Sections for which a ranker has nothing say so.

    Parameters
    ----------
    ranker : model, str, path or array-like
        A fitted ranker of gbrank, or whatever else `gbrank.evaluation.scores_from` takes.
    X : array-like, sparse matrix or data frame, shape (n_documents, n_features)
        Data to judge it by. A data frame may have columns that are no features.
    y : array-like, shape (n_documents,)
        Relevance labels, at least 0; with `judged_by`, NaN in queries that people have not judged.
    html : path
        The file. It is written whole or not at all.
    qid, group
        The queries, as for `GBRanker.fit`; with neither, all rows are one query.
    against : model, str, path or array-like, optional
        What to compare it with, likewise: any model, its file, a column of X, scores, a TREC run.
    judged_by : array-like, shape (n_documents,), optional
        Labels by a judge, such as a language model, for all documents. Means and differences are
        then those of `compare_scores`, and a section says what the judge is worth; groups and lists
        have people's labels where there are any, else the judge's.
    train : array-like, sparse matrix or data frame, optional
        What the ranker was trained on: the page then says how far each feature has drifted.
    by : str or sequence of str
        Columns of X, with one value in each query, by which queries are grouped. Those of an array
        are called f0, f1, ...
    docid : str, optional
        The column of X that says what documents are called, in TREC runs too; their row by default,
        from 0.
    measures : sequence of str, Measure or callable, optional
        The first decides: groups, worst queries and changes are by this one. By default the
        ranker's `eval_metric`, but for labels that have a name, then ndcg@1, ndcg@5, ndcg@10, map
        and mrr.
    names : tuple of str
        What the two rankers are called.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ImportError
        If Jinja2 is not installed (``pip install 'gbrank[report]'``).
    ValueError, TypeError
        If an argument is not usable; the message names it.

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
    check_page(html, "html")
    called, chosen = _check_names(names), _check_measures(ranker, measures)
    columns = [by] if isinstance(by, str) else list(by)
    documents = None if docid is None else column_of(X, docid, "docid")
    queries = Queries.resolve(n_rows(X), qid, group)
    warn_of_repeats(documents, queries)
    models = [_scored(called[0], ranker, X, queries, documents)]
    if against is not None:
        with found_in("against: "):
            models.append(_scored(called[1], against, X, queries, documents))
    schema = _schema_of(models[0].ranker, X, {*columns, docid})
    training = None if train is None else _features(models[0].ranker, schema, train, "train")
    labels = {"y": y} if judged_by is None else with_judge(y, judged_by, queries, None)
    rows = Documents.checked(X, queries=queries, **labels)
    by_query = {
        column: queries.one_each(column_of(X, column, "by"), f"by: column {column!r}").tolist()
        for column in columns
    }
    values = {}
    for measure in chosen:
        bound = bind_to_rows(measure, rows)
        values[str(measure)] = np.array([bound.per_query(model.scores) for model in models])
    seen = replace(rows, X=_features(models[0].ranker, schema, X, "X"))
    judged = ReportData(
        X=X,
        schema=schema,
        rows=seen,
        training=training,
        models=models,
        values=values,
        both={} if judged_by is None else _by_both(chosen, rows, models),
        summaries={str(measure): first_line(measure) for measure in chosen},
        by=by_query,
        documents=range(queries.n_documents) if documents is None else documents.tolist(),
        column=docid or ROW,
        best=best_feature(schema, seen, seen, chosen[0]),
    )
    title = " against ".join(model.name for model in models)
    return write_page(html, "Ranking report", title, _sections(judged), _facts(judged))


def _check_names(names: object) -> tuple[str, str]:
    match names:
        case [str(first), str(second)] if first != second:
            return first, second
    raise ValueError(f"names must be two texts that differ, got {quoted(names)}.")


def _check_measures(ranker: Any, asked: Sequence[Metric] | None) -> list[Measure]:
    if asked is not None:
        return get_measures(asked, "measures")
    of_ranker = ranker._measures() if isinstance(ranker, BaseRanker) else [get_measure("ndcg@10")]
    of_y = (measure for measure in of_ranker if measure.label is None)
    return list({str(one): one for one in (*of_y, *map(get_measure, USUAL))}.values())


def _scored(
    called: str, source: Any, X: Any, queries: Queries, documents: NDArray[Any] | None
) -> ReportedRanker:
    """Return what a model is called, the model if it is one, and its scores."""
    model = opened(source, X)
    scores = scores_from(model, X, qid=queries.ids[queries.index], docid=documents)
    return ReportedRanker(name(called), model if hasattr(model, "predict") else None, scores)


def _schema_of(model: Any, X: Any, others: Collection[str | None]) -> Schema:
    """Return the columns that a model sees; of those that do not say, all that are features."""
    if isinstance(model, BaseRanker):
        return model._schema
    columns = X if model is None else own_columns(model, X)
    frame = as_frame(columns, "X")
    if frame is None:
        return Schema.learn(columns)
    return Schema.learn(frame.drop([c for c in frame.columns if c in others]).to_native())


def _features(model: Any, schema: Schema, X: Any, argument: str) -> Features:
    """Return what a model sees of X as numbers."""
    with found_in(f"{argument}: " if argument != "X" else ""):
        return schema.transform(X if model is None else own_columns(model, X))


def _by_both(
    measures: Sequence[Measure], rows: Documents, models: Sequence[ReportedRanker]
) -> dict[str, JudgedValues]:
    """Return the values of queries by people's labels and by the judge's, by measure."""
    both = {}
    for measure in measures:
        values = [both_values(measure, rows, model.scores) for model in models]
        people, judge = map(np.array, zip(*values, strict=True))
        both[str(measure)] = JudgedValues(people, judge, queries_of_people(rows))
    return both


def _sections(judged: ReportData) -> list[Section]:
    """Return the sections that there are; those on one of two models say on which."""
    sections = [section for make in SECTIONS if (section := make(judged)) is not None]
    of = f" ({judged.models[0].name})" if judged.models[1:] else ""
    return [replace(s, title=s.title + of) if s.key in OF_FIRST else s for s in sections]


def _facts(judged: ReportData) -> list[Fact]:
    """Return the numbers at the head of the page."""
    means, queries = judged.compared[judged.measure].means, judged.rows.queries
    facts = [(number(means.mean[0]), judged.measure, _interval(means.low[0], means.high[0]))]
    for other in judged.models[1:]:
        ends = _interval(means.difference_low[0], means.difference_high[0], "+.4f")
        facts.append((number(means.difference[0], "+.4f"), f"against {other.name}", ends))
    if judged.best is not None:
        mean, low, high = difference_of(judged.main[0], judged.best.values)
        feature = f"against {name(judged.best.name)} alone, the best feature here"
        facts.append((number(mean, "+.4f"), feature, _interval(low, high, "+.4f")))
    if judged.both:
        n_people = f"{judged.n_counted(judged.measure):,}"
        facts.append((n_people, "queries judged by people", "others by the judge"))
    without = np.isnan(judged.main[0])
    why = "value" if (judged.n_relevant[without] > 0).any() else "relevant document"
    left_out = f"{without.sum():,} without a {why}" if without.any() else "all with a value"
    length = f"{queries.sizes.mean():.0f} in a query"
    return [
        *facts,
        (f"{queries.n_queries:,}", "queries", left_out),
        (f"{queries.n_documents:,}", "documents", length),
    ]


def _interval(low: float, high: float, form: str = ".4f") -> str:
    ends = span(low, high, form)
    return "no interval" if ends == NONE else f"95% interval {ends.replace(' ', SPACE)}"
