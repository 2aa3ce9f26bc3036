r"""Train every ranker on every fold of every data set, and compare them on the test queries.

It prints means and differences from the baseline (the first ranker), with 95% bootstrap intervals
over queries, the standard deviation over seeds, p-values of the paired randomisation test and t
test, corrected by Holm (which intervals are not), and the CPU seconds of a fit.

A ranker is an objective, for GBRanker with it, or "lightgbm", "xgboost" or "catboost", for their
rankers, all with default parameters. It may also be judged as it is: the folder or file of a model,
a TREC run (with --docid), or a column of tables, which is then no feature.

The queries of a file are divided into five folds. With --time, those of a table are divided in
order of this column: each fold tests on later queries than it trains on. With --valid and --test
there is one fold, of files.

For example:

  gbrank compare --seeds 1
  gbrank compare --data data.parquet --label grade --qid query --drop url --measures ndcg@10 map \
      --rankers lambda:ndcg lightgbm xgboost catboost --json compared.json --picture compared.png
  gbrank compare --rankers ranknet listmle --seconds-picture seconds.png
  gbrank compare --rankers lambda:ndcg mine --plugin mine.py
  gbrank compare --data log.parquet --time day --rankers lambda:ndcg live_score model.txt
  gbrank compare --data train.txt --valid valid.txt --test test.txt
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import joblib

from gbrank.commands.data_files import add_table_options
from gbrank.commands.outputs import check_picture
from gbrank.commands.shared import add, add_plugin, import_plugins, printable, write_picture
from gbrank.commands.splits import add_split, read_split
from gbrank.commands.table_files import is_table, read_table
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import refuse_twice, unknown_name
from gbrank.common.files import check_folder, replace_file
from gbrank.datasets import make_cubic
from gbrank.evaluation import Comparison, Dataset, compare_rankers
from gbrank.evaluation.comparison import PARTS
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE

USAGE = "gbrank compare [--data FILE [FILE ...]] [--rankers NAME [NAME ...]] [options]"

RANKERS = (DEFAULT_OBJECTIVE, "lightgbm", "xgboost")
MEASURES = ("ndcg@10",)
CUBIC_QUERIES = 200
HANDED = "seeds", "baseline", "n_jobs"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank compare`."""
    text = f"data sets, one a file (default: {CUBIC_QUERIES} artificial queries)"
    add(parser, "--data FILE ...", text)
    add(parser, "--rankers NAME ...", f"what to compare (default: {' '.join(RANKERS)})")
    add(parser, "--measures MEASURE ...", f"what to measure (default: {' '.join(MEASURES)})")
    add(parser, "--seeds N", "repetitions of each fit", default=5)
    add(parser, "--baseline NAME", "what to compare with (default: the first ranker)")
    add(parser, "--json FILE", "write the numbers to this file", written=check_folder)
    add(parser, "--picture FILE", "draw the numbers to this file", written=check_picture)
    text = "draw the measures against CPU seconds"
    add(parser, "--seconds-picture FILE", text, written=check_picture)
    add(parser, "--jobs N", "processes (default: all)", dest="n_jobs")
    add_table_options(parser, "features", "categorical", "unjudged")
    add_split(parser, validated=True)
    text = "column with the names of documents, for TREC runs among the rankers"
    add(parser, "--docid COLUMN", text)
    add_plugin(parser)


def run(arguments: argparse.Namespace) -> None:
    """Compare rankers, print a table, and write JSON and a picture."""
    names = arguments.rankers or list(RANKERS)
    refuse_twice("--rankers", names)
    datasets, columns = _read_all(arguments, names)
    rankers = {name: columns.get(name, name) for name in names}
    options: dict[str, Any] = {name: getattr(arguments, name) for name in HANDED}
    options |= {"measures": arguments.measures or MEASURES, "progress": sys.stderr.isatty()}
    plugins = {"initializer": import_plugins, "initargs": (arguments.plugin,)}
    with joblib.parallel_config(backend="loky", **plugins):
        comparisons = compare_rankers(rankers, datasets, **options)
    print("\n\n".join(comparison.table() for comparison in comparisons))
    if arguments.json is not None:
        contents = [comparison.to_json() for comparison in comparisons]
        for part in PARTS:
            contents[0][part] = [row for content in contents for row in content[part]]
        text = json.dumps(contents[0], indent=1, allow_nan=False)
        replace_file(Path(arguments.json), text.encode())
    _draw(arguments, comparisons)


def _draw(arguments: argparse.Namespace, comparisons: Sequence[Comparison]) -> None:
    if arguments.picture is None and arguments.seconds_picture is None:
        return
    from gbrank.plots import comparison_grid, quality_by_seconds  # imports Matplotlib

    if arguments.picture is not None:
        write_picture(comparison_grid(*comparisons), arguments.picture)
    if arguments.seconds_picture is not None:
        write_picture(quality_by_seconds(*comparisons), arguments.seconds_picture)


def _read_all(
    arguments: argparse.Namespace, names: Sequence[str]
) -> tuple[list[Dataset], dict[str, Any]]:
    """Return the data sets, and the columns that are rankers."""
    paths = arguments.data or []
    if not paths:
        return [Dataset("cubic", *make_cubic(CUBIC_QUERIES, random_state=0))], {}
    if len(paths) > 1 and (arguments.test or arguments.time is not None):
        raise ArgumentError("data", "must be one file with --test or --time", f"{paths}")
    known = [*read_table(paths[0])] if len(paths) == 1 and is_table(paths[0]) else []
    columns = [name for name in names if name in known and not Path(name).exists()]
    found: dict[str, Any] = {}
    return [_read(arguments, path, columns, found) for path in paths], found


def _read(
    arguments: argparse.Namespace, path: str, columns: Sequence[str], found: dict[str, Any]
) -> Dataset:
    """Return a data set; add the columns that are rankers to those found."""
    taken = [*columns, *([] if arguments.docid is None else [arguments.docid])]
    data, folds, others = read_split(arguments, path, taken=taken)
    found.update((name, others[name]) for name in columns)
    X = data.X
    for name in arguments.categorical_feature or ():  # LightGBM and XGBoost know them by the type
        if name not in X:
            raise unknown_name("column (categorical_feature)", name, [*X])
        X = X.assign(**{name: X[name].astype("string").astype("category")})
    docid = others.get(arguments.docid)
    name = printable(Path(path).name)
    return Dataset(name, X, data.y, data.qid, 5 if folds is None else folds, docid=docid)
