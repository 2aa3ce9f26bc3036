r"""Train every ranker on every fold of every data set, and compare them on the test queries.

It prints means and differences from the baseline (the first ranker), with 95% bootstrap intervals
over queries, the standard deviation over seeds, p-values of the paired randomisation test and t
test, corrected by Holm (which intervals are not), and the CPU seconds of a fit. Rankers train until
validation queries show no gain by the first measure. Several data sets are also pooled, each with
the same weight.

A ranker may also be judged as it is: the folder or file of a model, a TREC run (with --docid), or a
column of tables, which is then no feature. With --time, the queries of a table are divided in order
of this column: each fold tests on later queries than it trains on. With --valid
and --test there is one fold, of files.

A ranker that is trained is an objective of gbrank's ("lambda:ndcg+pointwise"), "lightgbm" or
"xgboost" with its own defaults, or an objective of CatBoost's ("catboost:YetiRank"). A data folder
holds S1.txt, S2.txt, ..., or Fold1, Fold2, ... with train.txt, vali.txt and test.txt, as LETOR's
do; the queries of a single file are divided into five folds.

With --results, the same command goes on where it was stopped.

For example:

  gbrank compare --seeds 1 --n-estimators 100
  gbrank compare --data mq2008 ohsumed --rankers lambda:ndcg lightgbm \
      --measures ndcg@10 map --results results --json comparison.json --picture comparison.png
  gbrank compare --data data.parquet --label grade --qid query --drop url
  gbrank compare --learning-rate 0.1 --seconds-picture seconds.png
  gbrank compare --rankers lambda:ndcg catboost:YetiRank catboost:StochasticRank:metric=NDCG
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
from gbrank.commands.parameters import add_parameters, given_parameters, parameters_of
from gbrank.commands.shared import add, add_plugin, import_plugins, printable, write_picture
from gbrank.commands.splits import add_split, read_split
from gbrank.commands.table_files import is_table, read_table
from gbrank.common.argument_error import ArgumentError
from gbrank.common.checks import refuse_twice, unknown_name
from gbrank.common.files import check_folder, replace_file
from gbrank.datasets import make_cubic
from gbrank.evaluation import Comparison, Dataset, compare_rankers, ranker_from_name, read_folds
from gbrank.objectives.objective_registry import DEFAULT_OBJECTIVE

USAGE = "gbrank compare [--data PATH [PATH ...]] [--rankers NAME [NAME ...]] [options]"

RANKERS = (DEFAULT_OBJECTIVE, "lightgbm", "xgboost")
MEASURES = ("ndcg@10",)
CUBIC_QUERIES = 200

BUDGET = parameters_of(ranker_from_name, "name", "eval_metric")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank compare`."""
    text = "folders with folds, or files, of which folds are made"
    add(parser, "--data PATH ...", f"{text} (default: {CUBIC_QUERIES} artificial queries)")
    add(parser, "--rankers NAME ...", f"what to compare (default: {' '.join(RANKERS)})")
    add(parser, "--measures MEASURE ...", f"what to measure (default: {' '.join(MEASURES)})")
    add(parser, "--seeds N", "repetitions of each fit", default=5)
    add(parser, "--baseline NAME", "what to compare with (default: the first ranker)")
    add(parser, "--results FOLDER", "keep what is done in this folder", written=True)
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
    add_parameters(parser, "budget of every ranker", ranker_from_name, BUDGET)


def run(arguments: argparse.Namespace) -> None:
    """Compare rankers, print a table, and write JSON and a picture."""
    names = arguments.rankers or list(RANKERS)
    measures = arguments.measures or list(MEASURES)
    budget = given_parameters(arguments, BUDGET) | {"eval_metric": measures[0]}
    refuse_twice("--rankers", names)
    datasets, given = _read_all(arguments, names)
    rankers: dict[str, Any] = {
        name: given[name] if name in given else ranker_from_name(name, **budget) for name in names
    }
    handed = "seeds", "baseline", "results", "n_jobs"
    options: dict[str, Any] = {name: getattr(arguments, name) for name in handed}
    options |= {"measures": measures, "progress": sys.stderr.isatty()}
    plugins = {"initializer": import_plugins, "initargs": (arguments.plugin,)}
    with joblib.parallel_config(backend="loky", **plugins):
        comparison = compare_rankers(rankers, datasets, **options)
    print(comparison.table())
    if arguments.json is not None:
        text = json.dumps(comparison.to_json(), indent=1, allow_nan=False)
        replace_file(Path(arguments.json), text.encode())
    _draw(arguments, comparison)


def _draw(arguments: argparse.Namespace, comparison: Comparison) -> None:
    if arguments.picture is None and arguments.seconds_picture is None:
        return
    from gbrank.plots import comparison_grid, quality_by_seconds  # imports Matplotlib

    if arguments.picture is not None:
        write_picture(comparison_grid(comparison), arguments.picture)
    if arguments.seconds_picture is not None:
        write_picture(quality_by_seconds(comparison), arguments.seconds_picture)


def _read_all(
    arguments: argparse.Namespace, names: Sequence[str]
) -> tuple[list[Dataset], dict[str, Any]]:
    """Return the data sets, and the rankers that are judged as they are: columns and files."""
    paths = arguments.data or []
    given: dict[str, Any] = {name: name for name in names if Path(name).exists()}
    if not paths:
        return [Dataset("cubic", *make_cubic(CUBIC_QUERIES, random_state=0))], given
    one = len(paths) == 1 and not Path(paths[0]).is_dir()
    if not one and (arguments.test or arguments.time is not None):
        raise ArgumentError("data", "must be one file with --test or --time", f"{paths}")
    known = [*read_table(paths[0])] if one and is_table(paths[0]) else []
    columns = [name for name in names if name in known and name not in given]
    datasets = [_read(arguments, path, columns, given) for path in paths]
    return datasets, given


def _read(
    arguments: argparse.Namespace, path: str, columns: Sequence[str], given: dict[str, Any]
) -> Dataset:
    """Return a data set; add to the given rankers those that are its columns."""
    if Path(path).is_dir():
        return read_folds(path)
    taken = [*columns, *([] if arguments.docid is None else [arguments.docid])]
    data, folds, others = read_split(arguments, path, taken=taken)
    given.update((name, others[name]) for name in columns)
    X = data.X
    for name in arguments.categorical_feature or ():  # LightGBM and XGBoost know them by the type
        if name not in X:
            raise unknown_name("column (categorical_feature)", name, [*X])
        X = X.assign(**{name: X[name].astype("string").astype("category")})
    docid = others.get(arguments.docid)
    name = printable(Path(path).name)
    return Dataset(name, X, data.y, data.qid, 5 if folds is None else folds, docid=docid)
