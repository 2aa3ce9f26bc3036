"""Find the best ranker in some minutes, and write it to a folder.

The first trial is GBRanker with the parameters that are given, Optuna chooses the others, and the
best are averaged. Ctrl-C ends the trials; the best so far are saved all the same. With --results,
the same command goes on where it was stopped.

For example:

  gbrank tune train.txt --model my-ranker --minutes 10
  gbrank tune train.txt --model my-ranker --valid valid.txt --metric map --results trials
  gbrank tune sorted-by-date.parquet --label grade --qid query --model my-ranker --later
  gbrank tune train.txt --model my-ranker --single --n-estimators 300 --keep n_estimators
"""

import argparse
import sys
from typing import Any

from gbrank.commands.data_files import add_file
from gbrank.commands.outputs import check_model
from gbrank.commands.shared import add, add_plugin
from gbrank.commands.splits import read_parts
from gbrank.commands.train import add_ranker, noted_interrupt, ranker_of
from gbrank.common.argument_error import ArgumentError
from gbrank.data.splitting import QueryTimeSeriesSplit
from gbrank.evaluation.search_space import TUNED
from gbrank.evaluation.tuning import UNTUNED, Tuned, finished, tune

USAGE = "gbrank tune FILE --model FOLDER [--minutes X] [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank tune`."""
    add_file(parser, "categorical", "unjudged")
    add(parser, "--model FOLDER", "where the model goes", written=check_model, required=True)
    add(parser, "--minutes X", "how long it may take", default=10.0)
    add(parser, "--trials N", "largest number of trials", dest="n_trials")
    add(parser, "--folds N", "folds of queries that trials are judged on", default=4)
    add(parser, "--later", "judge on queries that come later in the files than those of training")
    text = "judge on these queries, in place of folds"
    add(parser, "--valid FILE", text)
    add(parser, "--single", "the best ranker alone, in place of a mean: faster to predict")
    text = f"what is not to be tuned: {', '.join(TUNED)}"
    add(parser, "--keep NAME ...", text, default=[])
    text = "keep the trials here, and go on from what is there"
    add(parser, "--results FOLDER", text, written=True)
    add(parser, "--quiet", "show no progress bar")
    add_plugin(parser)
    add_ranker(parser, *UNTUNED)


def run(arguments: argparse.Namespace) -> None:
    """Tune, save the ranker and say what came out."""
    if arguments.later and arguments.valid:
        raise ArgumentError("later", "must not be given with --valid")
    paths = [arguments.file, *([] if arguments.valid is None else [arguments.valid])]
    data, folds = read_parts(arguments, paths)
    if folds is None:
        folds = QueryTimeSeriesSplit(arguments.folds) if arguments.later else arguments.folds
    names = ("minutes", "n_trials", "keep", "results", "categorical_feature")
    options: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    options |= {"folds": folds, "average": not arguments.single}
    options["progress"] = sys.stderr.isatty() and not arguments.quiet
    with noted_interrupt() as interrupted:
        tuned = tune(data.X, data.y, qid=data.qid, ranker=ranker_of(arguments), **options)
    tuned.ranker.save(arguments.model)
    _report(tuned)
    print(f"model: {arguments.model}")
    if interrupted:
        raise KeyboardInterrupt


def _report(tuned: Tuned) -> None:
    values = ", ".join(f"{name} {value:.4f}" for name, value in tuned.values.items())
    print(f"{tuned.measure} of held-out queries: {values}")
    print(tuned._table().to_text())
    n_trials, n_members = len(finished(tuned.study, "COMPLETE", "PRUNED")), len(tuned.members)
    kept = "the best is kept" if n_members == 1 else f"the mean of {n_members} is kept"
    print(f"{n_trials} trials: {kept}")
