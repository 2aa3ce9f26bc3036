"""Write a page on what a model is worth, what it learned, and where it fails.

It is one file of HTML that needs no network: measures with intervals, the measure by groups of
queries, the worst queries with their lists, what features are worth, learning curves, the data,
parameters. With --against, also what changed from another model, by paired tests, and the queries
that changed most, with both lists side by side. With --train, also how far each feature has drifted
since training.

For example:

  gbrank report test.txt --model my-ranker --html report.html
  gbrank report test.txt --model new --against old --train train.txt --html report.html
  gbrank report test.parquet --model my-ranker --by country device --docid url --html report.html
"""

import argparse
from pathlib import Path
from typing import Any

from gbrank.commands.data_files import add_file, read_labelled
from gbrank.commands.outputs import check_html
from gbrank.commands.shared import add, add_plugin, columns_of, load_any, printable
from gbrank.common.argument_error import ArgumentError
from gbrank.plots.report import report

USAGE = "gbrank report FILE --model PATH --html PATH [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank report`."""
    add_file(parser, "unjudged")
    add(parser, "--model PATH", "folder of a model, or the file of a booster", required=True)
    add(parser, "--html PATH", "where the page goes", written=check_html, required=True)
    text = "what to compare it with: a model's folder or file, a TREC run, or a column of tables"
    add(parser, "--against PATH", text)
    text = (
        "column with labels by a judge, such as a language model; labels of people may be missing"
    )
    add(parser, "--judged-by COLUMN", text)
    add(parser, "--train FILE", "the data that the model was trained on, for drift")
    add(parser, "--by COLUMN ...", "columns, features or not, by which queries are grouped")
    add(
        parser, "--docid COLUMN", "what documents are called in tables (default: their row, from 0)"
    )
    text = "what to measure; the first decides (default: the model's, and those of evaluate)"
    add(parser, "--metric MEASURE ...", text, dest="measures")
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Read models and data, write the page and say where it is."""
    folders = printable(arguments.model), printable(arguments.against or "the other model")
    if len({Path(folder).resolve() for folder in folders}) == 1:
        raise ArgumentError("against", "must be another model than --model", folders[1])
    ranker, against = load_any(arguments.model), arguments.against
    by = arguments.by or []
    other: set[str] = set() if against is None else {against}
    if against is not None and Path(against).exists():
        against = load_any(against)
        other = columns_of(against)
    keep = {*by, arguments.docid, *other} - {None}
    given, labels = arguments.label, []
    people = given or "label"
    if arguments.judged_by is not None:
        if arguments.judged_by == people:
            raise ArgumentError("judged_by", "must be another column than --label", people)
        arguments.label, labels = arguments.judged_by, [people]
    schema = getattr(ranker, "_schema", None)
    data = read_labelled(arguments, arguments.file, schema, labels, keep)
    train = None
    if arguments.train is not None:
        arguments.label, arguments.unjudged = given, "irrelevant"  # drift is of features alone
        train = read_labelled(arguments, arguments.train, schema).X
    first, second = (Path(folder).absolute().name for folder in folders)
    y, judged_by = (data.labels[people], data.y) if labels else (data.y, None)
    options: dict[str, Any] = {"against": against, "judged_by": judged_by, "train": train, "by": by}
    options |= {name: getattr(arguments, name) for name in ("html", "docid", "measures")}
    options["names"] = folders if first == second else (first, second)
    path = report(ranker, data.X, y, qid=data.qid, **options)
    print(f"report: {path}")
