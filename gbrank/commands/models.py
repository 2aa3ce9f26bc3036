"""Models from a shell: loaded, described, explained, reported on, and exported."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from importlib.metadata import version
from json import dumps, loads
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from gbrank.common.checks import ArgumentError, as_json
from gbrank.common.table import cell_text

from .data_files import ColumnName, Labelled
from .options import File, FileOrFolder, NewFile, printable

Document: TypeAlias = Annotated[str, "DOCUMENT"]

LARGEST = 10  # features that are printed
# Of a fit: its rounds, and what it has chosen where it is not set.
CHOSEN = {
    "rounds": "best_iteration_",
    "learning_rate": "learning_rate_",
    "colsample": "colsample_",
    "extra_trees": "extra_trees_",
}


def load(path: str) -> Any:
    """Load a model of any library from its folder or file."""
    if Path(path).is_file():
        from gbrank.evaluation.scorable import open_source  # needs all boosters

        return open_source(path)
    from gbrank.ranker import load_ranker

    return load_ranker(path)


def load_trees(path: str) -> Any:
    """Load the GBRanker in a folder, or make one of the booster in a file."""
    from gbrank.ranker import GBRanker, opened_ranker

    ranker = opened_ranker(path)
    if not isinstance(ranker, GBRanker):
        kind = type(ranker).__name__
        raise ArgumentError("model", "must hold a GBRanker or a booster", f"a {kind} in {path}")
    return ranker


def print_json(content: dict[str, Any]) -> None:
    """Print JSON, with null for NaN."""
    print(dumps(as_json(content), indent=1))


def info(*, model: FileOrFolder, json: bool = False) -> None:
    """Print a model's booster, rounds, data, parameters, metrics and features of largest gain.

    It says which gbrank trained the model, when it was saved, and the versions that read it now.
    The learning rate is the one that was used; metrics are those on the validation data. Features
    are called as in `gbrank export`: by their column's name; f3 is the feature that a LETOR file
    writes as 3:, or, if the model was trained on an array in Python, the column X[:, 3].

    Parameters
    ----------
    model : path
        Folder of a model, or the file of a booster, of which there is no more than its trees.
    json : bool
        Print JSON, with all features.

    Examples
    --------
    gbrank info --model my-ranker
    gbrank info --model my-ranker --json
    """
    from gbrank.boosters import BOOSTERS
    from gbrank.fit.storage import FILE, read_saved

    ranker = load_trees(model)
    path = Path(model)
    saved: dict[str, Any] = {"booster": ranker.booster, "params": {}}
    chosen: dict[str, str] = {}
    if path.is_dir():
        path /= FILE
        saved = read_saved(model)
        chosen = CHOSEN
    curves = ranker.evals_result_.get("valid_0", {})
    facts: dict[str, Any] = {
        **{name: saved[name] for name in ("gbrank", "format", "booster") if name in saved},
        **{name: getattr(ranker, attribute) for name, attribute in chosen.items()},
        "saved": f"{date.fromtimestamp(path.stat().st_mtime)}",
        "versions": {"numpy": version("numpy"), ranker.booster: BOOSTERS[ranker.booster].version},
        "features": ranker._schema.n_features,
        "data": ranker.training_data_,
        "validation": dict.fromkeys(list(curves)[:1], ranker.best_score_),
    }
    shares = zip(ranker._schema.feature_names, ranker.feature_importances_, strict=True)
    importances = sorted(shares, key=lambda item: -item[1])
    if json:
        print_json({**facts, "parameters": saved["params"], "importances": importances})
        return
    sizes = facts.pop("data")
    form = "{documents:,} documents in {queries:,} queries"
    _print("model", {name: _text(value) for name, value in facts.items()})
    _print("data", {name: form.format(**numbers) for name, numbers in sizes.items()})
    _print("parameters", saved["params"])
    largest = {name: f"{share:.4f}" for name, share in importances[:LARGEST]}
    _print(f"share of the gain, {len(largest)} of {len(importances)} features", largest)


def _print(title: str, rows: dict[str, Any]) -> None:
    if rows:
        print(title)
    width = max(map(len, rows), default=0)
    for name, value in rows.items():
        print(f"  {name:<{width}}  {value}")


def _text(value: Any) -> str:
    """Format a fact; several ones as a list, each with its value."""
    if not isinstance(value, dict):
        return cell_text(value)
    numbers = (f"{part:.4f}" if isinstance(part, float) else part for part in value.values())
    return ", ".join(map("{} {}".format, value, numbers)) or "none"


def explain(
    file: File,
    *,
    model: FileOrFolder,
    query: Annotated[str, "QUERY"],
    document: Document | None = None,
    pair: tuple[Document, Document] | None = None,
    html: NewFile | None = None,
    reader: Labelled,
) -> None:
    """Explain why a document of a query is ranked high or low, or why one is above another.

    The table has a row for each feature, the largest share first: its value, and what it adds to
    the score, beside the mean of the query's documents; or, with --pair, its values in both
    documents, and what it adds to the gap of their scores. The shares sum to the gap.

    Documents are given by their ranks, from 1, or with --docid by their names.

    Parameters
    ----------
    file : path
        LETOR file, table (.parquet, .csv, .tsv) or folder of tables.
    model : path
        Folder of a model, or the file of a booster.
    query : str
        Id of the query in the data.
    document : str
        Document whose rank is explained.
    pair : tuple of str
        Documents of which the first is above the second.
    html : path
        Write a page with the table and a picture instead of printing.
    reader : Reader
        Data.

    Examples
    --------
    gbrank explain test.txt --model my-ranker --query 18219 --document 1
    gbrank explain test.txt --model my-ranker --query 18219 --pair 1 4
    gbrank explain test.parquet --model my-ranker --query shoes --docid sku --pair A17 B3
    gbrank explain test.parquet --model my-ranker --query shoes --document 1 --html shoes.html
    """
    from gbrank import plots  # imports Matplotlib
    from gbrank.data.schema import column_of
    from gbrank.plots.report import page

    if (document is None) == (pair is None):
        raise ArgumentError("document", "or --pair must be given, and only one of them")
    ranker = load_trees(model)
    data, _ = reader.read(file, ranker._schema)
    names = None if reader.docid is None else column_of(data.X, reader.docid, "docid")
    documents: Sequence[Any] = pair or [document]
    if names is None:
        documents = [int(text) if text.isdecimal() else text for text in documents]
    explain = ranker.explain_document if pair is None else ranker.explain_pair
    why = explain(data.X, *documents, qid=data.queries.qid, query=query, docid=names)
    if html is None:
        print(why, why.in_words(), why.to_markdown(), sep="\n\n")
        return
    page.write_page(
        html,
        "explanation.html",
        query=query,
        why=why,
        # The caption says what a title would.
        picture=page.picture(lambda ax: plots.explanation(why, ax=ax).set(title="", xlabel="")),
        table=why._table(),
    )


def report(
    file: File,
    *,
    model: FileOrFolder,
    html: NewFile,
    against: FileOrFolder | None = None,
    judge_labels: ColumnName | None = None,
    train: File | None = None,
    by: Sequence[ColumnName] = (),
    metric: Sequence[Annotated[str, "METRIC"]] | None = None,
    reader: Labelled,
) -> None:
    """Write a page on what a model is worth, what it learned, and where it fails.

    It is one file of HTML that needs no network: metrics with intervals, the metric by groups of
    queries, the worst queries with their lists, what features are worth, learning curves, the data,
    parameters. With --against, also what changed from another model, by paired tests, and the
    queries that changed most, with both lists side by side. With --train, also how far each feature
    has drifted since training.

    Parameters
    ----------
    file : path
        LETOR file, table (.parquet, .csv, .tsv) or folder of tables.
    model : path
        Folder of a model, or the file of a booster.
    html : path
        File to write.
    against : path
        Another model, a TREC run, or a column of tables.
    judge_labels : str
        Column with labels by a judge; labels of people may be missing.
    train : path
        Data that the model was trained on, for drift.
    by : sequence of str
        Columns, features or not, by which queries are grouped.
    metric : sequence of str
        Measures, of which the first decides; by default the model's.
    reader : Reader
        Data.

    Examples
    --------
    gbrank report test.txt --model my-ranker --html report.html
    gbrank report test.txt --model new --against old --train train.txt --html report.html
    gbrank report test.parquet --model my-ranker --by country device --docid url --html report.html
    """
    from gbrank.plots.report import report as write_report  # imports Matplotlib

    if against is not None and Path(against).resolve() == Path(model).resolve():
        raise ArgumentError("against", "must be another model than --model", against)
    people = reader.label
    ranker = load(model)
    schema = getattr(ranker, "_schema", None)
    judge = reader if judge_labels is None else replace(reader, label=judge_labels, labels=[people])
    data, _ = judge.read(file, schema)
    training = None
    if train is not None:  # drift is of features alone
        training = replace(reader, unjudged="irrelevant", docid=None).read(train, schema)[0].X
    path = write_report(
        ranker,
        data.X,
        data.y if judge_labels is None else data.labels[people],
        html=html,
        qid=data.queries.qid,
        against=against,
        judge_labels=None if judge_labels is None else data.y,
        train=training,
        by=by,
        docid=reader.docid,
        metric=metric,
        names=(printable(model), printable(against or "the other model")),
    )
    print(f"report: {path}")


def export(
    *,
    model: FileOrFolder,
    format: Annotated[str, "FORMAT"],
    output: NewFile,
    features: File | None = None,
    extractors: File | None = None,
    missing_as_zero: bool = False,
    verify: bool = True,
) -> None:
    """Write a model to one file, from which others give the same scores.

    The formats of trees are elasticsearch (its own learning to rank, 8.13 and later), opensearch
    (model/xgboost+json, for the LTR plugins of OpenSearch and Elasticsearch), solr, vespa-lightgbm
    and onnx; those of linear rankers opensearch (model/linear), solr and vespa. Some may say the
    version of the engine, as opensearch:3.5. What the format cannot express is refused. The file is
    read again, as `verify_export` does, before it appears.

    Parameters
    ----------
    model : path
        Folder of a model, or the file of a booster.
    format : str
        One of those above.
    output : path
        File to write.
    features : path
        Names of the features in the engine, one a line.
    extractors : path
        JSON with Elasticsearch's feature_extractors of the model.
    missing_as_zero : bool
        Send missing values where zeros go: trained without missing ones.
    verify : bool
        Do not read the file again.

    Examples
    --------
    gbrank export --model my-ranker --format opensearch --features names.txt --output model.json
    gbrank export --model my-ranker --format opensearch:3.5 --output model.json
    gbrank export --model my-ranker --format onnx --output model.onnx
    gbrank export --model lightgbm.txt --format solr --features names.txt --output model.json
    """
    from gbrank.data.text_files import read_bytes, read_lines
    from gbrank.export import export_model

    content = None
    if extractors is not None:
        try:
            content = loads(read_bytes(extractors))
        except ValueError as error:
            raise ArgumentError("extractors", "must be JSON", f"{extractors}: {error}") from None
    export_model(
        model,
        output,
        format,
        feature_names=None if features is None else read_lines(features),
        missing_as_zero=missing_as_zero,
        extractors=content,
        verify=verify,
    )


def list_registered(kind: Literal["objectives", "metrics"] | None = None) -> None:
    """Print every registered objective and metric, one a line.

    Parameters
    ----------
    kind : {"objectives", "metrics"}
        List these only.

    Examples
    --------
    gbrank list
    gbrank list metrics --plugin mine.py
    """
    from gbrank.measures.measure_registry import list_measures
    from gbrank.objectives.objective_registry import list_objectives

    for title, registered in (("objectives", list_objectives), ("metrics", list_measures)):
        if kind in (None, title):
            _print(title, {item.usage: item.summary for item in registered()})
