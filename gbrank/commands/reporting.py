"""Reasons of ranks, and reports, from a shell."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from gbrank.commands.data_files import ColumnName, LabelledFiles
from gbrank.commands.models import load, load_trees
from gbrank.commands.paths import File, FileOrFolder, Folder, NewFile, printable
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import unknown_name
from gbrank.data.ids import as_list

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gbrank.fit.explanations import Explanation

Document: TypeAlias = Annotated[str, "DOCUMENT"]


def explain(
    file: File,
    *,
    model: Folder,
    query: Annotated[str, "QUERY"],
    document: Document | None = None,
    pair: tuple[Document, Document] | None = None,
    docid: ColumnName | None = None,
    html: NewFile | None = None,
    reader: LabelledFiles,
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
        Folder of a model.
    query : str
        Id of the query in the data.
    document : str
        Document whose rank is explained.
    pair : tuple of str
        Documents of which the first is above the second.
    docid : str
        Column with the names of documents.
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
    from gbrank.plots.report.report_data import column_of  # imports Matplotlib

    if (document is None) == (pair is None):
        raise ArgumentError("document", "or --pair must be given, and only one of them")
    ranker = load_trees(model)
    data, _ = reader.read(file, ranker._schema, docid=docid)
    qid = data.arguments()["qid"]
    queries = {str(query): query for query in dict.fromkeys(as_list(qid))}
    if query not in queries:
        raise unknown_name("query", query, queries)
    names = None if docid is None else column_of(data.X, docid, "docid")
    documents: list[Any] = [document] if pair is None else list(pair)
    if docid is None:
        documents = [int(text) if text.isdecimal() else text for text in documents]
    explain = ranker.explain_document if pair is None else ranker.explain_pair
    try:
        reasons = explain(data.X, *documents, qid=qid, query=queries[query], docid=names)
    except ArgumentError as error:  # of one of both
        option = "document" if pair is None else "pair"
        raise ArgumentError(option, error.demand, error.got) from None
    if html is None:
        print(reasons, reasons.in_words(), reasons.to_markdown(), sep="\n\n")
    else:
        _write(html, reasons, f"Query {query}")


def _write(path: str, why: "Explanation", title: str) -> None:
    """Write a page with the picture and the table."""
    from gbrank import plots
    from gbrank.plots.report.html_page import Block, Section, picture, write_page

    def draw(ax: "Axes") -> None:
        plots.explanation(why, ax=ax).set_xlabel("")  # the caption says it
        ax.set_title("")

    caption = "What features add to the gap: to the right, in favour of the first document."
    if why.second is None:
        caption = "What features add to the score, beside the mean of the list."
    table = why._table()
    words = tuple(range(len(table.head) - 1))
    blocks: list[Block] = [why.in_words(), picture(draw, caption), replace(table, words=words)]
    write_page(path, "Why this order", title, [Section("reasons", str(why), blocks)])


def report(
    file: File,
    *,
    model: FileOrFolder,
    html: NewFile,
    against: FileOrFolder | None = None,
    judged_by: ColumnName | None = None,
    train: File | None = None,
    by: Sequence[ColumnName] = (),
    docid: ColumnName | None = None,
    metric: Sequence[Annotated[str, "MEASURE"]] | None = None,
    reader: LabelledFiles,
) -> None:
    """Write a page on what a model is worth, what it learned, and where it fails.

    It is one file of HTML that needs no network: measures with intervals, the measure by groups of
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
    judged_by : str
        Column with labels by a judge; labels of people may be missing.
    train : path
        Data that the model was trained on, for drift.
    by : sequence of str
        Columns, features or not, by which queries are grouped.
    docid : str
        Column with the names of documents; by default their row.
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

    paths = printable(model), printable(against or "the other model")
    if len({Path(path).resolve() for path in paths}) == 1:
        raise ArgumentError("against", "must be another model than --model", paths[1])
    people = reader.label
    if judged_by == people:
        raise ArgumentError("judged_by", "must be another column than --label", people)
    ranker = load(model)
    other = load(against) if against is not None and Path(against).exists() else against
    schema = getattr(ranker, "_schema", None)
    judge = reader if judged_by is None else replace(reader, label=judged_by)
    labels = [] if judged_by is None else [people]
    data, _ = judge.read(file, schema, labels=labels, docid=docid)
    training = None
    if train is not None:  # drift is of features alone
        training = replace(reader, unjudged="irrelevant").read(train, schema)[0].X
    first, second = (Path(path).absolute().name for path in paths)
    path = write_report(
        ranker,
        data.X,
        data.y if judged_by is None else data.labels[people],
        html=html,
        qid=data.arguments()["qid"],
        against=other,
        judged_by=None if judged_by is None else data.y,
        train=training,
        by=by,
        docid=docid,
        measures=metric,
        names=paths if first == second else (first, second),
    )
    print(f"report: {path}")
