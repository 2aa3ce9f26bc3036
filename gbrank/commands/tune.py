"""Find the best ranker in some minutes, and write it to a folder.

The first trial is GBRanker with the parameters that are given, and Optuna chooses the others.
Ctrl-C ends the trials; the best ranker so far is saved all the same. With --storage, the same
command goes on where it was stopped, and several may work at once.

For example:

  gbrank tune train.txt --model my-ranker --minutes 10
  gbrank tune train.txt --model my-ranker --valid valid.txt --metric map --storage trials.log
  gbrank tune sorted-by-date.parquet --label grade --qid query --model my-ranker --later
"""

import argparse
from typing import Any

from gbrank.commands.data_files import add_file
from gbrank.commands.outputs import check_model
from gbrank.commands.shared import add, add_plugin
from gbrank.commands.splits import read_parts
from gbrank.commands.train import add_ranker, noted_interrupt, ranker_of
from gbrank.common.argument_error import ArgumentError
from gbrank.common.extras import needed
from gbrank.common.files import check_folder
from gbrank.data.splitting import QueryTimeSeriesSplit
from gbrank.evaluation import tune

USAGE = "gbrank tune FILE --model FOLDER [--minutes X] [options]"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gbrank tune`."""
    add_file(parser, "categorical", "unjudged")
    add(parser, "--model FOLDER", "where the model goes", written=check_model, required=True)
    add(parser, "--minutes X", "no trial begins later", default=10.0)
    add(parser, "--trials N", "largest number of trials", dest="n_trials")
    add(parser, "--folds N", "folds of queries that trials are judged on", default=4)
    add(parser, "--later", "judge on queries that come later in the files than those of training")
    text = "judge on these queries, in place of folds"
    add(parser, "--valid FILE", text)
    text = "Optuna's journal, which keeps the trials: go on from what is there"
    add(parser, "--storage FILE", text, written=check_folder)
    add(parser, "--quiet", "say nothing of the trials")
    add_plugin(parser)
    add_ranker(parser, "init")


def run(arguments: argparse.Namespace) -> None:
    """Tune, save the ranker and say what came out."""
    if arguments.later and arguments.valid:
        raise ArgumentError("later", "must not be given with --valid")
    paths = [arguments.file, *([] if arguments.valid is None else [arguments.valid])]
    data, folds = read_parts(arguments, paths)
    if folds is None:
        folds = QueryTimeSeriesSplit(arguments.folds) if arguments.later else arguments.folds
    names = ("minutes", "n_trials", "categorical_feature")
    options: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    optuna = needed("optuna", "tune")
    if arguments.quiet:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
    if arguments.storage is not None:
        journal = optuna.storages.journal.JournalFileBackend(arguments.storage)
        options["study"] = optuna.create_study(
            storage=optuna.storages.JournalStorage(journal),
            study_name="gbrank",
            direction="maximize",
            load_if_exists=True,
        )
    with noted_interrupt() as interrupted:
        ranker, study = tune(
            data.X, data.y, qid=data.qid, ranker=ranker_of(arguments), folds=folds, **options
        )
    ranker.save(arguments.model)
    for what, trial in (("first", study.trials[0]), ("best", study.best_trial)):
        value = "not judged" if trial.value is None else f"{trial.value:.4f}"
        params = ", ".join(f"{name}={own}" for name, own in trial.params.items())
        print(f"{what} trial: {ranker._measures()[0]} of held-out queries {value}, {params}")
    print(f"model: {arguments.model}")
    if interrupted:
        raise KeyboardInterrupt
