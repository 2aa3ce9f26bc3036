r"""Train rankers between two goals, measure both on queries that are set aside, and print a table.

The first goal is the objective and its measure, the second a measure of another label.

For example:

  gbrank tradeoff train.parquet --labels margin --measure "ndcg@10[margin]" --picture front.png
  gbrank tradeoff train.csv --labels margin --measure "ndcg@10[margin]" --levels 0.9 0.95 0.99 \
      --model my-ranker --choose "0.95 of best"
  gbrank tradeoff train.csv --labels margin --measure "ndcg@10[margin]" --weights 0.2 1 5
"""

import argparse
import sys
from typing import Any

from gbrank.commands.data_files import add_file
from gbrank.commands.outputs import check_html, check_model, check_picture
from gbrank.commands.shared import add, add_plugin, write_picture
from gbrank.commands.splits import add_split, read_split
from gbrank.common.checks import check_choice
from gbrank.evaluation.pareto import LEVELS, Front, pareto, point_names
from gbrank.ranker import GBRanker

USAGE = "gbrank tradeoff FILE --labels COLUMN ... --measure MEASURE [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank tradeoff`."""
    add_file(parser, "features", "categorical", "unjudged")
    add_split(parser, validated=False)
    add(parser, "--labels COLUMN ...", "columns of tables that are other labels", required=True)
    add(parser, "--measure MEASURE", 'the second goal, such as "ndcg@10[margin]"', required=True)
    text = f"shares of its best value to ask for (default: {' '.join(map(str, LEVELS))})"
    add(parser, "--levels X ...", text)
    text = "in place of levels: weights of the second goal's objective"
    add(parser, "--weights X ...", text)
    add(parser, "--objective NAME", "the first goal's objective (default: GBRanker's)")
    text = "the first goal's measure (default: ndcg@10)"
    add(parser, "--metric MEASURE", text, dest="eval_metric")
    add(parser, "--n-estimators N", "rounds of each ranker (default: GBRanker's)")
    add(parser, "--validation-fraction X", "share of the queries that is set aside", default=0.25)
    add(parser, "--random-state N", "seed", default=0)
    text = "rankers that are trained at once (default: one for each processor)"
    add(parser, "--jobs N", text, dest="n_jobs")
    add(parser, "--picture FILE", "draw the trade-off", written=check_picture)
    add(parser, "--html FILE", "write a page with the table and the picture", written=check_html)
    add(parser, "--choose NAME", "the ranker of the table to save")
    add(parser, "--model FOLDER", "where it goes", written=check_model)
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Train the rankers, print the table, and write what was asked for."""
    if (arguments.choose is None) != (arguments.model is None):
        raise ValueError("--choose and --model must be given together, got one of them.")
    if arguments.choose is not None:
        check_choice(arguments.choose, "choose", point_names(arguments.levels, arguments.weights))
    parameters = "objective", "eval_metric", "n_estimators", "random_state"
    given = {name: getattr(arguments, name) for name in parameters}
    ranker = GBRanker(**{name: value for name, value in given.items() if value is not None})
    last = arguments.validation_fraction
    data, folds, _ = read_split(arguments, arguments.file, last, arguments.labels)
    names = "measure", "levels", "weights", "validation_fraction", "n_jobs"
    options: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    options["categorical_feature"] = arguments.categorical_feature
    options |= {"labels": dict(data.labels), "folds": folds, "progress": sys.stderr.isatty()}
    front = pareto(ranker, data.X, data.y, qid=data.qid, **options)
    print(front.to_markdown())
    if arguments.picture is not None:
        write_picture(_figure(front), arguments.picture)
    if arguments.html is not None:
        _write(arguments.html, front)
    if arguments.choose is not None:
        front[arguments.choose].save(arguments.model)


def _figure(front: Front) -> Any:
    from matplotlib.figure import Figure

    from gbrank import plots

    figure = Figure(layout="constrained")
    plots.front(front, ax=figure.subplots())
    return figure


def _write(path: str, front: Front) -> None:
    """Write a page with the picture and the table."""
    from gbrank import plots
    from gbrank.plots.report.blocks import Section, picture
    from gbrank.plots.report.html_page import write_page

    text = "Both goals on the queries that were set aside, with 95% intervals. A line joins the "
    text += "rankers that no other one beats by both."
    shown = picture(lambda ax: plots.front(front, ax=ax), text)
    section = Section("rankers", "Rankers between both goals", [shown, front._table()])
    write_page(path, "Trade-off", "What more of one goal costs the other", [section])
